/** The service at the far end that speaks HTTP/2 alone: Node's own, in a process of its own. */
import { once } from 'node:events'
import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { createCertificateAuthority } from '../src/proxy/index.ts'
import { announce, startOptions } from './child-process.ts'
import type { UpstreamOptions, UpstreamReady } from './upstream.ts'

const SMALL = Buffer.from(JSON.stringify({ answer: 'x'.repeat(200) }))
const PIECE = Buffer.alloc(64 * 1024, 'x')

const { hosts, key } = startOptions<UpstreamOptions>()
const authority = createCertificateAuthority(hosts, new Date())
const server = createServer(
  { SNICallback: (name, done) => done(null, authority.secureContextFor(name)), ALPNProtocols: ['h2'] },
  (socket) => {
    const settings = { maxConcurrentStreams: 1_000, initialWindowSize: 1_048_576 }
    const session = performServerHandshake(socket, { settings })
    session.on('error', () => {})
    session.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      const [path, amount] = String(headers[':path']).split('?')
      if (headers.authorization !== `Bearer ${key}`) stream.respond({ ':status': 401 }, { endStream: true })
      else answer(stream as ServerHttp2Stream, path ?? '', Number(amount))
    })
  },
)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
announce({ port: (server.address() as AddressInfo).port, caPem: authority.caPem } satisfies UpstreamReady)

function answer(stream: ServerHttp2Stream, path: string, amount: number): void {
  stream.respond({ ':status': 200 })
  if (path === '/down') sendDown(stream, amount)
  // It stays open, with one message behind its head.
  else if (path === '/open') stream.write(SMALL)
  else stream.end(SMALL)
}

function sendDown(stream: ServerHttp2Stream, bytes: number): void {
  let left = bytes
  const more = () => {
    while (left > 0) {
      const piece = left < PIECE.length ? PIECE.subarray(0, left) : PIECE
      left -= piece.length
      if (!stream.write(piece) && left > 0) return void stream.once('drain', more)
    }
    stream.end()
  }
  more()
}
