import { BlockList, isIP } from 'node:net'
import { isListed } from './ip-address.ts'

/** What an address leads to: the internet, this machine or its networks, or a cloud's keys. */
export type AddressKind = 'public' | 'private' | 'metadata'

const PRIVATE_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

/** Inside 2000::/3, outside of which nothing is public: special purposes, and the tunnels Teredo and 6to4. */
const PRIVATE_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

/** Where clouds answer to whoever asks from inside of them. All of 169.254/16: each has put something else there. */
const METADATA_IPV4: readonly (readonly [string, number])[] = [
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
]

const METADATA_IPV6: readonly (readonly [string, number])[] = [
  ['fd00:ec2::', 32],
  ['fd20:ce::', 32],
]

/** Prefixes behind which an IPv6 address is an IPv4 one: v4-mapped, v4-compatible, NAT64 (RFC 6052). */
const EMBEDDING = ['::ffff:', '::', '64:ff9b::']

const metadata = blockList(METADATA_IPV4, METADATA_IPV6)
const privateAddresses = blockList(PRIVATE_IPV4, PRIVATE_IPV6)
const publicIpv6 = blockList([], [['2000::', 3]])
const translated = blockList(
  [],
  [
    ['64:ff9b::', 96],
    ['::ffff:0:0', 96],
  ],
)

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'instance-data',
  'instance-data.ec2.internal',
])

/** Returns whether a host in lower case, a name or a literal without brackets, is where a cloud gives keys to whoever asks. */
export function isMetadataHost(host: string): boolean {
  return METADATA_NAMES.has(host) || addressKind(host) === 'metadata'
}

/** The kind of a literal address, IPv6 without brackets. What is no address at all counts as private. */
export function addressKind(literal: string): AddressKind {
  const address = literal.split('%', 1)[0] ?? ''
  if (isListed(metadata, address)) return 'metadata'
  if (isIP(address) === 0 || isListed(privateAddresses, address)) return 'private'
  return isIP(address) === 4 || isListed(publicIpv6, address) || isListed(translated, address) ? 'public' : 'private'
}

function blockList(
  ipv4: readonly (readonly [string, number])[],
  ipv6: readonly (readonly [string, number])[],
): BlockList {
  const list = new BlockList()
  for (const [network, bits] of ipv4) {
    list.addSubnet(network, bits, 'ipv4')
    for (const prefix of EMBEDDING) list.addSubnet(`${prefix}${network}`, 96 + bits, 'ipv6')
  }
  for (const [network, bits] of ipv6) list.addSubnet(network, bits, 'ipv6')
  return list
}
