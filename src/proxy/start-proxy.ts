import { randomBytes } from 'node:crypto'
import { createServer, isIP, type Socket } from 'node:net'
import type { ResolvedCredential } from '../injection/index.ts'
import type { Authority } from '../network/index.ts'
import { BrokerError, Secret } from '../protocol/index.ts'
import type { ResolveRequest, Routes } from '../schemas/index.ts'
import { type AddressGuard, createAddressGuard, isThisMachine } from './address-guard.ts'
import { AuditShipper, type EventBatch } from './audit-shipper.ts'
import type { ConnectTo } from './connect-to.ts'
import type { CorporateProxy } from './corporate-proxy.ts'
import { CredentialQuestions } from './credential-questions.ts'
import { Dialer, hasNoCommonVersion } from './dial.ts'
import { type Admission, type DescribeRun, FrontDoor } from './front-door.ts'
import type { Services } from './relay.ts'
import { RouteTable } from './route-table.ts'
import { ServiceConnections, type ServiceDialer } from './service-connections.ts'
import { type CertificateAuthority, createCertificateAuthority } from './tls/index.ts'

/** What the proxy asks of the daemon. */
export interface Broker {
  /**
   * Rejects with BrokerError: ProviderNotFoundError, ConnectionNotFoundError, DaemonUnavailableError and their like.
   * @param count how many requests share the answer
   */
  resolve(request: ResolveRequest, count: number): Promise<ResolvedCredential>
  /** What is connected for this run; `etag` is the version known already. */
  routes(etag?: string): Promise<Routes>
  /** Rejects with DaemonUnavailableError in an outage: the events are sent again, with the same ids. */
  ship(batch: EventBatch): Promise<void>
}

export interface ProxyOptions {
  readonly broker: Broker
  /** The routes at the start; `routesChanged` keeps them up to date. */
  readonly routes: Routes
  /** Patterns of further hosts for which something may be connected later: the run's authority covers them too. */
  readonly coverable?: readonly string[]
  readonly runId: string
  /** Refuse every host that no connected provider matches. */
  readonly strict: boolean
  /** Hosts that are tunnelled although `strict` refuses others; at any port where none is named. */
  readonly allowed?: readonly { readonly host: string; readonly port?: number }[]
  /** False where the child is kept from servers on this machine: then none is reached but those of connections, and these ports. True where absent. */
  readonly hasOwnMachine?: boolean
  readonly ports?: readonly number[]
  /** Further roots (PEM) for upstream TLS, beside Node's own and the system's. */
  readonly upstreamCa: readonly string[]
  readonly connectTo: readonly ConnectTo[]
  readonly corporateProxy?: CorporateProxy
  /** Never reachable through the proxy. */
  readonly daemonAddresses: readonly Authority[]
  /** What the child must present; random where absent. */
  readonly password?: Secret
  /**
   * Opens a second listener, for clients that cannot present credentials: whom this lets in needs none. Both ports are on
   * 127.0.0.1.
   */
  readonly admits?: (connection: { readonly peerPort: number; readonly ownPort: number }) => boolean
  /** Nothing is told where absent. */
  readonly describe?: DescribeRun
  /** Debug log; gets nothing secret. */
  readonly log: (event: object) => void
}

export interface RunningProxy {
  /** On 127.0.0.1. */
  readonly port: number
  /** On 127.0.0.1, for those whom `admits` lets in without credentials; undefined without it. */
  readonly openPort: number | undefined
  /** What the child must present as Basic proxy credentials. */
  readonly credentials: { readonly username: string; readonly password: Secret }
  /** The root that the child must trust (PEM); undefined where nothing is routed, nor can be. */
  readonly caPem: string | undefined
  /** base64 of the SHA-256 of the public key that its certificates are for; undefined as above. */
  readonly keyPin: string | undefined
  /** Host patterns that are intercepted now. */
  readonly interceptedHosts: readonly string[]
  /**
   * Has the daemon asked which routes there are now: call it when they may have changed. Settled once the table has them, or
   * the daemon could not be asked. The proxy calls it by itself every five seconds.
   */
  routesChanged(): Promise<void>
  /** Sends the audit events that are left; gives up after about 3 s. */
  flush(): Promise<void>
  /** Flushes, then closes every connection. */
  close(): Promise<void>
}

const USERNAME = 'broker'
const ROUTES_EVERY = 5_000

/** 192 random bits, for one run. */
export function newProxyPassword(): Secret {
  return new Secret(randomBytes(24).toString('base64url'))
}

/** Starts the proxy on a free port of 127.0.0.1. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { broker, log, runId } = options
  const certificates = authorityFor(options)
  const routes = new RouteTable(options.routes, (host) => certificates?.covers(host) === true)
  const redirectGuard = createAddressGuard(options.daemonAddresses)
  const guard = guardOf(options, redirectGuard, (target) => routes.matchPlain(target).length > 0)
  const dialer = new Dialer({
    ...options,
    guard,
    redirectGuard,
    corporateProxy: options.corporateProxy,
    staysHere: (target) => routes.matchPlain(target).length > 0,
  })
  const audit = new AuditShipper({ ship: (batch) => broker.ship(batch), runId, log })
  const refresh = refreshRoutes(options, routes)
  const questions = new CredentialQuestions((request, count) =>
    resolveOrRefresh(broker, { request, count }, () => void refresh.now()),
  )
  const secure = new ServiceConnections(overTls(dialer))
  const plain = new ServiceConnections(inTheClear(dialer))
  const relays: Services['relays'] = new Set()
  const shared = { questions, audit, relays, log }
  const { admits, password = newProxyPassword() } = options
  const door = new FrontDoor({
    authorization: new Secret(`Basic ${Buffer.from(`${USERNAME}:${password.reveal()}`).toString('base64')}`),
    routes,
    strict: options.strict,
    allowed: options.allowed ?? [],
    guard,
    dialer,
    certificates,
    services: { ...shared, upstreams: secure, dialled: (target) => dialer.dialledOverTls(target) },
    plainServices: { ...shared, upstreams: plain, dialled: (target) => dialer.dialledInTheClear(target) },
    describe: options.describe ?? (() => '{}'),
  })

  const children = new Set<Socket>()
  const accept = (child: Socket, admission: Admission) => {
    children.add(child)
    child.once('close', () => children.delete(child))
    door.accept(child, admission)
  }
  const server = createServer(SOCKET_OPTIONS, (child) => accept(child, 'by credentials'))
  const openServer = admits && createServer(SOCKET_OPTIONS, (child) => accept(child, admission(child, admits)))
  const [port, openPort] = await Promise.all([listen(server), openServer && listen(openServer)])
  for (const one of [server, openServer]) {
    // A connection that could not be taken, as without memory or descriptors: the next one may be.
    one?.on('error', (error) => log({ event: 'connection_not_taken', reason: error.message }))
  }
  return {
    port,
    openPort,
    credentials: { username: USERNAME, password },
    caPem: certificates?.caPem,
    keyPin: certificates?.keyPin,
    get interceptedHosts() {
      return routes.hosts
    },
    routesChanged: () => refresh.now(),
    flush: () => audit.flush(),
    async close() {
      refresh.stop()
      server.close()
      openServer?.close()
      for (const relay of relays) relay.abandon()
      for (const child of children) child.destroy()
      secure.close()
      plain.close()
      await audit.flush()
      audit.close()
    },
  }
}

function overTls(dialer: Dialer): ServiceDialer {
  return {
    scheme: 'https',
    dial: (target, versions) => dialer.tls(target, versions),
    versionOf: (socket) => ('alpnProtocol' in socket && socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1'),
    wantsHttp2: hasNoCommonVersion,
  }
}

/** Nobody says there what a service speaks: it is spoken to as the child does. */
function inTheClear(dialer: Dialer): ServiceDialer {
  return {
    scheme: 'http',
    dial: (target) => dialer.http(target),
    versionOf: (_, [first = 'http/1.1']) => first,
    wantsHttp2: () => false,
  }
}

/** Of a child that is kept from this machine. */
function guardOf(
  { hasOwnMachine = true, ports = [] }: ProxyOptions,
  guard: AddressGuard,
  isConnected: (target: Authority) => boolean,
): AddressGuard {
  if (hasOwnMachine) return guard
  return (target) =>
    guard(target) ??
    (isThisMachine(target.host) && !ports.includes(target.port) && !isConnected(target) ? 'own_machine' : undefined)
}

const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true } as const

function admission({ remotePort, localPort }: Socket, admits: NonNullable<ProxyOptions['admits']>): Admission {
  if (remotePort === undefined || localPort === undefined) return 'by credentials'
  return admits({ peerPort: remotePort, ownPort: localPort }) ? 'granted' : 'by credentials'
}

function listen(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      server.off('error', reject)
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address.port)
    })
  })
}

async function resolveOrRefresh(
  broker: Broker,
  { request, count }: { readonly request: ResolveRequest; readonly count: number },
  refresh: () => void,
): Promise<ResolvedCredential> {
  try {
    return await broker.resolve(request, count)
  } catch (error) {
    const isGone =
      error instanceof BrokerError &&
      (error.name === 'ProviderNotFoundError' || error.name === 'ConnectionNotFoundError')
    if (isGone) refresh()
    throw error
  }
}

/** Keeps the table up to date; in an outage the routes stay as they are. */
function refreshRoutes(
  { broker, routes, log }: ProxyOptions,
  table: RouteTable,
): { now(): Promise<void>; stop(): void } {
  let { version } = routes
  const refresh = async () => {
    try {
      const latest = await broker.routes(version)
      if (latest.version !== version) learn(table, latest, log)
      version = latest.version
    } catch (error) {
      log({ event: 'routes_not_refreshed', reason: error instanceof Error ? error.name : 'unknown' })
    }
  }
  const now = oneAtATime(refresh)
  const timer = setInterval(() => void now(), ROUTES_EVERY)
  timer.unref()
  return { now, stop: () => clearInterval(timer) }
}

/** Who asks while it runs waits for one that begins afterwards: what runs may have read what was there before. */
function oneAtATime(act: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = () => {
    running = act().finally(() => {
      running = undefined
    })
    return running
  }
  return () => {
    if (running === undefined) return begin()
    next ??= running.then(() => {
      next = undefined
      return begin()
    })
    return next
  }
}

/** Undefined where there is no host that it could be for: then no tool has to trust anything. */
function authorityFor({ routes, coverable = [] }: ProxyOptions): CertificateAuthority | undefined {
  const routed = routes.routes.filter(({ host, plain }) => !plain && isIP(host) === 0).map(({ host }) => host)
  const hosts = [...routed, ...coverable.filter((host) => isIP(host) === 0)]
  return hosts.length === 0 ? undefined : createCertificateAuthority(hosts, new Date(), () => new Date())
}

function learn(table: RouteTable, latest: Routes, log: ProxyOptions['log']): void {
  const { missedHosts } = table.learn(latest)
  if (missedHosts.length > 0) log({ event: 'routes_not_intercepted', hosts: missedHosts })
}
