import * as z from 'zod'
import { BrokerError, secretInput } from '../../protocol/index.ts'
import {
  authSession,
  checkAuthSession,
  checkedAuthSession,
  resumeAuthSession,
  startAuthSession,
} from '../../schemas/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import { type Route, route } from './route.ts'

const byId = z.strictObject({ session_id: z.string().regex(/^[A-Za-z0-9_-]{16,64}$/) })

/** @param clientMetadata what a hosted daemon is as an OAuth client, for servers that look it up under our own URL */
export function sessionRoutes(
  sessions: AuthSessions,
  clientMetadata: Readonly<Record<string, unknown>> | undefined,
): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/auth/sessions',
      access: 'principal',
      summary: 'Begins a login. What to do next is in `next_action`.',
      body: startAuthSession,
      reply: authSession,
      status: 201,
      handle: async ({ who, body }) => ({ body: await sessions.begin(who, body) }),
    }),
    route({
      method: 'POST',
      path: '/api/auth/sessions/check',
      access: 'principal',
      summary: 'Decides on a key as a login with it would: nobody is asked, nothing is kept.',
      body: checkAuthSession,
      reply: checkedAuthSession,
      handle: async ({ who, body: { input, ...wanted } }) => ({
        body: { status: 'ok' as const, warnings: [...(await sessions.check(who, wanted, secretInput(input)))] },
      }),
    }),
    route({
      method: 'GET',
      path: '/api/auth/sessions/{session_id}',
      access: 'principal',
      summary: 'How far a login is.',
      params: byId,
      reply: authSession,
      handle: async ({ who, params }) => ({ body: await sessions.get(who, params.session_id) }),
    }),
    route({
      method: 'POST',
      path: '/api/auth/sessions/{session_id}/resume',
      access: 'principal',
      summary:
        'Sends the values that the login asks for, or as `callback_url` the address that a browser elsewhere ended at; without any, answers how far an OAuth login is.',
      params: byId,
      body: resumeAuthSession,
      reply: authSession,
      handle: async ({ who, params, body }) => ({
        body: await sessions.resume(who, params.session_id, secretInput(body.input)),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/api/auth/sessions/{session_id}',
      access: 'principal',
      summary: 'Cancels a login: nothing of it is stored. One that is over stays as it is.',
      params: byId,
      reply: authSession,
      handle: async ({ who, params }) => ({ body: await sessions.cancel(who, params.session_id) }),
    }),
    route({
      method: 'GET',
      path: '/oauth/client-metadata.json',
      access: 'anyone',
      summary:
        'This daemon as an OAuth client: its URL is the client id at servers that take one. Hosted daemons only.',
      reply: z.record(z.string(), z.unknown()),
      handle: () => {
        if (clientMetadata) return { body: { ...clientMetadata } }
        throw new BrokerError('NotFoundError', 'Providers cannot reach this daemon: it has no public URL')
      },
    }),
  ]
}
