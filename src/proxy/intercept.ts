import type { Socket } from 'node:net'
import { type Authority, parseAuthority } from '../network/index.ts'
import type { Route } from '../schemas/index.ts'
import { lastRefusal } from './http1/index.ts'
import {
  ABSOLUTE_FORM,
  authorityMismatch,
  BAD_AUTHORITY,
  METHOD_NOT_ALLOWED,
  pathOf,
  plaintextRefused,
  type Refusal,
  type RequestHead,
} from './messages/index.ts'
import { type Judge, relay, relayStreams, type Services, type Verdict } from './relay.ts'
import { type RouteTable, routesForPath } from './route-table.ts'
import { signedOrder } from './signed-order.ts'
import { askedServerName, type CertificateAuthority, endTls } from './tls/index.ts'

interface Interception {
  /** The authority of the CONNECT: the only one that a request on this connection may name. */
  readonly target: Authority
  readonly routes: RouteTable
  readonly certificates: CertificateAuthority
  readonly services: Services
}

export const TLS_HANDSHAKE = 0x16
const HANDSHAKE_TIME_LIMIT = 10_000

/** Takes over a connection whose CONNECT was answered with 200: ends its TLS and judges each request on it. */
export function intercept(child: Socket, interception: Interception): void {
  const timer = setTimeout(() => child.destroy(), HANDSHAKE_TIME_LIMIT).unref()
  child.once('close', () => clearTimeout(timer))
  child.once('end', () => child.destroy())
  child.once('data', (first: Buffer) => {
    child.pause()
    child.unshift(first)
    if (first[0] === TLS_HANDSHAKE) terminateTls(child, interception, () => clearTimeout(timer))
    else refusePlaintext(child, interception.target, interception.services)
  })
  child.resume()
}

/** Answers what a child sends in the clear to a host whose credential goes over TLS alone. */
export function refusePlaintext(child: Socket, target: Authority, services: Services): void {
  const refusal = plaintextRefused(target)
  recordDenied(services, refusal, target, undefined)
  child.end(lastRefusal(refusal))
  child.resume()
}

function terminateTls(child: Socket, interception: Interception, done: () => void): void {
  const { target, certificates, services } = interception
  const socket = endTls(child, certificates.secureContextFor(target.host))
  socket.on('error', (error) => {
    services.log({ event: 'child_tls_failed', host: target.host, reason: error.message })
    child.destroy()
  })
  socket.once('secure', () => {
    done()
    const named = askedServerName(socket) === target.host
    const judge = judgeFor(interception, named)
    if (socket.alpnProtocol === 'h2') relayStreams({ socket, scheme: 'https', judge, services })
    else relay({ socket, transport: child, judge, services })
  })
}

function judgeFor({ target, routes, services }: Interception, serverNameMatches: boolean): Judge {
  return {
    judge: (head) =>
      serverNameMatches
        ? judgeRequest(head, target, { routes: routes.match(target), defaultPort: 443 })
        : refuse(authorityMismatch(target.host)),
    refused: (refusal, head) => recordDenied(services, refusal, target, head),
  }
}

/** Decides on a request on a connection to `target`. @param defaultPort of a Host that names none */
export function judgeRequest(
  head: RequestHead,
  target: Authority,
  { routes: all, defaultPort }: { readonly routes: readonly Route[]; readonly defaultPort: number },
): Verdict {
  if (head.method === 'TRACE' || head.method === 'CONNECT' || head.target === '*') return refuse(METHOD_NOT_ALLOWED)
  if (!head.target.startsWith('/')) return refuse(ABSOLUTE_FORM)
  const named = parseAuthority(head.host, defaultPort)
  if (named === null) return refuse(BAD_AUTHORITY)
  if (head.namesTwoHosts || named.host !== target.host || named.port !== target.port)
    return refuse(authorityMismatch(target.host))
  const path = pathOf(head.target)
  const routes = routesForPath(all, path)
  const plain = { kind: 'forward', target, requestTarget: head.target, proxyFields: [] } as const
  if (routes.some(({ signs }) => signs)) {
    const signed = signedOrder(head, target)
    if (signed !== undefined && 'status' in signed) return refuse(signed)
    return { ...plain, question: signed?.question, ...(signed && { signed }) }
  }
  const question = routes.length > 0 ? { host: target.host, port: target.port, method: head.method, path } : undefined
  return { ...plain, question }
}

function refuse(refusal: Refusal): Verdict {
  return { kind: 'refuse', refusal }
}

/** Ships `proxy.denied` for a request that never became an exchange. */
export function recordDenied(
  { audit, log }: Services,
  refusal: Refusal,
  target: Authority,
  head: RequestHead | undefined,
): void {
  // Any other form of target may hold a user's name and password.
  const path = head?.target.startsWith('/') ? pathOf(head.target).slice(0, 8192) : ''
  log({ event: 'refused', host: target.host, reason: refusal.reason })
  audit.record({
    event: 'proxy.denied',
    status: 'denied',
    reason: refusal.reason,
    request: { method: head?.method ?? 'CONNECT', host: target.host, port: target.port, path, status: refusal.status },
  })
}
