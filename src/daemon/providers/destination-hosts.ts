import type { HostPattern } from '../../network/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { parseHostPattern } from './host-rules.ts'
import { ownPlaces } from './own-places.ts'
import { tenantHostsOf } from './tenant-hosts.ts'

type Destination = Pick<ProviderDefinition, 'hosts' | 'base_url' | 'tenant_hosts' | 'self_hosted'> & {
  readonly connection_base_url?: string
}

/** The hosts of a destination, as {@link import('./destination-digest.ts').destinationText} writes it. */
export function hostsOfDestination(text: string): readonly HostPattern[] {
  const destination = JSON.parse(text) as Destination
  const { hosts, connection_base_url: baseUrl, self_hosted } = destination
  if (baseUrl === undefined) return hosts.flatMap(patternsOf)
  if (self_hosted !== undefined) return ownPlaces(destination, baseUrl).map(({ pattern }) => pattern)
  return [...patternsOf(new URL(baseUrl).host), ...tenantHostsOf(destination, baseUrl)]
}

function patternsOf(host: string): readonly HostPattern[] {
  const parsed = parseHostPattern(host, 'signature')
  return 'pattern' in parsed ? [parsed.pattern] : []
}
