import { BrokerError, coversPath, isProviderName } from '../protocol/index.ts'
import type { ProviderDefinition, ProviderList, ProviderSummary } from '../schemas/index.ts'

/** Whether a provider is given by the address of its server and not by its name. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

/** @throws BrokerError InvalidRequestError for an address that no token may be sent to */
export function parseAddress(text: string): URL {
  const url = URL.parse(text)
  if (!url) throw unusable('it is not a URL')
  if (url.username || url.password) throw unusable('it has a user name or password in it')
  if (url.hash) throw unusable('it has a fragment ("#…")')
  if (url.protocol === 'https:' || LOOPBACK.has(url.hostname)) return url
  throw unusable('it is not https; plain http is for this machine alone')
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

// The address is not repeated: somebody may have put a secret in its place.
function unusable(why: string): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot log in at this address: ${why}`, {
    hint: 'Give the address of the server as its maker documents it: broker login https://mcp.example.com/mcp',
  })
}

/** The provider that has this address among its hosts; the one that names it most exactly. */
export function providerAt({ bundled, custom }: ProviderList, url: URL): ProviderSummary | undefined {
  const candidates = [...custom, ...bundled].flatMap((provider) =>
    provider.hosts.filter((host) => covers(host, url)).map((host) => ({ provider, rank: rankOf(host) })),
  )
  return candidates.toSorted((a, b) => b.rank - a.rank)[0]?.provider
}

function covers(pattern: string, url: URL): boolean {
  const { authority, path } = split(pattern)
  const host = authority.replace(/:\d+$/, '')
  const port = /:(\d+)$/.exec(authority)?.[1] ?? '443'
  return port === portOf(url) && coversHost(host, url.hostname) && coversPath(path, url.pathname)
}

/** `*` stands for exactly one label. */
function coversHost(pattern: string, hostname: string): boolean {
  const [labels, names] = [pattern.split('.'), hostname.split('.')]
  return labels.length === names.length && labels.every((label, at) => label === '*' || label === names[at])
}

function split(pattern: string): { readonly authority: string; readonly path: string } {
  const [authority = '', ...path] = pattern.split('/')
  return { authority, path: `/${path.join('/')}`.replace(/\*$/, '') }
}

// An exact host before a wildcard, then the longer path.
function rankOf(pattern: string): number {
  return (pattern.split('/', 1)[0]?.includes('*') ? 0 : 10_000) + split(pattern).path.length
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80')
}

/** A definition of the server at this address, of which nothing else is known: it is asked about itself at the login. */
export function definitionFor(url: URL, { bundled, custom }: ProviderList): ProviderDefinition {
  const taken = new Set([...bundled, ...custom].map(({ name }) => name))
  return {
    schema_version: 1,
    name: freeName(url.host, taken),
    display_name: url.host.slice(0, 80),
    auth_type: 'oauth2',
    flow: 'dcr_pkce',
    hosts: [portOf(url) === '443' ? url.hostname : `${url.hostname}:${portOf(url)}`],
    oauth: { resource: resourceOf(url), scopes: [] },
  }
}

function freeName(host: string, taken: ReadonlySet<string>): string {
  const base = host
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 60)
  const names = [base, ...Array.from(taken, (_, at) => `${base}-${at + 2}`)]
  const name = names.find((candidate) => !taken.has(candidate) && isProviderName(candidate))
  if (name !== undefined) return name
  throw unusable('no name can be made of its host')
}

// RFC 8707: as the server calls itself, which without a path is without a slash.
function resourceOf({ href, origin, pathname, search }: URL): string {
  return pathname === '/' && search === '' ? origin : href
}
