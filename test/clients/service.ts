import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { CertificateAuthority } from '../../src/proxy/index.ts'
import { pathOf } from '../named-server.ts'

/** One TLS server on loopback under the names of all services, for one run of one client. */
export interface Service {
  /** Value of `BROKER_PROXY_CONNECT_TO`: its names lead to it, all others nowhere, so that no client reaches the world. */
  readonly connectTo: string
  /** Every request so far. */
  readonly seen: readonly SeenRequest[]
  /** Lets it send what follows the first piece of a stream, from now on. */
  release(): void
  /** From now on it sends the first piece alone. */
  hold(): void
  close(): void
}

export interface SeenRequest {
  readonly host: string
  readonly method: string
  readonly path: string
  readonly status: number
}

/** What stands behind one name. */
export interface Host {
  /** Returns whether the request has the real key: whoever has not is answered 401. */
  letsIn(request: IncomingMessage): boolean | Promise<boolean>
  answer(request: IncomingMessage, response: ServerResponse, stream: Stream): unknown
  /** Absent where it speaks no WebSocket. */
  upgrade?(request: IncomingMessage, socket: Duplex, stream: Stream): unknown
}

/** Resolves when the client has shown the first piece. */
export type Stream = Promise<void>

const NOWHERE = '::127.0.0.1:9'

export async function startService(
  authority: CertificateAuthority,
  hosts: Readonly<Record<string, Host>>,
): Promise<Service> {
  const seen: SeenRequest[] = []
  let released = Promise.withResolvers<void>()
  const sockets = new Set<Duplex>()
  const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
  const note = ({ headers, method = '', url }: IncomingMessage, status: number) =>
    void seen.push({ host: headers.host ?? '', method, path: pathOf(url), status })

  server.on('request', async (request, response) => {
    response.on('close', () => note(request, response.statusCode))
    const host = hosts[nameIn(request)]
    if (host === undefined) response.writeHead(421).end()
    else if (await host.letsIn(request)) await host.answer(request, response, released.promise)
    else response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"Who are you?"}}')
  })
  server.on('upgrade', async (request, socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    const host = hosts[nameIn(request)]
    const isLetIn = host !== undefined && (await host.letsIn(request))
    const status = !isLetIn ? 401 : host.upgrade === undefined ? 404 : 101
    note(request, status)
    if (status === 101) host?.upgrade?.(request, socket, released.promise)
    else socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  const { port } = address
  return {
    connectTo: [...Object.keys(hosts).map((host) => `${host}:443:127.0.0.1:${port}`), NOWHERE].join(),
    seen,
    release: () => released.resolve(),
    hold() {
      released = Promise.withResolvers<void>()
    },
    close() {
      server.close()
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Node's `http2` says the port of https, too. */
function nameIn({ headers: { host = '' } }: IncomingMessage): string {
  return host.replace(/:443$/, '')
}
