import { type BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/** One spelling of an address, without a zone; IPv4 in IPv6 is IPv4. Undefined where it is none. */
export function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const [bare = ''] = text.split('%', 1)
  if (!isIPv6(bare)) return undefined
  const groups = groupsOf(bare)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (!isMapped) return new URL(`http://[${bare}]`).hostname.slice(1, -1)
  return dotted(groups.slice(6))
}

const ZERO = '0:0:0:0:0:0'
/** IPv4-compatible, IPv4-mapped, NAT64 (RFC 6052). */
const EMBEDDING: ReadonlySet<string> = new Set([ZERO, '0:0:0:0:0:65535', `${0x64}:${0xff9b}:0:0:0:0`])

/** The IPv4 address inside an IPv6 one that leads to it; any other host as it is, but for a zone. */
export function reachedAddress(host: string): string {
  const [bare = host] = host.split('%', 1)
  if (!isIPv6(bare)) return host
  const groups = groupsOf(bare)
  const prefix = groups.slice(0, 6).join(':')
  const isEmbedded = EMBEDDING.has(prefix) && !(prefix === ZERO && groups[6] === 0)
  return isEmbedded ? dotted(groups.slice(6)) : bare
}

function dotted(groups: readonly number[]): string {
  return groups.flatMap((group) => [group >> 8, group & 255]).join('.')
}

/** Returns what is counted as one: an IPv4 address as it is, of an IPv6 address the /64. */
export function prefixOf(address: string): string {
  if (isIPv4(address)) return address
  const network = groupsOf(address).slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/** Its eight numbers of 16 bits. @param address a valid IPv6 address */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = address.replace(/\d+(?:\.\d+){3}$/, inHex).split('::')
  const [left, right] = [numbers(head), tail === undefined ? [] : numbers(tail)]
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right]
}

function numbers(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

function inHex(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

/** Returns whether it is an address, and in the list. */
export function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
