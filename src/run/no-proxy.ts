import { isIP } from 'node:net'

const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/**
 * The child's NO_PROXY: the user's entries and loopback, less those that would let a routed host past the proxy.
 * `routedHosts` may have one `*` label. `removed` are the user's own entries that were taken out.
 */
export function noProxyFor(
  userEntries: readonly string[],
  routedHosts: readonly string[],
): { readonly value: string; readonly removed: readonly string[] } {
  const bypasses = (entry: string) => routedHosts.some((host) => excepts(entry, host))
  const kept = [...new Set([...userEntries, ...LOOPBACK])].filter((entry) => !bypasses(entry))
  return { value: kept.join(','), removed: userEntries.filter(bypasses) }
}

/** Entries of both spellings of the variable, addresses without brackets. */
export function noProxyEntries(environment: Readonly<Record<string, string>>): readonly string[] {
  const text = `${environment['NO_PROXY'] ?? ''},${environment['no_proxy'] ?? ''}`
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
  return [...new Set(entries.map(withoutBrackets))]
}

// Python's httpx makes a URL pattern of each entry, and takes what is behind the first colon in brackets for a port: no
// client of it can be made. Without them all clients understand the address, though for every port of it.
function withoutBrackets(entry: string): string {
  return entry.replace(/^\[([0-9A-Fa-f:.]+)\](?::\d+)?$/, '$1')
}

/**
 * The same as Java has it (`http.nonProxyHosts`): names between bars, `*` at an end. Entries with a port and networks have
 * no counterpart there and are left out: those requests go through the proxy, which tunnels them.
 */
export function javaExceptions(noProxy: string): string {
  const patterns = noProxy.split(',').flatMap((entry) => {
    if (isIP(entry) !== 0) return [entry.includes(':') ? `[${entry}]` : entry]
    if (entry === '*') return ['*']
    const name = entry.replace(/^\*?\./, '')
    if (!/^[\w.-]+$/.test(name)) return []
    return entry === name ? [name, `*.${name}`] : [`*.${name}`]
  })
  return patterns.join('|')
}

function excepts(entry: string, host: string): boolean {
  const suffix = entry
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/^\*?\.?/, '')
  if (suffix === '') return true
  return fits(suffix, host) || host.endsWith(`.${suffix}`)
}

/** Whether a name is the host, or one of those that its `*` label stands for. */
function fits(name: string, host: string): boolean {
  const labels = name.split('.')
  const pattern = host.toLowerCase().split('.')
  return labels.length === pattern.length && pattern.every((label, index) => label === '*' || label === labels[index])
}
