import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket, Server as SocketServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { BrokerError } from '../../protocol/index.ts'
import { errorAnswer } from './error-answer.ts'
import { type HandlerOptions, handleRequest } from './handle-request.ts'
import { routeMatcher } from './match-route.ts'
import { errorPage } from './page-reply.ts'
import { passWalls } from './request-walls.ts'
import type { RawReply, Reply, Route } from './route.ts'
import { streamAnswer } from './stream-answer.ts'
import { endWith, isForChannel, type SwitchOptions, switchListener } from './switch-protocol.ts'

/** What is told of a request: where it went, never what it held. */
interface RequestLine {
  readonly request_id: string
  readonly method: string
  /** The route's template, or `none`. */
  readonly route: string
  readonly status: number
  readonly duration_ms: number
  readonly error?: string
}

export interface ServerOptions extends HandlerOptions {
  readonly routes: readonly Route[]
  readonly onRequest: (line: RequestLine) => void
  /** An error that is nobody's fault but ours. */
  readonly onFailure: (requestId: string, error: unknown) => void
  readonly channels: SwitchOptions['channels']
}

export interface RunningServer {
  /** Takes no new request, lets those in flight finish for `drainMs`, then cuts them off. */
  stop(drainMs: number): Promise<void>
}

/**
 * Listens on each address.
 * @param at a port, or one that was reserved on the first address
 * @throws where one of them cannot be had: it is never half there
 */
export async function startServer(
  options: ServerOptions,
  hosts: readonly string[],
  at: number | ReservedPort,
): Promise<RunningServer> {
  const { port, holder } = typeof at === 'number' ? { port: at, holder: undefined } : at
  const stopping = new AbortController()
  const match = routeMatcher(options.routes)
  const serve = requestListener(options, match, stopping.signal)
  const switchOver = switchListener({
    ...options,
    match,
    headers: safeHeaders(options),
    onRefused: (id, error) => {
      if (!(error instanceof BrokerError)) options.onFailure(id, error)
    },
  })
  const servers = hosts.map(() => httpServer({ serve, switchOver }, safeHeaders(options)))
  try {
    for (const [index, server] of servers.entries())
      await listening(server, index === 0 && holder ? holder : { host: hosts[index] ?? '', port })
  } catch (cause) {
    for (const server of servers) server.close()
    throw cause
  }
  return {
    async stop(drainMs) {
      stopping.abort()
      await Promise.all(servers.map((server) => drain(server, drainMs)))
    },
  }
}

/** A port that nobody else can take any more. */
export interface ReservedPort {
  readonly port: number
  /** Holds it until the daemon's own server takes it over. */
  readonly holder: SocketServer
}

/**
 * Any free port of an address, for a daemon that was told to take one. It is held from here on: until the daemon listens,
 * which takes a while, any other process could be given the same.
 */
export async function reservePort(host: string): Promise<ReservedPort> {
  const holder = createSocketServer((early) => early.destroy())
  await listening(holder, { host, port: 0 })
  return { port: (holder.address() as AddressInfo).port, holder }
}

interface Listeners {
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void
  readonly switchOver: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

function httpServer({ serve, switchOver }: Listeners, headers: Readonly<Record<string, string>>): Server {
  const server = createServer(
    {
      keepAliveTimeout: 60_000,
      connectionsCheckingInterval: 2_000,
      noDelay: true,
      requireHostHeader: false,
      // What asks for another protocol is served as if it had not.
      shouldUpgradeCallback: isForChannel,
    },
    serve,
  )
  server.on('upgrade', switchOver)
  // A client that sends a byte now and then must not hold a connection for Node's five minutes.
  server.headersTimeout = 10_000
  server.requestTimeout = 30_000
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerUnreadable(error, socket as Socket, headers))
  // Left to themselves, these two answer before the walls.
  server.on('checkContinue', serve)
  server.on('checkExpectation', serve)
  server.on('connect', (_, socket: Socket) => socket.destroy())
  return server
}

function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (!socket.writable) return
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  const body = {
    error: 'InvalidRequestError',
    message: 'The request is not HTTP/1.1 as the daemon speaks it',
    request_id: randomUUID(),
  }
  endWith(socket, { status, raw: JSON.stringify(body), headers: { ...headers, ...JSON_TYPE } })
}

/** @param at an address, or who holds it */
async function listening(server: SocketServer, at: SocketServer | { host: string; port: number }): Promise<void> {
  const began = once(server, 'listening')
  if (at instanceof SocketServer) server.listen(at)
  else server.listen({ ...at, ipv6Only: true })
  await began
}

async function drain(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const cutOff = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearTimeout(cutOff)
}

/** @param stopping ends the answers that have no end of their own; no other request is begun */
function requestListener(options: ServerOptions, match: ReturnType<typeof routeMatcher>, stopping: AbortSignal) {
  const safe = safeHeaders(options)
  const fail = (id: string, error: unknown) => {
    if (!(error instanceof BrokerError)) options.onFailure(id, error)
  }
  return (request: IncomingMessage, response: ServerResponse): void => {
    const id = randomUUID()
    const started = performance.now()
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const known = match(request.method === 'HEAD' ? 'GET' : (request.method ?? ''), path)
    // A page that there is not is one too: the dashboard says so, and leads on.
    const found = known ?? (isVisit(request, path) ? match('GET', '/') : undefined)
    const tell = (status: number, error?: string) =>
      options.onRequest({
        request_id: id,
        method: request.method ?? '',
        route: found?.route.path ?? 'none',
        status,
        duration_ms: Math.round((performance.now() - started) * 10) / 10,
        ...(error !== undefined && { error }),
      })
    const answer = async () => {
      passWalls(request, options.own, found?.route.isReturn ? 'any site' : 'own pages')
      if (stopping.aborted) throw new BrokerError('DaemonUnavailableError', 'The daemon is stopping', { retryAfter: 1 })
      if (!found) throw new BrokerError('NotFoundError', 'There is no such route', { hint: 'See /openapi.json' })
      if (found.route.actsOnGet && request.method !== 'GET') throw onlyGet()
      if (request.headers.expect !== undefined) response.writeContinue()
      const reply = await handleRequest(options, request, found)
      if (!('chunks' in reply)) {
        const answered = 'raw' in reply ? reply : jsonReply(found.route, reply)
        const whole = known ? answered : { ...answered, status: 404 }
        tell(send(response, { ...whole, headers: { ...safe, 'x-request-id': id, ...whole.headers } }, stopping.aborted))
        return
      }
      const headers = { ...safe, 'x-request-id': id, ...reply.headers }
      await streamAnswer(response, { ...reply, headers }, { signal: stopping, onFailure: (error) => fail(id, error) })
      tell(200)
    }
    answer().catch(async (error: unknown) => {
      await discardBody(request)
      fail(id, error)
      const { status, body, headers } = errorAnswer(error, id)
      // What is left of a body nobody read would be taken for the next request.
      const close = !request.complete || status === 421 || status === 400
      // A program that says nothing of what it takes gets JSON.
      const isForPeople = found?.route.isPage === true && request.headers.accept?.includes('text/html') === true
      const reply = isForPeople ? errorPage(status, body) : { status, raw: JSON.stringify(body), headers: JSON_TYPE }
      send(response, { ...reply, headers: { ...safe, 'x-request-id': id, ...reply.headers, ...headers } }, close)
      tell(status, body.error)
    })
  }
}

/** Returns whether a person's browser goes there as to a page. */
function isVisit({ method, headers }: IncomingMessage, path: string): boolean {
  if (method !== 'GET' || !headers.accept?.includes('text/html')) return false
  return !/^\/(?:api|auth|assets|dashboard|schemas)\//.test(path) && !/\.\w+$/.test(path)
}

function onlyGet(): BrokerError {
  return new BrokerError('InvalidRequestError', 'Browsers come here by GET', { httpStatus: 405 })
}

const DISCARD_LIMIT = 16 * 1024 * 1024
const DISCARD_MS = 2_000

/**
 * Reads on to the end of a body that was refused, within limits: a socket that is closed with bytes unread is reset, and
 * the client never sees why.
 */
function discardBody(request: IncomingMessage): Promise<void> {
  const waitsToSend = request.headers.expect !== undefined
  if (request.complete || request.destroyed || waitsToSend) return Promise.resolve()
  return new Promise((resolve) => {
    let size = 0
    const timer = setTimeout(resolve, DISCARD_MS)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > DISCARD_LIMIT) done()
    })
    request.on('end', done)
    request.on('close', done)
    request.resume()
  })
}

const JSON_TYPE = { 'content-type': 'application/json' }

const SAFE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
}

/** Returns what every answer carries. Where browsers come by https, they are to come by nothing else for two years (RFC 6797). */
function safeHeaders({ isSecure }: Pick<ServerOptions, 'isSecure'>): Readonly<Record<string, string>> {
  return isSecure ? { ...SAFE_HEADERS, 'strict-transport-security': 'max-age=63072000' } : SAFE_HEADERS
}

/** Nothing leaves that the route's schema does not declare. */
function jsonReply(route: Route, { status, body, headers }: Reply<unknown>): RawReply {
  const declared = route.reply.parse(body)
  return {
    status: status ?? route.status ?? 200,
    raw: JSON.stringify(declared),
    headers: headers ? { ...JSON_TYPE, ...headers } : JSON_TYPE,
  }
}

function send(response: ServerResponse, { status = 200, raw, headers }: RawReply, close: boolean): number {
  if (response.headersSent || response.destroyed) return status
  response.writeHead(status, {
    ...headers,
    ...(raw !== null && { 'content-length': String(Buffer.byteLength(raw)) }),
    ...(close && { connection: 'close' }),
  })
  response.end(raw ?? undefined)
  return status
}
