import type { IncomingMessage } from 'node:http'
import { Secret } from '../../protocol/index.ts'

// A browser takes the prefix from https alone, and then from no other host and for no other path.
const SECURE_NAME = '__Host-broker_session'
const PLAIN_NAME = 'broker_session'
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** The browser's session, where it sends one that can be ours. */
export function sessionTokenOf({ headers }: IncomingMessage): Secret | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2))
  const found = [SECURE_NAME, PLAIN_NAME].map((wanted) => pairs.find(([name]) => name === wanted)?.[1])
  const token = found.find((value) => value !== undefined && TOKEN.test(value))
  return token === undefined ? undefined : new Secret(token)
}

export interface CookieOptions {
  /** Whether browsers come here by https. */
  readonly isSecure: boolean
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
  const name = isSecure ? SECURE_NAME : PLAIN_NAME
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; ${life}${isSecure ? '; Secure' : ''}`
}
