/** The service at the far end: an ordinary Node HTTPS server, in a process of its own. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createCertificateAuthority } from '../src/proxy/index.ts'
import { announce, startOptions } from './child-process.ts'

export interface UpstreamOptions {
  readonly hosts: readonly string[]
  /** Who does not send it gets 401: a run in which nothing was injected measures nothing. */
  readonly key: string
}

export interface UpstreamReady {
  readonly port: number
  readonly caPem: string
}

const SMALL = JSON.stringify({ answer: 'x'.repeat(200) })
const PIECE = Buffer.alloc(256 * 1024, 'x')

const { hosts, key } = startOptions<UpstreamOptions>()
const authority = createCertificateAuthority(hosts, new Date())
const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) }, answer)
server.keepAliveTimeout = 300_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')
announce({ port: (server.address() as AddressInfo).port, caPem: authority.caPem } satisfies UpstreamReady)

function answer(request: IncomingMessage, response: ServerResponse): void {
  const welcome = request.headers.authorization === `Bearer ${key}`
  const [path, amount] = (request.url ?? '').split('?')
  if (!welcome) response.writeHead(401).end()
  else if (path === '/small' || path?.startsWith('/small/'))
    response.writeHead(200, { 'content-length': SMALL.length }).end(SMALL)
  else if (path === '/slow') void sendSlowly(response)
  else if (path === '/down') void sendDown(response, Number(amount))
  else if (path === '/up') takeUp(request, response)
  else response.writeHead(404).end()
}

/** Four pieces, a quarter of a second apart. */
async function sendSlowly(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const data of ['one', 'two', 'three', 'four']) {
    response.write(`data: ${data}\n\n`)
    await delay(250)
  }
  response.end()
}

async function sendDown(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-length': bytes })
  for (let left = bytes; left > 0; left -= PIECE.length) {
    if (!response.write(left < PIECE.length ? PIECE.subarray(0, left) : PIECE)) await once(response, 'drain')
  }
  response.end()
}

function takeUp(request: IncomingMessage, response: ServerResponse): void {
  let taken = 0
  request.on('data', (chunk: Buffer) => {
    taken += chunk.length
  })
  request.on('end', () => {
    const body = String(taken)
    response.writeHead(200, { 'content-length': body.length }).end(body)
  })
}
