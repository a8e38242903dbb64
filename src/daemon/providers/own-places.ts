import { type HostPattern, patternOf } from '../../network/index.ts'
import { coversPath } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { parseHostPattern } from './host-rules.ts'
import type { Target } from './provider.ts'
import { hostOfUrl } from './url-template.ts'

/** A place on a server of the user's own that gets the credential. */
export interface OwnPlace {
  readonly pattern: HostPattern
  /** The host of the definition whose requests have the same form; the server itself where that is the usual one. */
  readonly like: HostPattern
  /** Whether it is spoken to without TLS: on loopback. */
  readonly isPlain: boolean
}

type SelfHosted = NonNullable<ProviderDefinition['self_hosted']>[number]

/** The places of the server at this address. Whether the address is a tenant's is not asked here. */
export function ownPlaces(
  { self_hosted: entries = [] }: Pick<ProviderDefinition, 'self_hosted'>,
  baseUrl: string,
): readonly OwnPlace[] {
  const { protocol } = new URL(baseUrl)
  const { host, port } = hostOfUrl(baseUrl)
  return entries.map((entry) => ({
    pattern: patternOf(host, port, prefixOf(baseUrl, entry)),
    like: likeOf(entry) ?? patternOf(host, port),
    isPlain: protocol === 'http:',
  }))
}

/** The path of the base URL counts: nothing beside it gets the credential. */
function prefixOf(baseUrl: string, { path = '/*' }: SelfHosted): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path.slice(0, -1)}`
}

function likeOf({ like }: SelfHosted): HostPattern | undefined {
  const parsed = like === undefined ? undefined : parseHostPattern(like)
  return parsed !== undefined && 'pattern' in parsed ? parsed.pattern : undefined
}

/** The place that the request goes to: of several, the one with the longest path. */
export function ownPlaceFor(places: readonly OwnPlace[], target: Target): OwnPlace | undefined {
  return places
    .filter(({ pattern }) => covers(pattern, target))
    .reduce<OwnPlace | undefined>((best, one) => (best && lengthOf(best) >= lengthOf(one) ? best : one), undefined)
}

function lengthOf({ pattern }: OwnPlace): number {
  return pattern.pathPrefix?.length ?? 0
}

function covers(pattern: HostPattern, { host, port, path }: Target): boolean {
  if (pattern.hostPattern !== host || pattern.port !== port) return false
  const { pathPrefix } = pattern
  return pathPrefix === undefined || (path !== undefined && coversPath(pathPrefix, path))
}
