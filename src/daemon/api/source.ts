import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { HTTP_PORT, isLoopback, parseAuthority, plainAddress, prefixOf } from '../../network/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import { forwardedAddresses, xForwardedAddresses } from './forwarded.ts'

/**
 * Where a request comes from, as far as it can be known: an IPv4 address, or the /64 of an IPv6 one, which is what one
 * household or server has. What limits count is counted by it.
 */
export type SourceOf = (request: IncomingMessage) => string

/**
 * Reads the source off the socket. Only a listed proxy is asked further: the right-most address that none of them has,
 * by `Forwarded` (RFC 7239) or `X-Forwarded-For`; where both are there and differ, one of them is the client's own
 * invention, and the proxy itself is the source.
 * @param trusted addresses and CIDRs, as the operator wrote them
 * @throws BrokerError InvalidRequestError where one of them is neither
 */
export function sourceReader(trusted: readonly string[]): SourceOf {
  const list = proxyList(trusted)
  const isTrusted = (address: string) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  return (request) => {
    const peer = plainAddress(request.socket.remoteAddress ?? '')
    if (peer === undefined) return 'unknown'
    return prefixOf(isTrusted(peer) ? clientOf(request, peer, isTrusted) : peer)
  }
}

type IsTrusted = (address: string) => boolean

function clientOf(request: IncomingMessage, peer: string, isTrusted: IsTrusted): string {
  const told = [
    { lines: linesOf(request, 'forwarded'), read: forwardedAddresses },
    { lines: linesOf(request, 'x-forwarded-for'), read: xForwardedAddresses },
  ].filter(({ lines }) => lines.length > 0)
  const clients = told.map(({ lines, read }) => firstStranger(peer, read(lines), isTrusted))
  const [client = peer, other = client] = clients
  return prefixOf(client) === prefixOf(other) ? client : peer
}

/** Each proxy wrote behind what was there: from the right, the first that is none of ours. What cannot be read ends the way. */
function firstStranger(peer: string, addresses: readonly (string | undefined)[], isTrusted: IsTrusted): string {
  let last = peer
  for (const address of addresses.toReversed()) {
    if (address === undefined) return last
    last = address
    if (!isTrusted(address)) return last
  }
  return last
}

function linesOf({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
}

/** What proxies leave in a request that they pass on. */
const PASSED_ON = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** Returns whether it was sent on this machine, to this machine, and by no proxy that shows. */
export function isFromHere({ socket, headers }: IncomingMessage): boolean {
  const peer = plainAddress(socket.remoteAddress ?? '') ?? ''
  const asked = parseAuthority(headers.host ?? '', HTTP_PORT)
  const isLocal = isLoopback(peer) && asked !== null && isLoopback(asked.host)
  return isLocal && PASSED_ON.every((name) => headers[name] === undefined)
}

function proxyList(trusted: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of trusted) {
    const [address = '', bits, ...rest] = text.split('/')
    const plain = plainAddress(address)
    const family = plain !== undefined && isIPv4(plain) ? 'ipv4' : 'ipv6'
    const all = family === 'ipv4' ? 32 : 128
    const prefix = bits === undefined ? all : /^\d{1,3}$/.test(bits) ? Number(bits) : 0
    // A mapped address written with a prefix of 128 bits would mean something else than it says.
    const isMapped = isIP(address) === 6 && family === 'ipv4' && bits !== undefined
    if (plain === undefined || rest.length > 0 || prefix < 1 || prefix > all || isMapped) throw unusable()
    list.addSubnet(plain, prefix, family)
  }
  return list
}

// What stands there is not repeated: it may be the value of another variable.
function unusable(): BrokerError {
  return new BrokerError(
    'InvalidRequestError',
    'BROKER_TRUSTED_PROXIES must be addresses or CIDRs, separated by commas, such as 10.0.0.5,fd00:1::/64',
  )
}
