import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import type { ResolvedCredential } from '../injection/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { ResolveRequest } from '../schemas/index.ts'
import { answerOn, h2Origin, openSession } from './http2.fixture.ts'
import { answering, ask, daemon, OK, openTls, resolution, stage, tlsOrigin } from './test-stage.ts'

/** A host that answers 401 to the credential which was injected, and what the child gets to see of it. */

const HOST = 'api.prov.test'
const OLD = 'Bearer CNRYold'
const NEW = 'Bearer CNRYnew'
const get = (path = '/v1') => `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
const sent = (credential: string, path = '/v1') =>
  get(path).replace('\r\n\r\n', `\r\nAuthorization: ${credential}\r\n\r\n`)
const REJECTION =
  'HTTP/1.1 401 Unauthorized\r\nwWW-Authenticate: Bearer error="invalid_token"\r\nContent-Length: 7\r\n\r\nexpired'
const QUESTION = { host: HOST, port: 443, method: 'GET', path: '/v1' }

const first = resolution({ headers: { Authorization: OLD }, version: 7 })
const second = resolution({ headers: { Authorization: NEW }, version: 8 })

/** Answers `rejection` to the old credential. */
const rejecting = (rejection: string, answer = OK) => answering((head) => (head.includes(OLD) ? rejection : answer))

type OnConnection = Parameters<typeof tlsOrigin>[1]
type Refreshed = (request: ResolveRequest) => Promise<ResolvedCredential>

/** A daemon that answers with the old credential, and as `refreshed` does to who says that it was refused. */
async function world(t: TestContext, onConnection: OnConnection, refreshed: Refreshed = async () => second) {
  const fake = daemon()
  fake.resolve = async (request) => (request.rejected_version === undefined ? first : refreshed(request))
  const origin = await tlsOrigin(t, onConnection)
  return { origin, ...(await stage(t, { [HOST]: origin }, { daemon: fake })) }
}

/** A daemon that refreshes when it is told to. */
function slowRefresh() {
  const asked = Promise.withResolvers<ResolveRequest>()
  const answer = Promise.withResolvers<ResolvedCredential>()
  const refreshed: Refreshed = (request) => {
    asked.resolve(request)
    return answer.promise
  }
  return { refreshed, asked: asked.promise, answer }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('the request is sent once more with the refreshed credential, and the child sees that answer alone', async (t) => {
  const { origin, proxy, daemon } = await world(t, rejecting(REJECTION))
  assert.equal(await ask(t, proxy, HOST, get()), OK)
  assert.equal(origin.received(), sent(OLD) + sent(NEW))
  assert.equal(origin.connections(), 1)
  assert.deepEqual(daemon.asked, [QUESTION, { ...QUESTION, rejected_version: 7 }])
})

test('a child and a service that speak HTTP/2 see the same, on streams of their own', async (t) => {
  const { origin } = await h2Origin(t, (stream, { authorization }) => {
    stream.respond({ ':status': authorization === OLD ? 401 : 200 })
    stream.end(authorization)
  })
  const fake = daemon()
  fake.resolve = async (request) => (request.rejected_version === undefined ? first : second)
  const { proxy } = await stage(t, { [HOST]: origin }, { daemon: fake })
  const session = await openSession(t, proxy, HOST)
  const answer = await answerOn(session.request({ ':path': '/v1' }))
  assert.deepEqual([answer.status, answer.body], [200, NEW])
  assert.deepEqual(fake.asked, [QUESTION, { ...QUESTION, rejected_version: 7 }])
})

test('it is one event, told of the final answer', async (t) => {
  const { proxy, daemon } = await world(t, rejecting(REJECTION))
  await ask(t, proxy, HOST, get())
  await proxy.flush()
  assert.deepEqual(
    daemon.events.map(({ event, status, reason, request }) => [
      event,
      status,
      reason,
      request?.status,
      request?.bytes_in,
    ]),
    [['proxy.request', 'success', 'retried_after_401', 200, 2]],
  )
})

test('a second 401 is the child’s, and the daemon is not asked a third time', async (t) => {
  const { origin, proxy, daemon } = await world(t, answering(REJECTION))
  assert.equal(await ask(t, proxy, HOST, get(), /expired$/), REJECTION)
  assert.equal(origin.received(), sent(OLD) + sent(NEW))
  assert.equal(daemon.asked.length, 2)
  await proxy.flush()
  assert.deepEqual(
    daemon.events.map(({ status, request }) => [status, request?.status]),
    [['failure', 401]],
  )
})

const REFUSED: readonly (readonly [string, Refreshed])[] = [
  ['has no other credential', async () => first],
  ['cannot refresh', () => Promise.reject(new BrokerError('RefreshFailedError', 'no'))],
  ['is gone', () => Promise.reject(new BrokerError('DaemonUnavailableError', 'no'))],
  [
    'has one that cannot be sent',
    async () => resolution({ headers: { Authorization: 'Bearer CNRY\r\nX: y' }, version: 8 }),
  ],
]

for (const [what, refreshed] of REFUSED) {
  test(`where the daemon ${what}, the child gets the 401 byte for byte`, async (t) => {
    const { origin, proxy, daemon } = await world(t, answering(REJECTION), refreshed)
    const client = await openTls(t, proxy, HOST)
    client.send(get())
    await client.until((text) => text === REJECTION)
    client.send(get('/next'))
    await client.until((text) => text === REJECTION + REJECTION)
    assert.equal(origin.received(), sent(OLD) + sent(OLD, '/next'))
    assert.equal(origin.connections(), 1)
    await proxy.flush()
    assert.deepEqual(
      daemon.events.map(({ status, reason, request }) => [status, reason, request?.status]),
      [
        ['failure', undefined, 401],
        ['failure', undefined, 401],
      ],
    )
  })
}

test('where the daemon does not answer in time, the child gets the 401', async (t) => {
  const { refreshed, asked } = slowRefresh()
  const { proxy } = await world(t, answering(REJECTION), refreshed)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const client = await openTls(t, proxy, HOST)
  client.send(get())
  await asked
  t.mock.timers.tick(14_999)
  for (let turns = 0; turns < 10; turns += 1) await turn()
  assert.equal(client.text, '')
  t.mock.timers.tick(1)
  await client.until((text) => text === REJECTION)
})

const REJECTIONS: readonly (readonly [string, string])[] = [
  ['no body', 'HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n'],
  ['chunks with trailers', 'HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok?\r\n0\r\nX-Sum: 1\r\n\r\n'],
  ['latin1 and repeated headers', 'HTTP/1.1 401 N\xf6\r\nA: caf\xe9\r\na: 2\r\nContent-Length: 3\r\n\r\n\x00\xff\x80'],
  ['early hints before it', `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${REJECTION}`],
]

for (const [what, rejection] of REJECTIONS) {
  test(`a 401 that was held passes byte for byte, also where each comes alone: ${what}`, async (t) => {
    const dripping: OnConnection = (socket) => {
      socket.setNoDelay(true)
      socket.on('data', () => {
        for (const byte of rejection) socket.write(byte, 'latin1')
      })
    }
    const { proxy } = await world(t, dripping, async () => first)
    const client = await openTls(t, proxy, HOST)
    client.send(get())
    await client.until((text) => text === rejection)
    client.send(get())
    await client.until((text) => text === rejection + rejection)
  })

  test(`a 401 gives way to the answer of the second request: ${what}`, async (t) => {
    const { origin, proxy } = await world(t, rejecting(rejection))
    assert.match(await ask(t, proxy, HOST, get()), /^(?:HTTP\/1.1 103 [\s\S]*?\r\n\r\n)?HTTP\/1.1 200 OK\r\n[\s\S]*ok$/)
    assert.equal(origin.received(), sent(OLD) + sent(NEW))
    assert.equal(origin.connections(), 1)
  })
}

test('nothing of the 401 reaches the child before the daemon has answered', async (t) => {
  const { refreshed, asked, answer } = slowRefresh()
  const { proxy } = await world(t, answering(REJECTION), refreshed)
  const client = await openTls(t, proxy, HOST)
  client.send(get())
  assert.deepEqual(await asked, { ...QUESTION, rejected_version: 7 })
  for (let turns = 0; turns < 10; turns += 1) await turn()
  assert.equal(client.text, '')
  answer.resolve(first)
  await client.until((text) => text === REJECTION)
})

const BODILESS: readonly (readonly [string, string, string])[] = [
  ['DELETE', `DELETE /v1 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`, OK],
  ['POST of nothing', `POST /v1 HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 0\r\n\r\n`, OK],
  ['HEAD', `HEAD /v1 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'],
]

for (const [what, request, answer] of BODILESS) {
  test(`it is the same for ${what}`, async (t) => {
    const rejection = what === 'HEAD' ? 'HTTP/1.1 401 No\r\nContent-Length: 7\r\n\r\n' : REJECTION
    const { origin, proxy } = await world(t, rejecting(rejection, answer))
    const client = await openTls(t, proxy, HOST)
    client.send(request)
    await client.until((text) => text === answer)
    const withCredential = (credential: string) =>
      request.replace('\r\n\r\n', `\r\nAuthorization: ${credential}\r\n\r\n`)
    assert.equal(origin.received(), withCredential(OLD) + withCredential(NEW))
  })
}

test('a request that may not be sent twice by itself goes over a connection that cannot have been closed', async (t) => {
  const { origin, proxy } = await world(t, rejecting(REJECTION))
  const client = await openTls(t, proxy, HOST)
  client.send(`POST /v1 HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 0\r\n\r\n`)
  await client.until((text) => text === OK)
  assert.equal(origin.connections(), 2)
})

test('a request with a body gets its 401 at once, and the next request the fresh credential', async (t) => {
  const { refreshed, asked, answer } = slowRefresh()
  const { origin, proxy, daemon } = await world(t, rejecting(REJECTION), refreshed)
  const client = await openTls(t, proxy, HOST)
  client.send(`PUT /v1 HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 4\r\n\r\nbody`)
  await client.until((text) => text === REJECTION)
  assert.deepEqual(await asked, { ...QUESTION, method: 'PUT', rejected_version: 7 })
  answer.resolve(second)
  daemon.resolve = async () => second
  client.clear()
  client.send(get())
  await client.until((text) => text === OK)
  assert.equal(origin.received().split(OLD).length, 2)
})

test('that the daemon cannot be told of a refused request with a body is for the debug log', async (t) => {
  const away = () => Promise.reject(new BrokerError('DaemonUnavailableError', 'no'))
  const { proxy, logs } = await world(t, answering(REJECTION), away)
  await ask(t, proxy, HOST, `PUT /v1 HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 4\r\n\r\nbody`, /expired$/)
  const told = () => logs.some((event) => 'event' in event && event.event === 'not_refreshed')
  while (!told()) await turn()
})

test('a body that the host refuses with 401 instead of 100 is refused at once', async (t) => {
  const { refreshed, answer } = slowRefresh()
  const { proxy } = await world(t, (socket) => socket.once('data', () => socket.write(REJECTION)), refreshed)
  const client = await openTls(t, proxy, HOST)
  client.send(`PUT /v1 HTTP/1.1\r\nHost: ${HOST}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`)
  await client.until((text) => text === REJECTION)
  answer.resolve(second)
})

const UNTOUCHED: readonly (readonly [string, string, ResolvedCredential])[] = [
  ['a 401 to a credential that cannot be refreshed', REJECTION, resolution()],
  ['403', REJECTION.replace('401', '403'), first],
  ['407', REJECTION.replace('401', '407'), first],
]

for (const [what, answer, found] of UNTOUCHED) {
  test(`${what} is the child’s at once, and the daemon hears nothing of it`, async (t) => {
    const { proxy, daemon } = await world(t, answering(answer))
    daemon.resolve = async () => found
    assert.equal(await ask(t, proxy, HOST, get(), /expired$/), answer)
    assert.deepEqual(daemon.asked, [QUESTION])
  })
}

test('requests that the child sends ahead are answered in order', async (t) => {
  const { origin, proxy } = await world(t, rejecting(REJECTION))
  const client = await openTls(t, proxy, HOST)
  client.send(get('/a') + get('/b'))
  await client.until((text) => text === OK + OK)
  assert.equal(origin.received(), ['/a', '/b'].map((path) => sent(OLD, path) + sent(NEW, path)).join(''))
})

test('a child that goes away while the daemon refreshes takes the request with it', async (t) => {
  const { refreshed, asked, answer } = slowRefresh()
  const { origin, proxy, daemon } = await world(t, rejecting(REJECTION), refreshed)
  const client = await openTls(t, proxy, HOST)
  client.send(get())
  await asked
  const [upstream] = origin.sockets
  assert.ok(upstream)
  const closed = once(upstream, 'close')
  client.socket.destroy()
  await closed
  answer.resolve(second)
  await proxy.flush()
  assert.equal(origin.received(), sent(OLD))
  assert.deepEqual(
    daemon.events.map(({ status, reason, request }) => [status, reason, request?.status]),
    [['failure', 'client_abort', 401]],
  )
})

/** Says `rejection` and then ends the connection; the second one is answered. */
function closing(rejection: string, then: () => void): OnConnection {
  return (socket) =>
    socket.once('data', (chunk: Buffer) => {
      if (chunk.includes(NEW)) socket.write(OK)
      else socket.end(rejection, then)
    })
}

const CLOSED: readonly (readonly [string, string, boolean])[] = [
  ['after the whole answer', REJECTION, false],
  ['as the end of the answer', 'HTTP/1.1 401 No\r\n\r\nexpired', true],
  ['saying so', REJECTION.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), false],
]

for (const [when, rejection, endsChild] of CLOSED) {
  test(`a host that closes the connection ${when} while the answer is held is asked again on another`, async (t) => {
    const { refreshed, asked, answer } = slowRefresh()
    const ended = Promise.withResolvers<void>()
    const { origin, proxy } = await world(t, closing(rejection, ended.resolve), refreshed)
    const client = await openTls(t, proxy, HOST)
    client.send(get())
    await Promise.all([asked, ended.promise])
    while (origin.sockets.size > 0) await turn()
    answer.resolve(second)
    await client.until((text) => text === OK)
    assert.equal(origin.connections(), 2)
  })

  test(`a host that closes the connection ${when} while the answer is held has still given it`, async (t) => {
    const { refreshed, asked, answer } = slowRefresh()
    const ended = Promise.withResolvers<void>()
    const { origin, proxy } = await world(t, closing(rejection, ended.resolve), refreshed)
    const client = await openTls(t, proxy, HOST)
    client.send(get())
    await Promise.all([asked, ended.promise])
    while (origin.sockets.size > 0) await turn()
    answer.resolve(first)
    const text = await (endsChild ? client.untilClosed() : client.until(/expired$/))
    assert.equal(text.replace('Connection: close\r\n', ''), rejection.replace('Connection: close\r\n', ''))
    assert.equal(client.closed, endsChild)
  })
}

test('a host that breaks off within a 401 that is held is seen to break off', async (t) => {
  const { refreshed, asked, answer } = slowRefresh()
  const breaking: OnConnection = (socket) => socket.once('data', () => socket.end(REJECTION.slice(0, -3)))
  const { origin, proxy, daemon } = await world(t, breaking, refreshed)
  const client = await openTls(t, proxy, HOST)
  client.send(get())
  await asked
  while (origin.sockets.size > 0) await turn()
  answer.resolve(first)
  assert.equal(await client.untilClosed(), REJECTION.slice(0, -3))
  await proxy.flush()
  assert.deepEqual(
    daemon.events.map(({ status, reason, request }) => [status, reason, request?.status]),
    [['failure', 'upstream_abort', 401]],
  )
})

test('a second answer behind the 401 is nobody’s', async (t) => {
  const { origin, proxy } = await world(t, rejecting(REJECTION + OK.replace('ok', 'no')))
  assert.equal(await ask(t, proxy, HOST, get()), OK)
  assert.equal(origin.connections(), 2)
})

test('a 401 that breaks the grammar is cut off where it does, or gives way to the second answer', async (t) => {
  const broken = 'HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nxyz\r\n'
  const still = await world(t, rejecting(broken), async () => first)
  const client = await openTls(t, still.proxy, HOST)
  client.send(get())
  assert.match(await client.untilClosed(), /^HTTP\/1.1 401 No\r\n/)
  const fresh = await world(t, rejecting(broken))
  assert.equal(await ask(t, fresh.proxy, HOST, get()), OK)
  assert.equal(fresh.origin.connections(), 2)
})

const SIZE = 32 * 1024 * 1024
const BLOCK = Buffer.alloc(65_536, 'x')

test('a large 401 waits with the host while it is held, and streams on once it is the child’s', async (t) => {
  const { refreshed, asked, answer } = slowRefresh()
  let written = 0
  const { proxy } = await world(
    t,
    (socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 401 No\r\nContent-Length: ${SIZE}\r\n\r\n`)
        const more = () => {
          while (written < SIZE) {
            written += BLOCK.length
            if (!socket.write(BLOCK)) return
          }
        }
        socket.on('drain', more)
        more()
      }),
    refreshed,
  )
  const client = await openTls(t, proxy, HOST)
  client.send(get())
  await asked
  for (let seen = -1; seen !== written; ) {
    seen = written
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.ok(written < SIZE / 2, `the host could send ${written} bytes of an answer that is held`)
  let received = 0
  client.socket.removeAllListeners('data')
  client.socket.on('data', (chunk: Buffer) => (received += chunk.length))
  answer.resolve(first)
  while (received < SIZE) await once(client.socket, 'data')
})

test('a WebSocket whose handshake is refused is opened with the refreshed credential', async (t) => {
  const upgrade = `GET /live HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const { proxy, daemon } = await world(t, (socket) =>
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes(OLD)) socket.write(REJECTION)
      else socket.write(chunk.includes(NEW) ? `${switching}hello` : chunk)
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(upgrade)
  await client.until((text) => text === `${switching}hello`)
  client.send('echo')
  await client.until(/helloecho$/)
  await proxy.flush()
  assert.deepEqual(
    daemon.events.map(({ reason, request }) => [reason, request?.status]),
    [['retried_after_401', 101]],
  )
})

test('many requests that are refused together each get their answer', async (t) => {
  const { proxy, daemon } = await world(t, rejecting(REJECTION))
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(t, proxy, HOST, get())))
  assert.deepEqual(new Set(answers), new Set([OK]))
  await proxy.flush()
  assert.equal(daemon.events.length, 20)
})
