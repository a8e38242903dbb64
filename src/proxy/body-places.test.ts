import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { answerOn, h2Origin, openSession } from './http2.fixture.ts'
import { answering, ask, daemon, type Injected, OK, openTls, resolution, stage, tlsOrigin } from './test-stage.ts'

/** Credentials in bodies and in the messages of WebSockets, as they leave the proxy. */

const HOST = 'api.prov.test'
const KEY = 'sk-CNRY"quoted'
const JSON_PLACE: Injected = { headers: {}, body: { '/auth/key': KEY } }
const FORM_PLACE: Injected = { headers: {}, body: { api_key: KEY } }
const SENT = '{"auth":{"key":"broker-proxy-managed"},"q":"broker-proxy-managed"}'
const RECEIVED = `{"auth":{"key":${JSON.stringify(KEY)}},"q":"broker-proxy-managed"}`

function knowing(found: Injected) {
  const fake = daemon()
  fake.resolve = async () => resolution(found)
  return fake
}

async function world(t: TestContext, found: Injected, onConnection = answering(OK)) {
  const origin = await tlsOrigin(t, onConnection)
  return { origin, ...(await stage(t, { [HOST]: origin }, { daemon: knowing(found) })) }
}

const post = (body: string, type: string, ...lines: string[]) =>
  `${[`POST /v1 HTTP/1.1`, `Host: ${HOST}`, `Content-Type: ${type}`, `Content-Length: ${body.length}`, ...lines].join('\r\n')}\r\n\r\n${body}`

describe('a place in a body', () => {
  for (const [kind, found, type, sent, received] of [
    ['of JSON', JSON_PLACE, 'application/json', SENT, RECEIVED],
    [
      'of a form',
      FORM_PLACE,
      'application/x-www-form-urlencoded',
      'a=1&api_key=x',
      `a=1&api_key=${encodeURIComponent(KEY)}`,
    ],
    ['that is of another type stays', JSON_PLACE, 'text/plain', SENT, SENT],
    ['that is not there stays', JSON_PLACE, 'application/json', '{"auth":"x"}', '{"auth":"x"}'],
  ] as const) {
    it(`${kind} is filled, and the length mended`, async (t) => {
      const { origin, proxy } = await world(t, found)
      assert.equal(await ask(t, proxy, HOST, post(sent, type)), OK)
      assert.equal(origin.received(), post(received, type))
    })
  }

  it('of chunks is filled, and what flows is in chunks again', async (t) => {
    const { origin, proxy } = await world(t, JSON_PLACE, (socket) =>
      socket.on('data', (chunk: Buffer) => chunk.toString().endsWith('0\r\n\r\n') && socket.write(OK)),
    )
    const head = `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    await ask(t, proxy, HOST, `${head}${SENT.length.toString(16)}\r\n${SENT}\r\n0\r\n\r\n`)
    assert.equal(origin.received(), `${head}${RECEIVED.length.toString(16)}\r\n${RECEIVED}\r\n0\r\n\r\n`)
  })

  it('flows on once the field was met, and asks a child for it that waits to be asked', async (t) => {
    const { origin, proxy } = await world(t, JSON_PLACE)
    const rest = `{"auth":{"key":"x"},"pad":"${'p'.repeat(3_000_000)}"}`
    const client = await openTls(t, proxy, HOST)
    client.send(post(rest, 'application/json', 'Expect: 100-continue').slice(0, -rest.length))
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    client.send(rest.slice(0, 100_000))
    while (!origin.received().includes('ppp')) await new Promise((resolve) => setImmediate(resolve))
    client.send(rest.slice(100_000))
    await client.until(/ok$/)
    assert.match(
      origin.received(),
      new RegExp(`Content-Length: ${rest.length + JSON.stringify(KEY).length - 3}\r\n\r\n`),
    )
    assert.doesNotMatch(origin.received(), /Expect/i)
  })

  it('that is there twice is refused, and nothing of it sent', async (t) => {
    const { origin, proxy, daemon: fake } = await world(t, JSON_PLACE)
    const answer = await ask(t, proxy, HOST, post('{"auth":{"key":"x","key":"attacker"}}', 'application/json'))
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.equal(origin.received(), '')
    await proxy.flush()
    assert.deepEqual(
      fake.events.map(({ reason }) => reason),
      ['malformed_body'],
    )
  })

  it('is filled between sides of HTTP/2, and from one to the other', async (t) => {
    const received: string[] = []
    const service = await h2Origin(t, (stream, headers) => {
      let body = ''
      stream.on('data', (chunk) => {
        body += chunk
      })
      stream.on('end', () => {
        received.push(`${headers['content-length']} ${body}`)
        stream.respond({ ':status': 200 })
        stream.end('ok')
      })
    })
    const { proxy } = await stage(t, { [HOST]: service.origin }, { daemon: knowing(JSON_PLACE) })
    const session = await openSession(t, proxy, HOST)
    const headers = { ':method': 'POST', ':path': '/', 'content-type': 'application/json' }
    for (const more of [{}, { 'content-length': String(SENT.length) }]) {
      const stream = session.request({ ...headers, ...more })
      stream.end(SENT)
      assert.equal((await answerOn(stream)).body, 'ok')
    }
    await ask(t, proxy, HOST, post(SENT, 'application/json'), /ok\r\n0\r\n\r\n$/)
    assert.deepEqual(received, [
      `undefined ${RECEIVED}`,
      `${RECEIVED.length} ${RECEIVED}`,
      `${RECEIVED.length} ${RECEIVED}`,
    ])
  })
})

describe('a place in a WebSocket', () => {
  /** A gateway as Discord has one: it says hello, and wants to know who is there. */
  async function gateway(t: TestContext) {
    const server = new WebSocketServer({ noServer: true, perMessageDeflate: true })
    const messages: string[] = []
    server.on('connection', (socket) => {
      socket.send('{"op":10}')
      socket.on('message', (data) => {
        messages.push(String(data))
        socket.send(`{"op":11,"extensions":"${socket.extensions}"}`)
      })
    })
    const http = createServer()
    http.on('upgrade', (request, socket, head) =>
      server.handleUpgrade(request, socket, head, (one) => server.emit('connection', one, request)),
    )
    t.after(() => server.close())
    const origin = await tlsOrigin(t, (socket) => http.emit('connection', socket))
    const found = { headers: {}, messages: { '/d/token': KEY } }
    return { messages, ...(await stage(t, { [HOST]: origin }, { daemon: knowing(found) })) }
  }

  it('is filled in its first messages, without extensions, and in no later one', async (t) => {
    const { proxy, messages } = await gateway(t)
    const client = await openTls(t, proxy, HOST)
    const socket = new WebSocket(`wss://${HOST}/`, { createConnection: () => client.socket, perMessageDeflate: true })
    await once(socket, 'message')
    const identify = '{"op":2,"d":{"token":"broker-proxy-managed"}}'
    for (const message of ['{"op":1,"d":null}', identify, identify, identify]) {
      const answered = once(socket, 'message')
      socket.send(message)
      assert.equal(String((await answered)[0]), '{"op":11,"extensions":""}')
    }
    const identified = identify.replace('"broker-proxy-managed"', JSON.stringify(KEY))
    assert.deepEqual(messages, ['{"op":1,"d":null}', identified, identified, identify])
    socket.terminate()
  })

  it('that is there twice ends the session', async (t) => {
    const { proxy, messages } = await gateway(t)
    const client = await openTls(t, proxy, HOST)
    const socket = new WebSocket(`wss://${HOST}/`, { createConnection: () => client.socket })
    await once(socket, 'message')
    socket.send('{"d":{"token":"a","token":"attacker"}}')
    socket.on('error', () => {})
    await once(socket, 'close')
    assert.deepEqual(messages, [])
  })
})
