import type { OpenedSession } from '../accounts/index.ts'
import type { RawReply } from './route.ts'
import { type CookieOptions, marksCookie, sessionCookie } from './session-cookie.ts'

/** The token travels behind the `#`, which browsers send nowhere; the dashboard takes it from there. */
export function toDashboard(options: CookieOptions, opened: OpenedSession): RawReply {
  return leadOn(options, opened, `/#csrf=${opened.csrfToken}`)
}

export function leadOn(options: CookieOptions, opened: OpenedSession, location: string): RawReply {
  return { status: 303, raw: '', headers: { location, ...openingHeaders(options, opened) } }
}

/** The token is told with a sign-in and never again: a cookie that another port of this machine got to see is worth little. */
export function openingHeaders(options: CookieOptions, { token, expiresAt, csrfToken, marks }: OpenedSession) {
  const session = sessionCookie(token, expiresAt, options)
  return { 'set-cookie': marks ? [session, marksCookie(marks, options)] : session, 'x-csrf-token': csrfToken }
}
