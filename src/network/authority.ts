import { isIP } from 'node:net'

declare const HOST: unique symbol

/** A name in lower case, or an IP literal without brackets: one spelling for each host. */
export type Host = string & { readonly [HOST]: true }

/** Where a request goes. */
export interface Authority {
  readonly host: Host
  readonly port: number
}

export const HTTP_PORT = 80
export const HTTPS_PORT = 443

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
  if (bracketed !== null) return isIP(host) === 6 ? authority(host, port) : null
  return isName(host) ? authority(host, port) : null
}

function parsePort(digits: string): number | undefined {
  const port = Number(digits)
  return port >= 1 && port <= 65_535 && !digits.startsWith('0') ? port : undefined
}

function isName(host: string): boolean {
  return host.length <= 253 && host.split('.').every((label) => LABEL.test(label))
}

/** Of a host that was checked elsewhere, in any letter case, IPv6 with brackets or without. */
export function authority(host: string, port: number): Authority {
  return { host: hostOf(host), port }
}

/** The one spelling of a host that was checked elsewhere. */
export function hostOf(text: string): Host {
  return text.replace(/^\[|\]$/g, '').toLowerCase() as Host
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': HTTP_PORT, 'https:': HTTPS_PORT }

/** Of an http or https URL. */
export function authorityOfUrl({ hostname, port, protocol }: URL): Authority {
  return authority(hostname, port === '' ? (DEFAULT_PORTS[protocol] ?? HTTPS_PORT) : Number(port))
}

/** `host:port`, with brackets where the host is an IPv6 literal. */
export function formatAuthority({ host, port }: Authority): string {
  return `${bracketed(host)}:${port}`
}

/** As a URL has it. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
