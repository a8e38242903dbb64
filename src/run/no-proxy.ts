import { isIP } from 'node:net'
import { parseNoProxy } from '../network/index.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/**
 * The child's NO_PROXY: the user's entries and loopback, less those that would let a routed host past the proxy.
 * `routedHosts` may have one `*` label. `removed` are the user's own entries that were taken out.
 */
export function noProxyFor(
  userEntries: readonly string[],
  routedHosts: readonly string[],
): { readonly value: string; readonly removed: readonly string[] } {
  const entries = parseNoProxy([...userEntries, ...LOOPBACK].join())
  const bypassing = entries.filter((entry) => routedHosts.some((host) => entry.mayExcept(host)))
  const removed = new Set(bypassing.map(({ text }) => text))
  const kept = entries.filter((entry) => !bypassing.includes(entry))
  return { value: kept.map(({ text }) => text).join(','), removed: userEntries.filter((text) => removed.has(text)) }
}

/** Entries of both spellings of the variable, addresses without brackets. */
export function noProxyEntries(environment: Readonly<Record<string, string>>): readonly string[] {
  const text = `${environment['NO_PROXY'] ?? ''},${environment['no_proxy'] ?? ''}`
  return [...new Set(parseNoProxy(text).map(({ text: entry }) => entry))]
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
