import * as z from 'zod'
import { BrokerError } from '../../protocol/index.ts'
import {
  accountList,
  authSession,
  browserSessions,
  changePassword,
  dashboardLink,
  me,
  ok,
  passwordReset,
  providerName,
  resetPassword,
  signedIn,
  signIn,
  signUp,
  startAuthSession,
} from '../../schemas/index.ts'
import type { Accounts, OpenedSession } from '../accounts/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import { resultPage, sessionPage } from '../pages/index.ts'
import { page } from './page-reply.ts'
import { type CallHeaders, type RawReply, type Route, route } from './route.ts'
import { type CookieOptions, endedCookie, marksCookie, sessionCookie } from './session-cookie.ts'

export interface AccountRoutesOptions extends CookieOptions {
  readonly accounts: Accounts
  readonly sessions: AuthSessions
  readonly baseUrl: string
}

const byLink = z.strictObject({ token: z.string().max(100) })
const bySession = z.strictObject({ id: z.uuid() })
const byProvider = z.strictObject({ provider_name: providerName })
const connect = startAuthSession.omit({ provider: true, source: true })

/** Accounts, the sessions of browsers, and the logins that a browser starts (contract section 10). */
export function accountRoutes(options: AccountRoutesOptions): readonly Route[] {
  const { accounts, sessions, baseUrl } = options
  return [
    route({
      method: 'POST',
      path: '/api/auth/register',
      access: 'anyone',
      summary: 'Makes an account, and signs the browser in. The first account is an admin.',
      body: signUp,
      takesForm: true,
      perSource: 'registrations',
      reply: signedIn,
      status: 201,
      handle: async ({ body, headers }) =>
        signedInReply(options, await accounts.register(body, headers.caller), body.next, headers, 201),
    }),
    route({
      method: 'POST',
      path: '/api/auth/login',
      access: 'anyone',
      summary: 'Signs the browser in: a session cookie, and the CSRF token for what changes anything.',
      body: signIn,
      takesForm: true,
      reply: signedIn,
      handle: async ({ body, headers }) =>
        signedInReply(options, await accounts.signIn(body, headers.caller), body.next, headers, 200),
    }),
    route({
      method: 'POST',
      path: '/api/logout',
      access: 'browser',
      summary: 'Ends the session of this browser.',
      takesForm: true,
      reply: ok,
      handle: async ({ who, headers: { isForm } }) => {
        await accounts.signOut(who)
        const cookie = { 'set-cookie': endedCookie(options) }
        if (isForm) return { status: 303, raw: '', headers: { ...cookie, location: '/' } }
        return { body: { status: 'ok' as const }, headers: cookie }
      },
    }),
    route({
      method: 'POST',
      path: '/api/session',
      access: 'agent',
      summary: "A link that signs the caller's browser in: good once, for 60 seconds.",
      reply: dashboardLink,
      handle: async ({ who }) => {
        const { token, expiresAt } = await accounts.link(who)
        return { body: { url: `${baseUrl}/api/session/${token}`, expires_at: new Date(expiresAt).toISOString() } }
      },
    }),
    route({
      method: 'GET',
      path: '/api/session/{token}',
      access: 'anyone',
      isPage: true,
      isReturn: true,
      actsOnGet: true,
      perSource: 'pages',
      summary:
        'Where that link leads: sets the session cookie and goes on to the dashboard. From another site, it asks first.',
      params: byLink,
      reply: z.unknown(),
      handle: ({ params: { token }, headers }) =>
        headers.isFromElsewhere ? page(200, sessionPage(`/api/session/${token}`)) : openLink(options, token, headers),
    }),
    route({
      method: 'POST',
      path: '/api/session/{token}',
      access: 'anyone',
      isPage: true,
      perSource: 'pages',
      summary: 'The same, by the button of the page that asked.',
      params: byLink,
      takesForm: true,
      reply: z.unknown(),
      handle: ({ params: { token }, headers }) => openLink(options, token, headers),
    }),
    route({
      method: 'GET',
      path: '/api/me',
      access: 'browser',
      summary: 'Who is signed in by this browser; with `csrf=check` refused where the CSRF token is not its own.',
      query: z.strictObject({ csrf: z.literal('check').optional() }),
      wantsCsrf: ({ csrf }) => csrf === 'check',
      reply: me,
      handle: ({ who: { principalId, role, browser } }) => ({
        body: { principal_id: principalId, role, ...(browser.email !== undefined && { email: browser.email }) },
      }),
    }),
    route({
      method: 'POST',
      path: '/api/auth/password',
      access: 'browser',
      summary: "Changes the account's password; its other sessions end.",
      body: changePassword,
      reply: ok,
      handle: async ({ who, body, headers }) => {
        const marks = await accounts.changePassword(who, body, headers.caller)
        return {
          body: { status: 'ok' as const },
          ...(marks && { headers: { 'set-cookie': marksCookie(marks, options) } }),
        }
      },
    }),
    route({
      method: 'GET',
      path: '/api/accounts',
      access: 'admin',
      summary: 'The accounts of the deployment, and the principal of each; for admins.',
      reply: accountList,
      handle: async () => ({ body: { accounts: [...(await accounts.list())] } }),
    }),
    route({
      method: 'POST',
      path: '/api/admin/reset-password',
      access: 'operator',
      summary: 'Gives an account another password; its sessions, links and known browsers end.',
      body: resetPassword,
      reply: passwordReset,
      handle: async ({ body }) => {
        const { email, principalId } = await accounts.resetPassword(body)
        return { body: { status: 'ok' as const, email, principal_id: principalId } }
      },
    }),
    route({
      method: 'GET',
      path: '/api/browser-sessions',
      access: 'principal',
      summary: 'The browsers that are signed in for the caller.',
      reply: browserSessions,
      handle: async ({ who }) => ({ body: { sessions: [...(await accounts.sessions(who))] } }),
    }),
    route({
      method: 'DELETE',
      path: '/api/browser-sessions/{id}',
      access: 'principal',
      summary: 'Signs one of them out.',
      params: bySession,
      reply: ok,
      handle: async ({ who, params }) => {
        await accounts.endSession(who, params.id)
        return { body: { status: 'ok' as const } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/auth/providers/{provider_name}/connect',
      access: 'browser',
      summary: 'Begins a login from the dashboard; a form is led on to what the login needs.',
      params: byProvider,
      body: connect,
      takesForm: true,
      reply: authSession,
      status: 201,
      handle: async ({ who, params, body, headers: { isForm } }) => {
        const session = await sessions.begin(who, { ...body, provider: params.provider_name })
        const { next_action: next } = session
        if (!isForm) return { body: session }
        return { status: 303, raw: '', headers: { location: next.type === 'none' ? '/' : next.url } }
      },
    }),
  ]
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

async function openLink(options: AccountRoutesOptions, token: string, headers: CallHeaders): Promise<RawReply> {
  const opened = await options.accounts.openLink(token, headers.caller)
  return opened ? toDashboard(options, opened) : usedLink(headers.wantsHtml)
}

/** The token travels behind the `#`, which browsers send nowhere; the dashboard takes it from there. */
function toDashboard(options: AccountRoutesOptions, opened: OpenedSession): RawReply {
  return leadOn(options, opened, `/#csrf=${opened.csrfToken}`)
}

function leadOn(options: AccountRoutesOptions, opened: OpenedSession, location: string): RawReply {
  return { status: 303, raw: '', headers: { location, ...openingHeaders(options, opened) } }
}

/** The token is told with a sign-in and never again: a cookie that another port of this machine got to see is worth little. */
function openingHeaders(options: AccountRoutesOptions, { token, expiresAt, csrfToken, marks }: OpenedSession) {
  const session = sessionCookie(token, expiresAt, options)
  return { 'set-cookie': marks ? [session, marksCookie(marks, options)] : session, 'x-csrf-token': csrfToken }
}

function usedLink(wantsHtml: boolean): RawReply {
  const [message, hint] = ['This link was used, or is older than a minute', 'Run `broker dashboard` for a new one.']
  if (!wantsHtml) throw new BrokerError('NotFoundError', message, { hint })
  return page(404, resultPage({ title: 'This link is over', message, hint, tone: 'failure' }))
}
