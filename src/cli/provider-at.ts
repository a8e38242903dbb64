import {
  authorityOfUrl,
  formatPattern,
  isCommonLoopback,
  isWildcard,
  matchesAuthority,
  readPattern,
} from '../network/index.ts'
import { BrokerError, coversPath, isProviderName } from '../protocol/index.ts'
import type { ProviderDefinition, ProviderList, ProviderSummary } from '../schemas/index.ts'

/** Returns whether a provider is given by the address of its server and not by its name. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

/** @throws BrokerError InvalidRequestError for an address that no token may be sent to */
export function parseAddress(text: string): URL {
  const url = URL.parse(text)
  if (!url) throw unusable('it is not a URL')
  if (url.username || url.password) throw unusable('it has a user name or password in it')
  if (url.hash) throw unusable('it has a fragment ("#…")')
  if (url.protocol === 'https:' || isCommonLoopback(url.hostname)) return url
  throw unusable('it is not https; plain http is for this machine alone')
}

// The address is not repeated: somebody may have put a secret in its place.
function unusable(why: string): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot log in at this address: ${why}`, {
    hint: 'Give the address of the server as its maker documents it: broker login https://mcp.example.com/mcp',
  })
}

/** A provider that has the host of the address, and the resource of its tokens where its definition names one. */
export interface Neighbour {
  readonly name: string
  readonly hosts: readonly string[]
  readonly resource?: string
}

/** Where to log in: at a provider that is there, or at the one that a new definition makes. */
export type LoginPlace =
  | { readonly kind: 'known'; readonly name: string }
  | { readonly kind: 'new'; readonly definition: ProviderDefinition }

/** Those that have the host and port of the address among theirs, with whatever path. */
export function providersOnHost({ bundled, custom }: ProviderList, url: URL): readonly ProviderSummary[] {
  return [...custom, ...bundled].filter(({ hosts }) => hosts.some((host) => isOnHost(host, url)))
}

/**
 * The provider whose resource the address is, else the one that covers it most exactly. Where that one's tokens are for
 * another resource, the address gets a definition of its own.
 * @param taken names of all providers
 * @throws BrokerError OperationNotAllowedError where requests to the two could not be told apart
 */
export function placeAt(url: URL, neighbours: readonly Neighbour[], taken: ReadonlySet<string>): LoginPlace {
  const same = neighbours.filter(({ resource }) => resource !== undefined && isSameResource(resource, url))
  const known = mostExact(same, url) ?? same[0]
  if (known) return { kind: 'known', name: known.name }
  const covering = mostExact(neighbours, url)
  if (covering && !isUrl(covering.resource)) return { kind: 'known', name: covering.name }
  return { kind: 'new', definition: definitionFor(url, neighbours, taken) }
}

/** Of a definition whose tokens are each tenant's own, the resource is a template. */
function isUrl(resource: string | undefined): boolean {
  return resource !== undefined && URL.canParse(resource)
}

function mostExact(providers: readonly Neighbour[], url: URL): Neighbour | undefined {
  const candidates = providers.flatMap((provider) =>
    provider.hosts.filter((host) => covers(host, url)).map((host) => ({ provider, rank: rankOf(host) })),
  )
  return candidates.toSorted((a, b) => b.rank - a.rank)[0]?.provider
}

function covers(text: string, url: URL): boolean {
  const { pathPrefix = '/' } = readPattern(text)
  return isOnHost(text, url) && coversPath(pathPrefix, plain(url.pathname))
}

function isOnHost(text: string, url: URL): boolean {
  return matchesAuthority(readPattern(text), authorityOfUrl(url))
}

// An exact host before a wildcard, then the longer path.
function rankOf(text: string): number {
  const pattern = readPattern(text)
  return (isWildcard(pattern) ? 0 : 10_000) + (pattern.pathPrefix ?? '/').length
}

/** As URLs, but for slashes at the end of the path, and for letters that need not be encoded. */
function isSameResource(resource: string, url: URL): boolean {
  const other = URL.parse(resource)
  return other !== null && bare(other) === bare(url)
}

function bare({ origin, pathname, search }: URL): string {
  return `${origin}${pathOf(pathname)}${search}`
}

/** Without the slashes at its end. */
function pathOf(pathname: string): string {
  return plain(pathname).replace(/\/+$/, '')
}

/** RFC 3986, section 6.2.2.2: encoded letters, digits, "-", ".", "_" and "~" mean themselves. */
function plain(pathname: string): string {
  return pathname.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase()
  })
}

/**
 * A definition of the server at this address, of which nothing else is known: it is asked about itself at the login. The
 * first on a host gets all of it, and its own path by name, so that no later one with a shorter path takes that; each
 * further one gets its path.
 */
function definitionFor(url: URL, neighbours: readonly Neighbour[], taken: ReadonlySet<string>): ProviderDefinition {
  const { host, port } = authorityOfUrl(url)
  const authority = formatPattern({ hostPattern: host, port })
  const own = ownPath(url, authority)
  const isFirst = neighbours.length === 0
  if (!isFirst) requireApart(url, own, neighbours)
  const called = isFirst ? url.host : `${url.host}${pathOf(url.pathname)}`
  return {
    schema_version: 1,
    name: freeName(called, taken),
    display_name: called.slice(0, 80),
    auth_type: 'oauth2',
    flow: 'dcr_pkce',
    hosts: [...(isFirst ? [authority] : []), ...(own === undefined ? [] : [own])],
    oauth: { resource: resourceOf(url), scopes: [] },
  }
}

/** The path of the address as a host of a definition; undefined where it has none, or one that cannot be a prefix. */
function ownPath({ pathname }: URL, authority: string): string | undefined {
  const path = pathOf(pathname)
  return /^(?:\/[A-Za-z0-9._~!$&'()+,;=:@-]+)+$/.test(path) ? `${authority}${path}/*` : undefined
}

/** @throws BrokerError OperationNotAllowedError */
function requireApart(url: URL, own: string | undefined, neighbours: readonly Neighbour[]): void {
  const all = neighbours.map(({ name }) => name).join(', ')
  if (pathOf(url.pathname) === '') throw notApart(all, 'it is the whole host, which they have', neighbours)
  if (own === undefined)
    throw notApart(all, 'its path has characters that no path of a definition may have', neighbours)
  const twin = neighbours.find(({ hosts }) => hosts.includes(own))
  if (twin) throw notApart(twin.name, 'they have the same path', [twin])
  const inside = neighbours.find((neighbour) => isInside(neighbour, own))
  if (inside) throw notApart(inside.name, 'its own path is at this one or below it', [inside])
}

/** Returns whether the new path would take the requests to the resource of one that has no path of its own. */
function isInside({ hosts, resource }: Neighbour, own: string): boolean {
  const url = URL.parse(resource ?? '')
  const isTaken = url !== null && covers(own, url)
  return isTaken && !hosts.some((host) => covers(host, url) && rankOf(host) > rankOf(own))
}

function notApart(names: string, why: string, [first]: readonly Neighbour[]): BrokerError {
  return new BrokerError(
    'OperationNotAllowedError',
    `Cannot log in at this address beside ${names}: requests are told apart by host and path, and ${why}`,
    {
      ...(first && { provider: first.name }),
      hint: `Log in to ${first?.name} itself (broker login ${first?.name}), or make room and log in to both again: broker provider remove ${first?.name}`,
    },
  )
}

function freeName(called: string, taken: ReadonlySet<string>): string {
  const base = called
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 60)
    .replace(/[.-]+$/, '')
  const names = [base, ...Array.from(taken, (_, at) => `${base}-${at + 2}`)]
  const name = names.find((candidate) => !taken.has(candidate) && isProviderName(candidate))
  if (name !== undefined) return name
  throw unusable('no name can be made of its host')
}

// RFC 8707: as the server calls itself, which without a path is without a slash.
function resourceOf({ href, origin, pathname, search }: URL): string {
  return pathname === '/' && search === '' ? origin : href
}
