import { once } from 'node:events'
import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Place, ResolvedCredential } from '../injection/index.ts'
import { hostOf } from '../network/index.ts'
import { Secret } from '../protocol/index.ts'
import type { ResolveRequest, Route, Routes, ShippedEvent } from '../schemas/index.ts'
import { type ProxyOptions, type RunningProxy, startProxy } from './start-proxy.ts'
import { createCertificateAuthority } from './tls/certificate-authority.ts'

/** The world around one proxy under test: services on loopback, and a daemon that is a small object. */

export const CREDENTIAL = 'Bearer sk-CNRY5f0c2d'

export function route(host: string, more: Partial<Route> = {}): Route {
  return { provider: 'prov', connection: 'default', host, port: 443, ...more } as Route
}

/** What a test injects, by kind of place. */
export interface Injected {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly cookies?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, string>>
  /** In the first three messages of a WebSocket, by JSON pointer. */
  readonly messages?: Readonly<Record<string, string>>
  readonly path?: { readonly name: string; readonly value: string }
  /** Names of headers that are set only where the child sent none. */
  readonly ifAbsent?: readonly string[]
  readonly version?: number
}

export function resolution(more: Injected = {}): ResolvedCredential {
  const { headers = { Authorization: CREDENTIAL }, query = {}, cookies = {}, body = {}, messages = {} } = more
  const { path, ifAbsent = [], version } = more
  const all = (kind: Place['in'], named: Readonly<Record<string, string>>) =>
    Object.entries(named).map(([name, value]): Place => ({ in: kind, name, value: new Secret(value) }))
  const places = [
    ...all('header', headers).map((place) =>
      ifAbsent.includes(place.name) ? ({ ...place, onlyIfAbsent: true } as const) : place,
    ),
    ...all('query', query),
    ...all('cookie', cookies),
    ...all('body', body),
    ...all('websocket', messages).map((place) => ({ ...place, frames: 3 })),
    ...(path ? all('path', { [path.name]: path.value }) : []),
  ]
  return { provider: 'prov', connection: 'default', places, ...(version !== undefined && { version }) }
}

interface FakeDaemon {
  readonly asked: ResolveRequest[]
  readonly events: ShippedEvent[]
  resolve: (request: ResolveRequest) => Promise<ResolvedCredential>
  ship: (events: readonly ShippedEvent[]) => Promise<void>
  /** Set where there are others than at the start. */
  routes?: () => Promise<Routes>
}

export function daemon(): FakeDaemon {
  const events: ShippedEvent[] = []
  return {
    asked: [],
    events,
    resolve: async () => resolution(),
    ship: async (batch) => void events.push(...batch),
  }
}

interface Origin {
  readonly port: number
  /** What every client sent, in order; the first MiB of it. */
  received(): string
  readonly sockets: ReadonlySet<Socket>
  readonly connections: () => number
  /** Resets every connection. */
  reset(): void
}

const MAX_KEPT = 1_048_576

type OnConnection = (socket: Socket) => void

const authorities = new Map<string, ReturnType<typeof createCertificateAuthority>>()

/** A made-up world's own root for `*.test`. */
export function testAuthority(now = new Date()) {
  const known = authorities.get('test') ?? createCertificateAuthority(['*.test'], now)
  authorities.set('test', known)
  return known
}

/** A raw TLS service: `onConnection` speaks for it. */
export async function tlsOrigin(
  t: TestContext,
  onConnection: OnConnection,
  authority = testAuthority(),
  protocols: readonly string[] = ['http/1.1'],
): Promise<Origin> {
  const server = createTlsServer(
    {
      SNICallback: (name, done) => done(null, authority.secureContextFor(name)),
      ALPNProtocols: [...protocols],
      minVersion: 'TLSv1.2',
    },
    (socket: TLSSocket) => accept(socket),
  )
  server.on('tlsClientError', () => {})
  const { accept, origin } = await listening(t, server, onConnection)
  return origin
}

export async function tcpOrigin(t: TestContext, onConnection: OnConnection): Promise<Origin> {
  const server = createServer({ allowHalfOpen: true }, (socket) => accept(socket))
  const { accept, origin } = await listening(t, server, onConnection)
  return origin
}

async function listening(t: TestContext, server: Server, onConnection: OnConnection) {
  const sockets = new Set<Socket>()
  const chunks: Buffer[] = []
  let connections = 0
  let kept = 0
  const raw = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    raw.add(socket)
    socket.on('error', () => {})
  })
  const accept = (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      kept += chunk.length
      if (kept <= MAX_KEPT) chunks.push(chunk)
    })
    onConnection(socket)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of raw) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const origin: Origin = {
    port,
    sockets,
    received: () => Buffer.concat(chunks).toString('latin1'),
    connections: () => connections,
    reset: () => {
      for (const socket of raw) socket.resetAndDestroy()
    },
  }
  return { accept, origin }
}

/** Answers each complete bodiless request head with `answer`, and each body after it is swallowed. */
export function answering(answer: string | ((head: string) => string)): OnConnection {
  return (socket) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end + 4)
        const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
        if (text.length < end + 4 + length) return
        text = text.slice(end + 4 + length)
        socket.write(typeof answer === 'string' ? answer : answer(head), 'latin1')
      }
    })
  }
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

interface Stage {
  readonly proxy: RunningProxy
  readonly daemon: FakeDaemon
  readonly logs: object[]
}

/** Starts a proxy that dials `origins[name]` for `name:443` (and `name:80`), and closes it after the test. */
export async function stage(
  t: TestContext,
  origins: Readonly<Record<string, Origin>>,
  options: Partial<ProxyOptions> & { readonly daemon?: FakeDaemon; readonly route?: readonly Route[] } = {},
): Promise<Stage> {
  const fake = options.daemon ?? daemon()
  const logs: object[] = []
  const routes = { routes: [...(options.route ?? [route('api.prov.test')])], version: '1' }
  const proxy = await startProxy({
    broker: {
      resolve: (request) => {
        fake.asked.push(request)
        return fake.resolve(request)
      },
      routes: async () => fake.routes?.() ?? routes,
      ship: ({ events }) => fake.ship(events),
    },
    routes,
    runId: 'run-1',
    strict: false,
    upstreamCa: [testAuthority().caPem],
    connectTo: Object.entries(origins).map(([host, { port }]) => ({
      host: hostOf(host),
      port: 0,
      toHost: hostOf('127.0.0.1'),
      toPort: port,
    })),
    daemonAddresses: [],
    log: (event) => logs.push(event),
    ...options,
  })
  t.after(() => proxy.close())
  return { proxy, daemon: fake, logs }
}

/** A raw client: what it received so far, and a wait until that holds something. */
export class Client {
  readonly socket: Socket
  #chunks: Buffer[] = []
  #wake = () => {}
  closed = false
  /** Whether the other side said its end, and did not just vanish. */
  endedInOrder = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#wake()
    })
    socket.on('error', () => {})
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.endedInOrder ||= event === 'end'
        this.closed = true
        this.#wake()
      })
    }
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('latin1')
  }

  send(text: string): void {
    this.socket.write(text, 'latin1')
  }

  /** Resolves with all text once `done` holds; rejects when the connection ends before. */
  async until(done: RegExp | ((text: string) => boolean)): Promise<string> {
    const holds = () => (typeof done === 'function' ? done(this.text) : done.test(this.text))
    while (!holds()) {
      if (this.closed) throw new Error(`closed after ${JSON.stringify(this.text)}`)
      await this.#change()
    }
    return this.text
  }

  async untilClosed(): Promise<string> {
    while (!this.closed) await this.#change()
    return this.text
  }

  /** Forgets what was received. */
  clear(): void {
    this.#chunks = []
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

export function authorizationLine({ credentials }: RunningProxy): string {
  const pair = Buffer.from(`${credentials.username}:${credentials.password.reveal()}`).toString('base64')
  return `Proxy-Authorization: Basic ${pair}\r\n`
}

/** A TCP connection to the proxy. */
export function openPlain(t: TestContext, proxy: RunningProxy): Client {
  const socket = connectTcp({ host: '127.0.0.1', port: proxy.port, allowHalfOpen: true })
  t.after(() => socket.destroy())
  return new Client(socket)
}

/** Sends CONNECT and gives the socket behind its 200. */
export async function openTunnel(t: TestContext, proxy: RunningProxy, target: string): Promise<Socket> {
  const client = openPlain(t, proxy)
  client.send(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorizationLine(proxy)}\r\n`)
  const answer = await client.until(/\r\n\r\n/)
  if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(answer)
  client.socket.removeAllListeners('data')
  return client.socket
}

export interface TlsOptions {
  readonly servername?: string
  readonly connect?: string
}

/** CONNECT and TLS to `host`, trusting the run's CA. */
export async function openTls(
  t: TestContext,
  proxy: RunningProxy,
  host: string,
  { servername = host, connect = `${host}:443` }: TlsOptions = {},
): Promise<Client> {
  const socket = await openTunnel(t, proxy, connect)
  const tls = connectTls({ socket, servername, ca: proxy.caPem, checkServerIdentity: () => undefined })
  tls.on('error', () => {})
  t.after(() => tls.destroy())
  await once(tls, 'secureConnect')
  return new Client(tls)
}

/** One request through a fresh connection; resolves with the answer once `done` holds. */
export async function ask(
  t: TestContext,
  proxy: RunningProxy,
  host: string,
  request: string,
  done: RegExp = /\r\n\r\n(?:ok|\{.*\})$/s,
): Promise<string> {
  const client = await openTls(t, proxy, host)
  client.send(request)
  return client.until(done)
}
