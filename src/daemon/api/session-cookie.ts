import type { IncomingMessage } from 'node:http'
import { Secret } from '../../protocol/index.ts'
import type { Marks } from '../accounts/index.ts'

const TOKEN = /^[A-Za-z0-9_-]{43}$/

export interface CookieOptions {
  /** Whether browsers come here by https. */
  readonly isSecure: boolean
}

/**
 * The browser's session, where it sends one that can be ours. Of two that differ neither: one of them was set by a server
 * on another port or a neighbouring host, and which cannot be told.
 */
export function sessionTokenOf(request: IncomingMessage, options: CookieOptions): Secret | undefined {
  const [token, other] = new Set(cookiesOf(request, SESSION, options).filter((value) => TOKEN.test(value)))
  return token === undefined || other !== undefined ? undefined : new Secret(token)
}

/** Returns what the browser keeps of sign-ins before. It proves itself: what another server set beside it is not believed. */
export function browserMarksOf(request: IncomingMessage, options: CookieOptions): Secret | undefined {
  const values = cookiesOf(request, MARKS, options)
  return values.length === 0 ? undefined : new Secret(values.join('~'))
}

function cookiesOf({ headers }: IncomingMessage, cookie: string, { isSecure }: CookieOptions): readonly string[] {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2))
  return pairs.flatMap(([name, value = '']) => (name === nameOf(cookie, isSecure) ? [value] : []))
}

/** `Set-Cookie` for a session that was opened. @param expiresAt milliseconds since 1970 */
export function sessionCookie(token: string, expiresAt: number, options: CookieOptions): string {
  return setCookie(SESSION, token, `Expires=${new Date(expiresAt).toUTCString()}`, options)
}

/** `Set-Cookie` that removes it. */
export function endedCookie(options: CookieOptions): string {
  return setCookie(SESSION, '', 'Max-Age=0', options)
}

/** `Set-Cookie` for what the browser is known by from now on. */
export function marksCookie({ text, expiresAt }: Marks, options: CookieOptions): string {
  return setCookie(MARKS, text, `Expires=${new Date(expiresAt).toUTCString()}`, options)
}

const SESSION = 'broker_session'
const MARKS = 'broker_known'

function setCookie(cookie: string, value: string, life: string, { isSecure }: CookieOptions): string {
  const secure = isSecure ? '; Secure' : ''
  return `${nameOf(cookie, isSecure)}=${value}; Path=/; HttpOnly; SameSite=Strict; ${life}${secure}`
}

/** A browser takes the prefix from https alone, and then from no other host and for no other path. */
function nameOf(cookie: string, isSecure: boolean): string {
  return isSecure ? `__Host-${cookie}` : cookie
}
