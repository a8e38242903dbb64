import { type HostPattern, parseHostPattern } from './host-pattern.ts'

/** The hosts of a destination, as {@link import('./destination-digest.ts').destinationText} writes it. */
export function hostsOfDestination(text: string): readonly HostPattern[] {
  const { hosts, connection_base_url: baseUrl } = JSON.parse(text) as {
    readonly hosts: readonly string[]
    readonly connection_base_url?: string
  }
  const own = baseUrl === undefined ? hosts : [new URL(baseUrl).host]
  return own.flatMap((host) => {
    const parsed = parseHostPattern(host, 'signature')
    return 'pattern' in parsed ? [parsed.pattern] : []
  })
}
