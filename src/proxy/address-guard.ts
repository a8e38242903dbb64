import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Authority, isListed, isMetadataHost, reachedAddress } from '../network/index.ts'

export type ForbiddenAddress = 'daemon_address' | 'metadata_address' | 'own_machine'

/** Tells whether an address may not be dialled; undefined where it may. `host` is a name or a literal without brackets. */
export type AddressGuard = (target: Authority) => ForbiddenAddress | undefined

const THIS_HOST = new BlockList()
THIS_HOST.addSubnet('127.0.0.0', 8)
THIS_HOST.addAddress('0.0.0.0')
THIS_HOST.addAddress('::1', 'ipv6')
THIS_HOST.addAddress('::', 'ipv6')

/** Guards the daemon's own addresses, under every spelling of this machine, and the clouds' metadata services. */
export function createAddressGuard(daemonAddresses: readonly Authority[]): AddressGuard {
  const named = new Set(daemonAddresses.map(({ host, port }) => `${host}:${port}`))
  const localPorts = new Set(daemonAddresses.filter(({ host }) => isThisHost(host)).map(({ port }) => port))
  return ({ host, port }) => {
    const address = reachedAddress(host)
    if (isMetadataHost(address)) return 'metadata_address'
    if (named.has(`${address}:${port}`)) return 'daemon_address'
    return localPorts.has(port) && isThisHost(address) ? 'daemon_address' : undefined
  }
}

/** Whether a host is this machine, by a name or an address of its own, in any spelling. */
export function isThisMachine(host: string): boolean {
  return isThisHost(reachedAddress(host))
}

function isThisHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isListed(THIS_HOST, host) || isOwnAddress(host)
}

function isOwnAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  return ownAddresses()?.includes(address) ?? true
}

/** Undefined where they cannot be had, as without a descriptor left: any address may be one of them then. */
function ownAddresses(): readonly string[] | undefined {
  try {
    return Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? [])
  } catch {
    return undefined
  }
}
