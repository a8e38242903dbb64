import * as z from 'zod'
import { authSession, resumeAuthSession, startAuthSession } from '../../schemas/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import { type Route, route } from './route.ts'

const byId = z.strictObject({ session_id: z.string().regex(/^[A-Za-z0-9_-]{16,64}$/) })

export function sessionRoutes(sessions: AuthSessions): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/auth/sessions',
      access: 'agent',
      summary: 'Begins a login. What to do next is in `next_action`.',
      body: startAuthSession,
      reply: authSession,
      status: 201,
      handle: async ({ who, body }) => ({ body: await sessions.begin(who, body) }),
    }),
    route({
      method: 'GET',
      path: '/api/auth/sessions/{session_id}',
      access: 'agent',
      summary: 'How far a login is.',
      params: byId,
      reply: authSession,
      handle: ({ who, params }) => ({ body: sessions.get(who, params.session_id) }),
    }),
    route({
      method: 'POST',
      path: '/api/auth/sessions/{session_id}/resume',
      access: 'agent',
      summary: 'Sends the values that the login asks for.',
      params: byId,
      body: resumeAuthSession,
      reply: authSession,
      handle: async ({ who, params, body }) => ({ body: await sessions.resume(who, params.session_id, body.input) }),
    }),
  ]
}
