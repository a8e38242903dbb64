import type { IncomingMessage } from 'node:http'
import { Secret } from '../../protocol/index.ts'

const TOKEN = /^[A-Za-z0-9_-]{43}$/

export interface CookieOptions {
  /** Whether browsers come here by https. */
  readonly isSecure: boolean
}

/**
 * The browser's session, where it sends one that can be ours. Of two that differ neither: one of them was set by a server
 * on another port or a neighbouring host, and which cannot be told.
 */
export function sessionTokenOf({ headers }: IncomingMessage, { isSecure }: CookieOptions): Secret | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2))
  const values = pairs.flatMap(([name, value = '']) => (name === nameOf(isSecure) && TOKEN.test(value) ? [value] : []))
  const [token, other] = new Set(values)
  return token === undefined || other !== undefined ? undefined : new Secret(token)
}

/** `Set-Cookie` for a session that was opened. @param expiresAt milliseconds since 1970 */
export function sessionCookie(token: string, expiresAt: number, { isSecure }: CookieOptions): string {
  return cookie(token, `Expires=${new Date(expiresAt).toUTCString()}`, isSecure)
}

/** `Set-Cookie` that removes it. */
export function endedCookie({ isSecure }: CookieOptions): string {
  return cookie('', 'Max-Age=0', isSecure)
}

function cookie(value: string, life: string, isSecure: boolean): string {
  return `${nameOf(isSecure)}=${value}; Path=/; HttpOnly; SameSite=Strict; ${life}${isSecure ? '; Secure' : ''}`
}

/** A browser takes the prefix from https alone, and then from no other host and for no other path. */
function nameOf(isSecure: boolean): string {
  return isSecure ? '__Host-broker_session' : 'broker_session'
}
