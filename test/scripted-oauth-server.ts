import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { SecureContext } from 'node:tls'

/** A request as it came in. */
export interface ScriptedRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The body read as a form. */
  readonly form: URLSearchParams
}

export interface ScriptedAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** An object is sent as JSON. */
  readonly body?: string | Buffer | object
  /** In place of all that: does with the connection what it likes. */
  readonly raw?: (response: ServerResponse) => void
}

/** What to answer; 404 where it says nothing. `origin` is the server's own. */
export type Script = (request: ScriptedRequest, origin: string) => ScriptedAnswer | undefined

export interface ScriptedServer {
  readonly origin: string
  readonly port: number
  /** All that came in, oldest first. */
  readonly requests: readonly ScriptedRequest[]
  requestsTo(path: string): readonly ScriptedRequest[]
  close(): Promise<void>
}

export interface ScriptedTls {
  /** Name in the certificate, and in `origin`. */
  readonly host: string
  readonly contextFor: (host: string) => SecureContext
}

/** A server that says what a test wants it to say, true or not: on loopback, over TLS where `tls` is given. */
export async function startScriptedServer(script: Script, tls?: ScriptedTls): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = []
  const server = tls
    ? createTlsServer({ SNICallback: (name, done) => done(null, tls.contextFor(name)) })
    : createServer()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const origin = tls ? `https://${tls.host}:${port}` : `http://127.0.0.1:${port}`
  server.on('request', async (incoming, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', origin)
    const body = await text(incoming)
    const request: ScriptedRequest = {
      method: incoming.method ?? '',
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body,
      form: new URLSearchParams(body),
    }
    requests.push(request)
    answer(response, script(request, origin) ?? { status: 404, body: 'There is nothing here' })
  })
  return {
    origin,
    port,
    requests,
    requestsTo: (path) => requests.filter((request) => request.path === path),
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function answer(response: ServerResponse, { status = 200, headers = {}, body = '', raw }: ScriptedAnswer): void {
  if (raw) {
    raw(response)
    return
  }
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body)
  response.writeHead(status, { ...(isJson && { 'content-type': 'application/json' }), ...headers })
  response.end(isJson ? JSON.stringify(body) : body)
}
