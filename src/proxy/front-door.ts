import { createHash, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import { type Authority, formatAuthority, isCommonLoopback, parseAuthority } from '../network/index.ts'
import { INNER_RUN_PATH, RUN_DESCRIPTION_PATH, type Secret } from '../protocol/index.ts'
import type { ResolveRequest } from '../schemas/index.ts'
import type { AddressGuard } from './address-guard.ts'
import { type Dialer, proxyAuthorization } from './dial.ts'
import { lastRefusal } from './http1/index.ts'
import { intercept, recordDenied, refusePlaintext } from './intercept.ts'
import {
  addressRefused,
  BAD_AUTHORITY,
  DialError,
  HOST_CONFLICT,
  isBodiless,
  METHOD_NOT_ALLOWED,
  NOT_A_PROXY_REQUEST,
  newRunNeeded,
  PROXY_CREDENTIALS_WANTED,
  pathOf,
  plaintextRefused,
  type Refusal,
  type RequestHead,
  strictRefused,
  TUNNEL_WANTED,
} from './messages/index.ts'
import { UNTOUCHED_HEADER } from './outer-run.ts'
import { readPlainTunnel } from './plain-tunnel.ts'
import { type ConnectOrder, relay, type Services, type Verdict } from './relay.ts'
import { type RouteTable, routesForPath } from './route-table.ts'
import type { CertificateAuthority } from './tls/index.ts'
import { joinSockets } from './tunnel.ts'
import { WaitingConnections } from './waiting-connections.ts'

interface FrontDoorOptions {
  /** The whole value that `Proxy-Authorization` must have. */
  readonly authorization: Secret
  readonly routes: RouteTable
  readonly strict: boolean
  /** What is tunnelled all the same where it is strict. */
  readonly allowed: readonly { readonly host: string; readonly port?: number }[]
  readonly guard: AddressGuard
  readonly dialer: Dialer
  /** Absent where nothing is routed. */
  readonly certificates: CertificateAuthority | undefined
  /** For intercepted requests, over TLS. */
  readonly services: Services
  /** For plain http. */
  readonly plainServices: Services
  readonly describe: DescribeRun
}

/** Returns JSON for a run that is started within this one: what it has to know, or with its did:key that it is within. */
export type DescribeRun = (inner: string | undefined) => string

/** Whether a connection still has to show credentials. */
export type Admission = 'granted' | 'by credentials'

const CONNECTED = 'HTTP/1.1 200 Connection Established\r\n\r\n'

/** Where the child's connections come in: CONNECT to be intercepted or tunnelled, and plain http. */
export class FrontDoor {
  readonly #options: FrontDoorOptions
  readonly #authorization: Buffer
  readonly #waiting = new WaitingConnections()

  constructor(options: FrontDoorOptions) {
    this.#options = options
    this.#authorization = digest(options.authorization.reveal())
  }

  accept(child: Socket, admission: Admission): void {
    child.setNoDelay(true)
    this.#waiting.add(child)
    relay({
      socket: child,
      transport: child,
      services: this.#options.plainServices,
      judge: {
        judge: (head) => this.#judge(child, head, admission),
        refused: (refusal, head) => this.#refused(refusal, head),
        connect: (order, rest) => this.#connect(child, order, rest),
      },
    })
  }

  #judge(child: Socket, head: RequestHead, admission: Admission): Verdict {
    const isConnect = head.method === 'CONNECT'
    const inner = head.target.startsWith(INNER_RUN_PATH) ? head.target.slice(INNER_RUN_PATH.length) : undefined
    const isOfRun = head.method === 'GET' && (inner !== undefined || head.target === RUN_DESCRIPTION_PATH)
    if (!isConnect && !isOfRun && head.target.startsWith('/')) return refuse(NOT_A_PROXY_REQUEST)
    if (admission !== 'granted' && !this.#isAuthorized(head)) return refuse(PROXY_CREDENTIALS_WANTED)
    this.#waiting.admit(child)
    if (isOfRun) return { kind: 'answer', body: this.#options.describe(inner) }
    return isConnect ? this.#judgeConnect(head) : this.#judgePlain(head)
  }

  #isAuthorized({ fields }: RequestHead): boolean {
    const given = fields.filter(({ name }) => name === 'proxy-authorization').map(({ value }) => value)
    const [value = ''] = given
    return given.length === 1 && timingSafeEqual(digest(value.replace(/^basic +/i, 'Basic ')), this.#authorization)
  }

  #judgeConnect(head: RequestHead): Verdict {
    const target = parseAuthority(head.target)
    if (target === null || !isBodiless(head.framing)) return refuse(BAD_AUTHORITY)
    const isUntouched = head.fields.some(({ name }) => name === UNTOUCHED_HEADER.toLowerCase())
    const refusal = this.#refusalFor(target)
    if (refusal !== undefined) return refuse(refusal)
    if (!isUntouched && this.#options.routes.needsNewRun(target)) return refuse(newRunNeeded(target.host))
    return { kind: 'connect', target, isUntouched }
  }

  #judgePlain(head: RequestHead): Verdict {
    const target = plainTarget(head)
    if (target === null) return refuse(/^https:/i.test(head.target) ? TUNNEL_WANTED : BAD_AUTHORITY)
    if (head.method === 'TRACE') return refuse(METHOD_NOT_ALLOWED)
    const named = parseAuthority(head.host, 80)
    if (named === null || formatAuthority(named) !== formatAuthority(target)) return refuse(HOST_CONFLICT)
    if (this.#isForTlsAlone(target)) return refuse(plaintextRefused(target))
    const refusal = this.#refusalFor(target)
    if (refusal !== undefined) return refuse(refusal)
    const question = this.#plainQuestion(target, head)
    const proxy = this.#options.dialer.httpProxyFor(target)
    const requestTarget = proxy === undefined ? originForm(head) : head.target
    const proxyFields = proxy === undefined ? [] : proxyAuthorization(proxy)
    return { kind: 'forward', target, requestTarget, proxyFields, question }
  }

  /** On this machine each port is a server of its own: what listens beside a routed one is none of ours. */
  #isForTlsAlone(target: Authority): boolean {
    const { routes } = this.#options
    if (routes.matchPlain(target).length > 0) return false
    return isCommonLoopback(target.host) ? routes.match(target).length > 0 : routes.knowsHost(target.host)
  }

  /** What the daemon is asked about a request in the clear: only one to this machine can carry a credential. */
  #plainQuestion(target: Authority, { method, target: url }: RequestHead): ResolveRequest | undefined {
    const path = pathOf(HTTP_URL.exec(url)?.[2] || '/')
    const routes = routesForPath(this.#options.routes.matchPlain(target), path)
    return routes.length > 0 ? { host: target.host, port: target.port, method, path } : undefined
  }

  #refusalFor(target: Authority): Refusal | undefined {
    const forbidden = this.#options.guard(target)
    if (forbidden !== undefined) return addressRefused(forbidden)
    const { routes, strict } = this.#options
    // A client that leaves a host out in favour of one of its ports would have gone to the others by itself.
    const isRouted = routes.match(target).length > 0 || routes.speaksPlain(target.host)
    return strict && !isRouted && !this.#isAllowed(target) ? strictRefused(target.host) : undefined
  }

  #isAllowed({ host, port }: Authority): boolean {
    return this.#options.allowed.some((one) => one.host === host && (one.port ?? port) === port)
  }

  #refused(refusal: Refusal, head: RequestHead | undefined): void {
    if (head === undefined) return
    // A client that waits to be asked for its credentials is no intruder.
    const hasCredentials = head.fields.some(({ name }) => name === 'proxy-authorization')
    if (refusal === PROXY_CREDENTIALS_WANTED && !hasCredentials) return
    const target = head.method === 'CONNECT' ? parseAuthority(head.target) : plainTarget(head)
    if (target !== null) recordDenied(this.#options.services, refusal, target, head)
  }

  #connect(child: Socket, { target, isUntouched }: ConnectOrder, rest: Buffer): void {
    const { certificates, routes, services } = this.#options
    if (rest.length > 0) child.unshift(rest)
    if (!isUntouched && routes.matchPlain(target).length > 0) {
      child.write(CONNECTED)
      const untouched = () => void this.#tunnel(child, target, 'answered')
      readPlainTunnel(child, { target, routes, services: this.#options.plainServices, untouched })
      return
    }
    if (isUntouched || certificates === undefined || routes.match(target).length === 0) {
      void this.#tunnel(child, target)
      return
    }
    child.write(CONNECTED)
    intercept(child, { target, routes, certificates, services })
  }

  async #tunnel(child: Socket, target: Authority, connect: 'open' | 'answered' = 'open'): Promise<void> {
    try {
      const upstream = await this.#options.dialer.tunnel(target)
      if (child.destroyed || upstream.destroyed) {
        child.destroy()
        upstream.destroy()
        return
      }
      if (connect === 'open') child.write(CONNECTED)
      // Clients send plain http by CONNECT, too; on a host that is routed it is refused, whatever the port.
      if (this.#isForTlsAlone(target)) this.#joinUnlessPlaintext(child, upstream, target)
      else joinSockets(child, upstream)
    } catch (error) {
      if (!(error instanceof DialError)) throw error
      if (error.refusal.status === 403) recordDenied(this.#options.services, error.refusal, target, undefined)
      if (connect === 'open') child.end(lastRefusal(error.refusal))
      else child.destroy()
      child.resume()
    }
  }

  /** Joins them once it is known what the child speaks, or that it lets the service speak first. */
  #joinUnlessPlaintext(child: Socket, upstream: Socket, target: Authority): void {
    const gone = () => {
      child.destroy()
      upstream.destroy()
    }
    const decide = (first?: Buffer) => {
      child.off('data', decide)
      upstream.off('readable', serviceSpeaks)
      for (const socket of [child, upstream]) socket.off('close', gone)
      child.pause()
      if (first !== undefined && PLAIN_REQUEST.test(first.toString('latin1', 0, 32))) {
        upstream.destroy()
        refusePlaintext(child, target, this.#options.services)
        return
      }
      if (first !== undefined) child.unshift(first)
      joinSockets(child, upstream)
    }
    const serviceSpeaks = () => decide()
    child.once('data', decide)
    upstream.once('readable', serviceSpeaks)
    for (const socket of [child, upstream]) socket.once('close', gone)
    child.resume()
  }
}

/** The beginning of a request line; no other protocol whose client speaks first begins so. */
const PLAIN_REQUEST = /^(?:[A-Z]{3,20} \/|PRI \* HTTP\/2)/

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'latin1').digest()
}

function refuse(refusal: Refusal): Verdict {
  return { kind: 'refuse', refusal }
}

const HTTP_URL = /^http:\/\/([^/?]*)(.*)$/i

/** The authority of an absolute `http://` target; null for any other form, and for one with user information. */
function plainTarget({ target }: RequestHead): Authority | null {
  return parseAuthority(HTTP_URL.exec(target)?.[1] ?? '', 80)
}

function originForm({ target }: RequestHead): string {
  const rest = HTTP_URL.exec(target)?.[2] ?? ''
  return rest.startsWith('/') ? rest : `/${rest}`
}
