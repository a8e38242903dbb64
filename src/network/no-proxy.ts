import { BlockList, isIP } from 'node:net'
import { type Authority, hostOf } from './authority.ts'
import { hostMatcher } from './host-pattern.ts'
import { isListed } from './ip-address.ts'

/** One entry of NO_PROXY: what is reached without the proxy. */
export interface ProxyException {
  /**
   * As it was written, but IPv6 without its brackets, and then for every port: Python's httpx makes a URL pattern of each
   * entry, takes what is behind the first colon in brackets for a port, and no client of it can be made.
   */
  readonly text: string
  /** Returns whether a request to this host and port, in the one spelling, is meant. */
  excepts(target: Authority): boolean
  /** Returns whether some client could take a host of this pattern for meant, whatever its port: clients read entries differently. */
  mayExcept(hostPattern: string): boolean
}

/**
 * Reads NO_PROXY as most clients do: entries between commas or white space; `*` is everything; a name is itself and all
 * below it, with or without `.` or `*.` before it; an address or a network (CIDR) is compared with addresses alone; a port
 * behind a colon narrows a name or an address to it.
 */
export function parseNoProxy(text: string): readonly ProxyException[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
  return [...new Set(entries)].map(parseException)
}

/** Returns whether any of the entries means the target. */
export function isExcepted(exceptions: readonly ProxyException[], target: Authority): boolean {
  return exceptions.some((one) => one.excepts(target))
}

const ENTRY = /^(?:\[(?<literal>[^\]]*)\]|(?<name>[^:]*))(?::(?<port>\d{1,5}))?$/

function parseException(text: string): ProxyException {
  if (text === '*') return { text, excepts: () => true, mayExcept: () => true }
  const network = networkIn(text)
  if (network !== undefined) {
    const { contains } = network
    return { text: network.text, excepts: ({ host }) => contains(host), mayExcept: contains }
  }
  const { literal, name = text, port } = isIP(text) === 0 ? (ENTRY.exec(text)?.groups ?? {}) : {}
  const meant = hostOf(literal ?? name.replace(/^\*?\./, ''))
  const isPort = (of: number) => port === undefined || Number(port) === of
  return {
    text: isIP(meant) === 6 ? meant : text,
    excepts: (target) => isPort(target.port) && isAtOrBelow(meant, target.host),
    mayExcept: (pattern) => meant === '' || isAtOrBelow(meant, pattern) || hostMatcher(pattern)(meant),
  }
}

/** An address has nothing below it. */
function isAtOrBelow(name: string, host: string): boolean {
  return host === name || (isIP(host) === 0 && name !== '' && host.endsWith(`.${name}`))
}

interface Network {
  readonly text: string
  contains(host: string): boolean
}

/** Of `10.0.0.0/8`; undefined where it is no network. */
function networkIn(text: string): Network | undefined {
  const [address = '', bits = '', ...rest] = text.split('/')
  const bare = hostOf(address)
  const family = isIP(bare) === 6 ? 'ipv6' : 'ipv4'
  const longest = family === 'ipv6' ? 128 : 32
  if (isIP(bare) === 0 || rest.length > 0 || !/^[0-9]{1,3}$/.test(bits) || Number(bits) > longest) return undefined
  const subnet = new BlockList()
  subnet.addSubnet(bare, Number(bits), family)
  return {
    text: `${bare}/${bits}`,
    contains: (host) => isListed(subnet, host),
  }
}
