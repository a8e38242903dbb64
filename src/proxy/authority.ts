import { isIP } from 'node:net'

/** Where a request goes. `host` is a lower-case name, or an IP literal without brackets. */
export interface Authority {
  readonly host: string
  readonly port: number
}

const NAME = /^([A-Za-z0-9.-]+)(?::([0-9]{1,5}))?$/
const BRACKETED = /^\[([0-9A-Fa-f:.]+)\](?::([0-9]{1,5}))?$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Reads `host:port` from the raw characters, before anything could fold or decode them: what a URL parser would make
 * of `api%2eexample.com`, `api。example.com` or `user@host` is never asked. Null where it is not a plain authority;
 * the trailing dot is refused too, for it would be a second spelling of one name.
 */
export function parseAuthority(text: string, defaultPort?: number): Authority | null {
  const bracketed = BRACKETED.exec(text)
  const match = bracketed ?? NAME.exec(text)
  const host = match?.[1]?.toLowerCase()
  const port = match?.[2] === undefined ? defaultPort : parsePort(match[2])
  if (host === undefined || port === undefined) return null
  if (bracketed !== null) return isIP(host) === 6 ? { host, port } : null
  return isName(host) ? { host, port } : null
}

function parsePort(digits: string): number | undefined {
  const port = Number(digits)
  return port >= 1 && port <= 65_535 && !digits.startsWith('0') ? port : undefined
}

function isName(host: string): boolean {
  return host.length <= 253 && host.split('.').every((label) => LABEL.test(label))
}

/** `host:port`, with brackets where the host is an IPv6 literal. */
export function formatAuthority({ host, port }: Authority): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
