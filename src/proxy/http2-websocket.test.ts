import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type ClientHttp2Stream, type IncomingHttpHeaders, performServerHandshake } from 'node:http2'
import { describe, it, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { answerOn, h2Origin, openSession } from './http2.fixture.ts'
import { CREDENTIAL, openTls, stage, tlsOrigin } from './test-stage.ts'

/** A WebSocket over HTTP/2 (RFC 8441), or by an upgrade where one side has no such thing. */

const HOST = 'api.prov.test'

/** A masked text frame of a client (RFC 6455 section 5.2). */
function frame(text: string): Buffer {
  const mask = Buffer.from([1, 2, 3, 4])
  const payload = Buffer.from(text).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length]), mask, payload])
}

/** The text of the first frame of a service. */
function textOf(bytes: Buffer): string {
  return bytes.toString('latin1', 2, 2 + (bytes[1] ?? 0))
}

/** A service of HTTP/1.1 that says who called, and echoes. */
function echoingServer(t: TestContext): Server {
  const server = new WebSocketServer({ noServer: true, handleProtocols: () => 'chat', perMessageDeflate: true })
  server.on('connection', (socket, request) => {
    socket.send(request.headers.authorization === CREDENTIAL ? 'authentic' : 'bare')
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  t.after(() => server.close())
  const http = createServer()
  http.on('upgrade', (request, socket, head) =>
    server.handleUpgrade(request, socket, head, (one) => server.emit('connection', one, request)),
  )
  return http
}

/** The same over HTTP/2, of bytes. */
async function connectingOrigin(t: TestContext) {
  const asked: IncomingHttpHeaders[] = []
  const { origin } = await h2Origin(
    t,
    (stream, headers) => {
      asked.push(headers)
      if (headers[':method'] !== 'CONNECT') {
        stream.respond({ ':status': 400 }, { endStream: true })
        return
      }
      stream.respond({ ':status': 200, 'sec-websocket-protocol': 'chat' })
      stream.write(Buffer.concat([Buffer.from([0x81, 9]), Buffer.from('authentic')]))
      stream.pipe(stream)
    },
    { settings: { enableConnectProtocol: true } },
  )
  return { origin, asked }
}

async function openSocket(t: TestContext, proxy: Awaited<ReturnType<typeof stage>>['proxy']) {
  const session = await openSession(t, proxy, HOST)
  await once(session, 'remoteSettings')
  assert.equal(session.remoteSettings.enableConnectProtocol, true)
  const stream: ClientHttp2Stream = session.request(
    {
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/gateway',
      ':authority': HOST,
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'chat',
    },
    { endStream: false },
  )
  stream.on('error', () => {})
  const [headers] = await once(stream, 'response')
  return { stream, headers: headers as IncomingHttpHeaders }
}

describe('a WebSocket', () => {
  it('of a child of HTTP/2 is an upgrade for a service of HTTP/1.1', async (t) => {
    const http = echoingServer(t)
    const origin = await tlsOrigin(t, (socket) => http.emit('connection', socket))
    const { proxy, daemon } = await stage(t, { [HOST]: origin })
    const { stream, headers } = await openSocket(t, proxy)
    assert.deepEqual([headers[':status'], headers['sec-websocket-protocol']], [200, 'chat'])
    assert.deepEqual([headers['sec-websocket-accept'], headers['upgrade']], [undefined, undefined])
    const [first] = await once(stream, 'data')
    assert.equal(textOf(first), 'authentic')
    stream.write(frame('hello'))
    const [second] = await once(stream, 'data')
    assert.equal(textOf(second), 'hello')
    await proxy.flush()
    assert.deepEqual(
      daemon.events.map(({ event, request }) => [event, request?.path, request?.status]),
      [['proxy.request', '/gateway', 101]],
    )
    stream.end()
    await once(stream, 'close')
  })

  it('passes by HTTP/2 where both sides have it', async (t) => {
    const { origin, asked } = await connectingOrigin(t)
    const { proxy } = await stage(t, { [HOST]: origin })
    const { stream, headers } = await openSocket(t, proxy)
    assert.deepEqual([headers[':status'], headers['sec-websocket-protocol']], [200, 'chat'])
    const [first] = await once(stream, 'data')
    assert.equal(textOf(first), 'authentic')
    stream.write(frame('hello'))
    const [second] = await once(stream, 'data')
    assert.deepEqual(second, frame('hello'), 'frames pass untouched')
    stream.end()
    await once(stream, 'close')
    assert.equal(stream.rstCode, 0)
    const [{ ':method': method, ':protocol': protocol, authorization, ...more } = {}] = asked
    assert.deepEqual([method, protocol, authorization], ['CONNECT', 'websocket', CREDENTIAL])
    assert.equal(more['sec-websocket-key'], undefined)
  })

  it('of a child of HTTP/1.1 reaches a service that has nothing but HTTP/2', async (t) => {
    const { origin, asked } = await connectingOrigin(t)
    const { proxy } = await stage(t, { [HOST]: origin })
    const client = await openTls(t, proxy, HOST)
    const socket = new WebSocket(`wss://${HOST}/gateway`, 'chat', { createConnection: () => client.socket })
    socket.on('error', () => {})
    const [first] = await once(socket, 'message')
    assert.equal(String(first), 'authentic')
    assert.deepEqual(
      [socket.protocol, asked[0]?.[':protocol'], asked[0]?.['upgrade']],
      ['chat', 'websocket', undefined],
    )
    socket.terminate()
  })

  it('is an upgrade where the service has HTTP/2 without it', async (t) => {
    const http = echoingServer(t)
    const origin = await tlsOrigin(
      t,
      (socket) => {
        if ((socket as { alpnProtocol?: unknown }).alpnProtocol === 'h2')
          performServerHandshake(socket).on('error', () => {})
        else http.emit('connection', socket)
      },
      undefined,
      ['h2', 'http/1.1'],
    )
    const { proxy } = await stage(t, { [HOST]: origin })
    const { stream } = await openSocket(t, proxy)
    const [first] = await once(stream, 'data')
    assert.equal(textOf(first), 'authentic')
    stream.close()
  })

  it('that the service refuses is refused', async (t) => {
    const origin = await tlsOrigin(t, (socket) =>
      socket.on('data', () => socket.write('HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno')),
    )
    const { proxy } = await stage(t, { [HOST]: origin })
    const session = await openSession(t, proxy, HOST)
    await once(session, 'remoteSettings')
    const ask = { ':method': 'CONNECT', ':path': '/', ':authority': HOST }
    const refused = await answerOn(session.request({ ...ask, ':protocol': 'websocket' }, { endStream: false }))
    assert.deepEqual([refused.status, refused.body], [403, 'no'])
    const unknown = await answerOn(session.request({ ...ask, ':protocol': 'connect-udp' }, { endStream: false }))
    assert.equal(unknown.status, 400)
  })

  it('whose 101 answers another request is none', async (t) => {
    const origin = await tlsOrigin(t, (socket) =>
      socket.on('data', () =>
        socket.write(
          'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: AAAA\r\n\r\nsecret',
        ),
      ),
    )
    const { proxy } = await stage(t, { [HOST]: origin })
    const session = await openSession(t, proxy, HOST)
    await once(session, 'remoteSettings')
    const ask = { ':method': 'CONNECT', ':path': '/', ':authority': HOST, ':protocol': 'websocket' }
    const { status, body, code } = await answerOn(session.request(ask, { endStream: false }))
    assert.deepEqual([status, body, code], [0, '', 10])
  })
})
