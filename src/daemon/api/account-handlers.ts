import type { Accounts, OpenedSession } from '../accounts/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import { leadOn, openingHeaders, toDashboard } from './opened-session.ts'
import type { CallHeaders, Handlers } from './route.ts'
import { type CookieOptions, endedCookie, marksCookie } from './session-cookie.ts'

export interface AccountRoutesOptions extends CookieOptions {
  readonly accounts: Accounts
  readonly sessions: AuthSessions
  readonly baseUrl: string
}

/** Accounts, the sessions of browsers, and the logins that a browser starts (contract section 10). */
export function accountHandlers(options: AccountRoutesOptions) {
  const { accounts, sessions, baseUrl } = options
  return {
    'POST /api/auth/register': async ({ body, headers }) =>
      signedInReply(options, await accounts.register(body, headers.caller), body.next, headers, 201),
    'POST /api/auth/login': async ({ body, headers }) =>
      signedInReply(options, await accounts.signIn(body, headers.caller), body.next, headers, 200),
    'POST /api/logout': async ({ who, headers: { isForm } }) => {
      await accounts.signOut(who)
      const cookie = { 'set-cookie': endedCookie(options) }
      if (isForm) return { status: 303, raw: '', headers: { ...cookie, location: '/' } }
      return { body: { status: 'ok' as const }, headers: cookie }
    },
    'POST /api/session': async ({ who }) => {
      const { token, expiresAt } = await accounts.link(who)
      return { body: { url: `${baseUrl}/api/session/${token}`, expires_at: new Date(expiresAt).toISOString() } }
    },
    'GET /api/me': ({ who: { principalId, role, browser } }) => ({
      body: { principal_id: principalId, role, ...(browser.email !== undefined && { email: browser.email }) },
    }),
    'POST /api/auth/password': async ({ who, body, headers }) => {
      const marks = await accounts.changePassword(who, body, headers.caller)
      return {
        body: { status: 'ok' as const },
        ...(marks && { headers: { 'set-cookie': marksCookie(marks, options) } }),
      }
    },
    'GET /api/accounts': async () => ({ body: { accounts: [...(await accounts.list())] } }),
    'POST /api/admin/reset-password': async ({ body }) => {
      const { email, principalId } = await accounts.resetPassword(body)
      return { body: { status: 'ok' as const, email, principal_id: principalId } }
    },
    'GET /api/browser-sessions': async ({ who }) => ({ body: { sessions: [...(await accounts.sessions(who))] } }),
    'DELETE /api/browser-sessions/{id}': async ({ who, params }) => {
      await accounts.endSession(who, params.id)
      return { body: { status: 'ok' as const } }
    },
    'POST /api/auth/providers/{provider_name}/connect': async ({ who, params, body, headers: { isForm } }) => {
      const session = await sessions.begin(who, { ...body, provider: params.provider_name })
      const { next_action: next } = session
      if (!isForm) return { body: session }
      return { status: 303, raw: '', headers: { location: next.type === 'none' ? '/' : next.url } }
    },
  } satisfies Partial<Handlers>
}

function signedInReply(
  options: AccountRoutesOptions,
  opened: OpenedSession,
  next: string | undefined,
  { isForm }: CallHeaders,
  status: number,
) {
  if (isForm) return next === undefined ? toDashboard(options, opened) : leadOn(options, opened, next)
  const { principalId, role } = opened
  return { status, body: { principal_id: principalId, role }, headers: openingHeaders(options, opened) }
}
