import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Authority, authority, formatAuthority, isUnknownAuthority } from '../network/index.ts'
import type { AddressGuard, ForbiddenAddress } from './address-guard.ts'
import { type ConnectTo, redirectDial } from './connect-to.ts'
import { type CorporateProxy, corporateProxyFor, type ProxyEndpoint } from './corporate-proxy.ts'
import { lineOf } from './http1/index.ts'
import {
  addressRefused,
  DialError,
  type Field,
  type HttpVersion,
  outerRunRefused,
  type Refusal,
  type UpstreamProblem,
  unknownAuthority,
  upstreamUnreachable,
} from './messages/index.ts'
import { ConnectRefused, connectAnswer, opened } from './open-socket.ts'
import { UNTOUCHED_HEADER } from './outer-run.ts'
import { issuerOfUntrusted, UpstreamTls } from './tls/index.ts'

interface DialOptions {
  readonly guard: AddressGuard
  /** Guards what `connectTo` leads to, which the operator said; as `guard` where absent. */
  readonly redirectGuard?: AddressGuard
  readonly connectTo: readonly ConnectTo[]
  readonly corporateProxy: CorporateProxy | undefined
  readonly upstreamCa: readonly string[]
  /** Of plain http: whether the target is a server on this machine that gets a credential, which nobody else must see. */
  readonly staysHere?: (target: Authority) => boolean
  /** Milliseconds for the whole way to a usable connection; 15,000 by default. */
  readonly timeLimit?: number
}

const TIME_LIMIT = 15_000

/**
 * Opens upstream connections: through the corporate proxy where one is set, to the address that was checked, with
 * TLS verified whatever the environment says. Every method rejects with {@link DialError}.
 */
export class Dialer {
  readonly #options: DialOptions
  readonly #tls: UpstreamTls

  constructor(options: DialOptions) {
    this.#options = options
    this.#tls = new UpstreamTls(options.upstreamCa)
  }

  /** The proxy that a plain http request to `target` is handed to, if any. */
  httpProxyFor(target: Authority): ProxyEndpoint | undefined {
    return this.#staysHere(target) ? undefined : corporateProxyFor(this.#options.corporateProxy, 'http', target)
  }

  /** Returns where a request over TLS is sent in place of its host's own address: there, or to a proxy; undefined for neither. */
  dialledOverTls(target: Authority): string | undefined {
    return this.#dialledElsewhere(target) ?? named(corporateProxyFor(this.#options.corporateProxy, 'https', target))
  }

  /** The same of one over plain http. */
  dialledInTheClear(target: Authority): string | undefined {
    if (this.#staysHere(target)) return undefined
    return named(this.httpProxyFor(target)) ?? this.#dialledElsewhere(target)
  }

  #dialledElsewhere(target: Authority): string | undefined {
    if (this.#options.connectTo.length === 0) return undefined
    const address = formatAuthority(this.#redirected(target))
    return address === formatAuthority(target) ? undefined : address
  }

  /** A TCP connection for a tunnel. */
  tunnel(target: Authority): Promise<Socket> {
    return this.#dial(target, (signal) => this.#reach(target, signal))
  }

  /** A connection for plain http: to the host, or to the proxy that {@link httpProxyFor} names. */
  http(target: Authority): Promise<Socket> {
    if (this.#staysHere(target)) return this.#dial(target, (signal) => this.#connectHere(target, signal))
    const proxy = this.httpProxyFor(target)
    return this.#dial(target, (signal) =>
      proxy === undefined ? this.#connect(this.#redirected(target), signal) : this.#connectToProxy(proxy, signal),
    )
  }

  /** A verified TLS connection that speaks one of `versions`, where the service chooses one. */
  tls(target: Authority, versions: readonly HttpVersion[]): Promise<TLSSocket> {
    return this.#dial(target, async (signal) => {
      const proxy = corporateProxyFor(this.#options.corporateProxy, 'https', target)
      const way =
        proxy === undefined ? this.#direct(this.#redirected(target)) : { socket: await this.#reach(target, signal) }
      const socket = this.#tls.toService(target, way, versions)
      await opened(socket, 'secureConnect', signal).catch(async (error: unknown) => {
        throw isUnknownAuthority(error) ? await this.#namingIssuer(target, signal, error) : error
      })
      return socket
    })
  }

  /** What to set, and for whom, where a service has a certificate of an authority that nobody here knows. */
  async #namingIssuer(target: Authority, signal: AbortSignal, cause: unknown): Promise<unknown> {
    try {
      const issuer = await issuerOfUntrusted(await this.#reach(target, signal), target.host, (socket) =>
        opened(socket, 'secureConnect', signal),
      )
      return new DialError(unknownAuthority(target.host, issuer), cause)
    } catch {
      return cause
    }
  }

  /** Refuses what the name alone gives away; the address is checked where it is looked up. */
  async #dial<S extends Socket>(target: Authority, open: (signal: AbortSignal) => Promise<S>): Promise<S> {
    this.#assertAllowed(target)
    this.#assertAllowed(this.#redirected(target), this.#options.redirectGuard)
    try {
      const socket = await open(AbortSignal.timeout(this.#options.timeLimit ?? TIME_LIMIT))
      socket.setNoDelay(true)
      return socket
    } catch (error) {
      if (error instanceof DialError) throw error
      throw new DialError(upstreamUnreachable(target.host, problemOf(error)), error)
    }
  }

  /** TCP to `target` as a tunnel needs it. */
  #reach(target: Authority, signal: AbortSignal): Promise<Socket> {
    const proxy = corporateProxyFor(this.#options.corporateProxy, 'https', target)
    if (proxy === undefined) return this.#connect(this.#redirected(target), signal)
    return this.#connectThrough(proxy, this.#redirected(target), signal)
  }

  #connect(target: Authority, signal: AbortSignal): Promise<Socket> {
    return opened(connectTcp({ ...this.#direct(target), allowHalfOpen: true }), 'connect', signal)
  }

  #staysHere(target: Authority): boolean {
    return this.#options.staysHere?.(target) === true
  }

  /** To this machine alone, whatever its name stands for, and whatever `connectTo` says. */
  async #connectHere({ host, port }: Authority, signal: AbortSignal): Promise<Socket> {
    const addresses = host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
    let failure: unknown
    for (const address of addresses) {
      try {
        return await opened(connectTcp({ host: address, port, allowHalfOpen: true }), 'connect', signal)
      } catch (error) {
        failure ??= error
      }
    }
    throw failure
  }

  #direct(target: Authority) {
    return { host: target.host, port: target.port, lookup: this.#checkedLookup(target.port) }
  }

  // No guard here: where the operator's own proxy is, is the operator's decision.
  #connectToProxy(proxy: ProxyEndpoint, signal: AbortSignal): Promise<Socket> {
    const { host, port } = proxy
    if (!proxy.tls) return opened(connectTcp({ host, port, allowHalfOpen: true }), 'connect', signal)
    const servername = isIP(host) === 0 ? host : ''
    return opened(this.#tls.toProxy({ host, port }, servername), 'secureConnect', signal)
  }

  async #connectThrough(proxy: ProxyEndpoint, target: Authority, signal: AbortSignal): Promise<Socket> {
    try {
      const socket = await this.#connectToProxy(proxy, signal)
      const named = formatAuthority(target)
      const lines =
        proxyAuthorization(proxy).map(lineOf).join('') + (proxy.isOuterRun ? `${UNTOUCHED_HEADER}: untouched\r\n` : '')
      socket.write(`CONNECT ${named} HTTP/1.1\r\nHost: ${named}\r\n${lines}\r\n`, 'latin1')
      await connectAnswer(socket, signal)
      return socket
    } catch (cause) {
      throw new DialError(refusedBy(proxy, target, cause), cause)
    }
  }

  #redirected(target: Authority): Authority {
    return redirectDial(this.#options.connectTo, target)
  }

  #assertAllowed(target: Authority, guard = this.#options.guard): void {
    const forbidden = guard(target)
    if (forbidden !== undefined) throw new DialError(addressRefused(forbidden))
  }

  /** Looks the name up once; the very addresses that were checked are dialled. */
  #checkedLookup(port: number): LookupFunction {
    return (hostname, options, callback) => {
      dnsLookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        if (error !== null) return callback(error, [])
        const forbidden = firstForbidden(this.#options.guard, addresses, port)
        if (forbidden !== undefined) return callback(new DialError(addressRefused(forbidden)), [])
        const [first] = addresses
        if (options.all || first === undefined) return callback(null, addresses)
        callback(null, first.address, first.family)
      })
    }
  }
}

/** Tells whether the service took TLS, and none of the versions that were offered in it (RFC 7301 section 3.2). */
export function hasNoCommonVersion({ cause }: DialError): boolean {
  return cause instanceof Error && 'code' in cause && NO_COMMON_VERSION.has(String(cause.code))
}

const NO_COMMON_VERSION = new Set([
  'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
  'ERR_SSL_SSL/TLS_ALERT_NO_APPLICATION_PROTOCOL',
])

/** The field that a corporate proxy wants, or none. Goes to that proxy alone. */
export function proxyAuthorization({ authorization }: ProxyEndpoint): readonly Field[] {
  if (authorization === undefined) return []
  return [{ name: 'proxy-authorization', value: authorization.reveal(), spelled: 'Proxy-Authorization' }]
}

function named(endpoint: ProxyEndpoint | undefined): string | undefined {
  return endpoint && formatAuthority(endpoint)
}

function refusedBy({ isOuterRun }: ProxyEndpoint, { host }: Authority, cause: unknown): Refusal {
  if (!isOuterRun) return upstreamUnreachable(host, 'corporate_proxy')
  const isForbidden = cause instanceof ConnectRefused && cause.status === 403
  return isForbidden ? outerRunRefused(host) : upstreamUnreachable(host, 'outer_run')
}

function firstForbidden(
  guard: AddressGuard,
  addresses: readonly LookupAddress[],
  port: number,
): ForbiddenAddress | undefined {
  for (const { address } of addresses) {
    const forbidden = guard(authority(address, port))
    if (forbidden !== undefined) return forbidden
  }
  return undefined
}

const PROBLEMS: Readonly<Record<string, UpstreamProblem>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_name',
  HOSTNAME_MISMATCH: 'tls_name',
  CERT_HAS_EXPIRED: 'tls_dates',
  CERT_NOT_YET_VALID: 'tls_dates',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ENODATA: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EACCES: 'refused',
  EADDRNOTAVAIL: 'refused',
  ETIMEDOUT: 'timeout',
  EMFILE: 'descriptors',
  ENFILE: 'descriptors',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
}

function problemOf(error: unknown): UpstreamProblem {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (error instanceof AggregateError && !(code in PROBLEMS)) return 'refused'
  return PROBLEMS[code] ?? (CERTIFICATE_PROBLEM.test(code) ? 'tls_certificate' : 'tls')
}

// Node's names for the verdicts of OpenSSL; the rarer ones, a violated name constraint among them, are all UNSPECIFIED.
const CERTIFICATE_PROBLEM = /CERT|ISSUER|SELF_SIGNED|CRL|SUBJECT|PATH_LENGTH|PURPOSE|TRUST|HOSTNAME|^UNSPECIFIED$/
