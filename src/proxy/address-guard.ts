import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Authority } from './authority.ts'

export type ForbiddenAddress = 'daemon_address' | 'metadata_address'

/** Tells whether an address may not be dialled; undefined where it may. `host` is a name or a literal without brackets. */
export type AddressGuard = (target: Authority) => ForbiddenAddress | undefined

const METADATA_NAMES = new Set(['metadata.google.internal', 'instance-data', 'instance-data.ec2.internal'])

const METADATA = new BlockList()
METADATA.addAddress('169.254.169.254')
METADATA.addAddress('169.254.170.2')
METADATA.addAddress('100.100.100.200')
METADATA.addAddress('fd00:ec2::254', 'ipv6')
METADATA.addAddress('fd20:ce::254', 'ipv6')

const THIS_HOST = new BlockList()
THIS_HOST.addSubnet('127.0.0.0', 8)
THIS_HOST.addAddress('0.0.0.0')
THIS_HOST.addAddress('::1', 'ipv6')
THIS_HOST.addAddress('::', 'ipv6')

/** Guards the daemon's own addresses, under every spelling of this machine, and the clouds' metadata services. */
export function createAddressGuard(daemonAddresses: readonly Authority[]): AddressGuard {
  const named = new Set(daemonAddresses.map(({ host, port }) => `${host.toLowerCase()}:${port}`))
  const localPorts = new Set(daemonAddresses.filter(({ host }) => isThisHost(host)).map(({ port }) => port))
  return ({ host, port }) => {
    const address = canonicalAddress(host)
    if (METADATA_NAMES.has(host) || contains(METADATA, address)) return 'metadata_address'
    if (named.has(`${address}:${port}`)) return 'daemon_address'
    return localPorts.has(port) && isThisHost(address) ? 'daemon_address' : undefined
  }
}

function isThisHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || contains(THIS_HOST, host) || isOwnAddress(host)
}

function isOwnAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return own.some((entry) => entry.address === address)
}

function contains(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** The IPv4 address inside an IPv6 one that leads to it: v4-mapped, v4-compatible or NAT64 (RFC 6052); else the same. */
function canonicalAddress(host: string): string {
  if (isIP(host) !== 6) return host
  const bare = host.split('%', 1)[0] ?? host
  const groups = expandGroups(bare)
  const prefix = groups.slice(0, 6).join(':')
  const high = groups[6] ?? 0
  const low = groups[7] ?? 0
  if (!EMBEDDING_PREFIXES.has(prefix) || (prefix === '0:0:0:0:0:0' && high === 0)) return bare
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

const EMBEDDING_PREFIXES = new Set(['0:0:0:0:0:0', '0:0:0:0:0:65535', `${0x64}:${0xff9b}:0:0:0:0`])

function expandGroups(address: string): number[] {
  const dotted = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number)
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const [left = [], right] = dotted.split('::').map((side) => side.split(':').filter((group) => group !== ''))
  const missing = right === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array<string>(missing).fill('0'), ...(right ?? [])]
  return groups.map((group) => Number.parseInt(group, 16))
}
