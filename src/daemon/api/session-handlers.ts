import { secretInput } from '../../protocol/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import type { Handlers } from './route.ts'

export function sessionHandlers(sessions: AuthSessions) {
  return {
    'POST /api/auth/sessions': async ({ who, body }) => ({ body: await sessions.begin(who, body) }),
    'POST /api/auth/sessions/check': async ({ who, body: { input, ...wanted } }) => ({
      body: { status: 'ok' as const, warnings: [...(await sessions.check(who, wanted, secretInput(input)))] },
    }),
    'GET /api/auth/sessions/{session_id}': async ({ who, params }) => ({
      body: await sessions.get(who, params.session_id),
    }),
    'POST /api/auth/sessions/{session_id}/resume': async ({ who, params, body }) => ({
      body: await sessions.resume(who, params.session_id, secretInput(body.input)),
    }),
    'DELETE /api/auth/sessions/{session_id}': async ({ who, params }) => ({
      body: await sessions.cancel(who, params.session_id),
    }),
  } satisfies Partial<Handlers>
}
