import { type Authority, bracketed, HTTPS_PORT } from './authority.ts'

/** Where a credential may go: one host or one wildcard label, one port, perhaps only below a path. */
export interface HostPattern {
  /** Lower case; one label may be `*`, or two that are told apart. IPv6 without brackets, as in a request. */
  readonly hostPattern: string
  readonly port: number
  /** `/api/` of `example.com/api/*`: begins and ends with a slash. */
  readonly pathPrefix?: string
}

/** Reads a pattern as definitions write it: `*.example.com`, `example.com:8443/api/*`. The text is a valid one. */
export function readPattern(text: string): HostPattern {
  const { host, port, path } = splitPattern(text)
  return patternOf(host, port === undefined ? HTTPS_PORT : Number(port), path?.replace(/\*$/, ''))
}

/** The parts of a pattern as they are written: IPv6 without its brackets, what is behind the colon, what begins with a slash. */
export interface WrittenPattern {
  readonly host: string
  readonly port: string | undefined
  readonly path: string | undefined
}

export function splitPattern(text: string): WrittenPattern {
  const slash = text.indexOf('/')
  const named = slash < 0 ? text : text.slice(0, slash)
  const bracket = named.startsWith('[') ? named.indexOf(']') : -1
  const colon = named.indexOf(':', bracket + 1)
  const host = colon < 0 ? named : named.slice(0, colon)
  return {
    host: bracket < 0 ? host : host.slice(1, -1),
    port: colon < 0 ? undefined : named.slice(colon + 1),
    path: slash < 0 ? undefined : text.slice(slash),
  }
}

export function patternOf(host: string, port: number, pathPrefix?: string): HostPattern {
  return pathPrefix === undefined || pathPrefix === '/'
    ? { hostPattern: host, port }
    : { hostPattern: host, port, pathPrefix }
}

export function isWildcard(pattern: HostPattern): boolean {
  return pattern.hostPattern.includes('*')
}

/** Returns whether the host itself, in lower case, is one that the pattern's means. The one rule for it, in daemon and proxy. */
export function matchesHost(pattern: string, host: string): boolean {
  return hostMatcher(pattern)(host)
}

/** The same for a pattern that is asked often. */
export function hostMatcher(pattern: string): (host: string) => boolean {
  if (!pattern.includes('*')) return (host) => pattern === host
  const wanted = pattern.split('.')
  const region = regionIn(pattern, wanted)
  return (host) => {
    const labels = host.split('.')
    return wanted.length === labels.length && wanted.every((label, at) => meets(label, labels[at] ?? '', at === region))
  }
}

/** Returns whether a request to this host and port, whatever its path, is one that the pattern means. */
export function matchesAuthority(pattern: HostPattern, { host, port }: Authority): boolean {
  return pattern.port === port && matchesHost(pattern.hostPattern, host)
}

// An S3 bucket is a name that anyone can have: bedrock.s3.amazonaws.com may belong to a stranger. Left of Amazon's own
// name a wildcard means a region and nothing else.
const REGION = /^[a-z]{2}(?:-[a-z]{2,12}){1,2}-[0-9]{1,2}$/
const AMAZON = '.amazonaws.com'

/** Returns whether a label of a pattern means the other: one of a host, or of another pattern. */
function meets(label: string, other: string, isRegion: boolean): boolean {
  if (label !== '*') return label === other
  return other !== '' && (other === '*' || !isRegion || REGION.test(other))
}

/** Returns which label can only be a region. */
function regionIn(host: string, labels: readonly string[]): number {
  return isAmazon(host) ? labels.length - 3 : -1
}

/** Returns where a wildcard is less than any label. */
export function isAmazon(host: string): boolean {
  return host.endsWith(AMAZON)
}

/** Returns whether one request can match both. */
export function overlap(a: HostPattern, b: HostPattern): boolean {
  return a.port === b.port && hostsOverlap(a.hostPattern, b.hostPattern) && pathsOverlap(a.pathPrefix, b.pathPrefix)
}

/** Returns whether one request can match both and neither is more specific. */
export function tie(a: HostPattern, b: HostPattern): boolean {
  return isWildcard(a) === isWildcard(b) && a.pathPrefix === b.pathPrefix && overlap(a, b)
}

function hostsOverlap(a: string, b: string): boolean {
  const [left, right] = [a.split('.'), b.split('.')]
  const [leftRegion, rightRegion] = [regionIn(a, left), regionIn(b, right)]
  const overlaps = (one: string, other: string, at: number) =>
    meets(one, other, at === leftRegion) || meets(other, one, at === rightRegion)
  return left.length === right.length && left.every((label, at) => overlaps(label, right[at] ?? '', at))
}

function pathsOverlap(a = '/', b = '/'): boolean {
  return a.startsWith(b) || b.startsWith(a)
}

/** As it stands in a definition. */
export function formatPattern({ hostPattern, port, pathPrefix }: HostPattern): string {
  return `${bracketed(hostPattern)}${port === HTTPS_PORT ? '' : `:${port}`}${pathPrefix === undefined ? '' : `${pathPrefix}*`}`
}
