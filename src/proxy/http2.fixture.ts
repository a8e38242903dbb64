import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Stream,
  type SessionOptions,
} from 'node:http2'
import type { TestContext } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { RunningProxy } from './start-proxy.ts'
import { openTunnel, tlsOrigin } from './test-stage.ts'

/** Children and services that speak HTTP/2, for the tests of the proxy between them. */

export type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]) => void

/** A service that has nothing but HTTP/2. */
export async function h2Origin(t: TestContext, onStream: OnStream, options: SessionOptions = {}) {
  const counted = { sessions: 0 }
  const origin = await tlsOrigin(
    t,
    (socket) => {
      counted.sessions += 1
      const session = performServerHandshake(socket, options)
      session.on('error', () => {})
      session.on('stream', (stream, headers, _flags, raw: unknown) => {
        stream.on('error', () => {})
        onStream(stream as ServerHttp2Stream, headers, raw as readonly string[])
      })
    },
    undefined,
    ['h2'],
  )
  return { origin, sessions: () => counted.sessions }
}

/** CONNECT and TLS to `host`, with `protocols` offered by ALPN. */
export async function openOffering(
  t: TestContext,
  proxy: RunningProxy,
  host: string,
  protocols: readonly string[],
): Promise<TLSSocket> {
  const socket = await openTunnel(t, proxy, `${host}:443`)
  const tls = connectTls({
    socket,
    servername: host,
    ca: proxy.caPem,
    checkServerIdentity: () => undefined,
    ALPNProtocols: protocols,
  })
  tls.on('error', () => {})
  t.after(() => tls.destroy())
  await once(tls, 'secureConnect')
  return tls
}

/** A child that speaks HTTP/2 with `host` through the proxy. */
export async function openSession(
  t: TestContext,
  proxy: RunningProxy,
  host: string,
  options: SessionOptions = {},
): Promise<ClientHttp2Session> {
  const socket = await openOffering(t, proxy, host, ['h2'])
  const session = connect(`https://${host}`, { ...options, createConnection: () => socket })
  session.on('error', () => {})
  t.after(() => session.destroy())
  return session
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly trailers: IncomingHttpHeaders
  /** Statuses of the interim answers. */
  readonly interim: readonly number[]
  /** The code that the stream ended with. */
  readonly code: number
}

/** What became of a stream, when it is over. */
export async function answerOn(stream: ClientHttp2Stream): Promise<Answer> {
  const chunks: Buffer[] = []
  const interim: number[] = []
  let headers: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  stream.on('headers', (more) => interim.push(Number(more[':status'])))
  stream.on('response', (all) => {
    headers = all
  })
  stream.on('trailers', (all) => {
    trailers = all
  })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', () => {})
  if (!stream.destroyed) await new Promise((resolve) => stream.once('close', resolve))
  return {
    status: Number(headers[':status'] ?? 0),
    headers,
    body: Buffer.concat(chunks).toString('latin1'),
    trailers,
    interim,
    code: stream.rstCode,
  }
}
