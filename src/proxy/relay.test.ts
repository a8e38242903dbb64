import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { ResolvedCredential } from '../injection/index.ts'
import { BrokerError } from '../protocol/index.ts'
import {
  answering,
  ask,
  type Client,
  CREDENTIAL,
  daemon,
  type Injected,
  OK,
  openTls,
  openTunnel,
  resolution,
  stage,
  tlsOrigin,
} from './test-stage.ts'

/** What the relay does to the bytes: nothing but what it must. */

const HOST = 'api.prov.test'
const GET = `GET /v1 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
const AUTH = `Authorization: ${CREDENTIAL}\r\n`

async function world(t: TestContext, onConnection: Parameters<typeof tlsOrigin>[1], found?: Injected) {
  const fake = daemon()
  if (found !== undefined) fake.resolve = async () => resolution(found)
  const origin = await tlsOrigin(t, onConnection)
  return { origin, ...(await stage(t, { [HOST]: origin }, { daemon: fake })) }
}

/** What the service received for one request of a child. */
async function receivedFor(t: TestContext, request: string, found?: Injected): Promise<string> {
  const { origin, proxy } = await world(t, answering(OK), found)
  assert.equal(await ask(t, proxy, HOST, request), OK)
  return origin.received()
}

const request = (...lines: string[]) => `${[`GET /v1?a=1 HTTP/1.1`, `Host: ${HOST}`, ...lines].join('\r\n')}\r\n\r\n`

test('order, case, duplicates, spacing and latin1 of headers and the bytes of the target stay as they came', async (t) => {
  const text =
    'GET /a%2Fb|c//d?x=%20&&y HTTP/1.1\r\nhOST: API.prov.test\r\nX-Two: 1\r\nauthorization: Bearer broker-proxy-managed\r\n' +
    'x-two:2\r\nX-Latin: caf\xe9  \r\nAccept-Encoding: gzip, br\r\n\r\n'
  assert.equal(
    await receivedFor(t, text),
    text.replace('authorization: Bearer broker-proxy-managed', `Authorization: ${CREDENTIAL}`),
  )
})

const INJECTIONS: readonly (readonly [string, string, Injected, string])[] = [
  ['a header the child did not send comes last', request('A: b'), {}, request('A: b', AUTH.trim())],
  [
    'every spelling and repetition of the child’s own gives way to one',
    request('X_Api_Key: a', 'x-api-key: b', 'X-API-KEY: c, d', 'A: b'),
    { headers: { 'X-Api-Key': 'CNRYk' } },
    request('X-Api-Key: CNRYk', 'A: b'),
  ],
  [
    'the child’s own Authorization goes also where another header is injected',
    request('Authorization: Bearer attacker', 'A: b'),
    { headers: { 'X-Api-Key': 'CNRYk' } },
    request('A: b', 'X-Api-Key: CNRYk'),
  ],
  [
    'what is set only if absent yields to the child’s own',
    request('X-Version: 2020'),
    { headers: { Authorization: CREDENTIAL, 'X-Version': '2026', 'X-More': '1' }, ifAbsent: ['X-Version', 'X-More'] },
    request('X-Version: 2020', AUTH.trim(), 'X-More: 1'),
  ],
  [
    'Connection cannot name the injected header away',
    request('Connection: authorization, x-hop', 'Authorization: x', 'X-Hop: 1', 'A: b'),
    {},
    request(AUTH.trim(), 'A: b'),
  ],
  [
    'what concerns the child’s leg only, and what would steer the broker, is dropped',
    request(
      'Connection: keep-alive',
      'Keep-Alive: 5',
      'Proxy-Authorization: Basic x',
      'Proxy-Connection: a',
      'TE: trailers',
      'X-Broker-Connection: work',
      'A: b',
    ),
    {},
    request('A: b', AUTH.trim()),
  ],
  [
    'an upgrade to another HTTP is not passed on',
    request('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: x'),
    {},
    request(AUTH.trim()),
  ],
  [
    'the placeholder anywhere else stays what it is',
    request('X-Other: broker-proxy-managed', 'Cookie: broker-proxy-managed'),
    {},
    request('X-Other: broker-proxy-managed', 'Cookie: broker-proxy-managed', AUTH.trim()),
  ],
  [
    'a cookie replaces the child’s own of that name, and no other',
    request('Cookie: a=1; session=x', 'A: b', 'cookie: session=y;c=3'),
    { headers: {}, cookies: { session: 'CNRY' } },
    request('Cookie: a=1; c=3; session=CNRY', 'A: b'),
  ],
  [
    'a cookie the child did not send comes last',
    request('A: b'),
    { headers: {}, cookies: { session: 'CNRY' } },
    request('A: b', 'Cookie: session=CNRY'),
  ],
  [
    'a parameter replaces the child’s own, however it is spelled',
    request('A: b').replace('?a=1', '?a=1&k%65y=x&&key=y&keys=z'),
    { headers: {}, query: { key: 'CNRY&=é' } },
    request('A: b').replace('?a=1', '?a=1&&keys=z&key=CNRY%26%3D%C3%A9'),
  ],
  [
    'a segment of the path gives way to the one with the key, and nothing else of the target changes',
    request('A: b').replace('/v1?a=1', '/file/bot0:x%2F/a//bot1?u=/bot2'),
    { headers: {}, path: { name: '/bot', value: '1:CNRY' } },
    request('A: b').replace('/v1?a=1', '/file/bot1:CNRY/a//bot1?u=/bot2'),
  ],
  [
    'a last segment of the path gives way too, before the query',
    request('A: b').replace('/v1?a=1', '/bot?a=/'),
    { headers: {}, path: { name: '/bot', value: '1:CNRY' }, query: { key: 'CNRY' } },
    request('A: b').replace('/v1?a=1', '/bot1:CNRY?a=/&key=CNRY'),
  ],
  [
    'a path without such a segment stays what it is',
    request('A: b').replace('/v1?a=1', '/robot/Bot?u=/bot'),
    { headers: {}, path: { name: '/bot', value: '1:CNRY' } },
    request('A: b').replace('/v1?a=1', '/robot/Bot?u=/bot'),
  ],
  [
    'the segment behind a prefix gives way, whatever the child sent there, and nothing else of the target changes',
    request('A: b').replace('/v1?a=1', '/nft/v3/x%2Fy/v3/z?u=/nft/v3/'),
    { headers: {}, path: { name: '/nft/v3/', value: 'CNRY' } },
    request('A: b').replace('/v1?a=1', '/nft/v3/CNRY/v3/z?u=/nft/v3/'),
  ],
  [
    'an empty segment behind a prefix gives way too, before the query',
    request('A: b').replace('/v1?a=1', '/v2/?a=/'),
    { headers: {}, path: { name: '/v2/', value: 'CNRY' } },
    request('A: b').replace('/v1?a=1', '/v2/CNRY?a=/'),
  ],
  [
    'a prefix of whole segments is nowhere but at the beginning of the path',
    request('A: b').replace('/v1?a=1', '/x/v2/y'),
    { headers: {}, path: { name: '/v2/', value: 'CNRY' } },
    request('A: b').replace('/v1?a=1', '/x/v2/y'),
  ],
  [
    'a parameter is set where there was no query',
    request('A: b').replace('?a=1', ''),
    { headers: {}, query: { key: 'CNRY' } },
    request('A: b').replace('?a=1', '?key=CNRY'),
  ],
]

for (const [what, sent, found, received] of INJECTIONS) {
  test(what, async (t) => {
    assert.equal(await receivedFor(t, sent, found), received)
  })
}

const ANSWERS: readonly (readonly [string, string])[] = [
  [
    'case, duplicates and latin1 of headers',
    'HTTP/1.1 200 Fine\r\nsEt-cookie: a\r\nSet-Cookie: caf\xe9\r\nContent-Length: 2\r\n\r\nok',
  ],
  ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 2\r\n\r\nok'],
  [
    'chunks with trailers',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n',
  ],
  ['a compressed body', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x00\xff'],
  ['30 KB of headers', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(30_000)}\r\nContent-Length: 2\r\n\r\nok`],
  [
    '103 before the answer',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  ],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'],
]

for (const [what, answer] of ANSWERS) {
  test(`an answer passes byte for byte, and the connection is kept: ${what}`, async (t) => {
    const { origin, proxy } = await world(t, answering(answer))
    const client = await openTls(t, proxy, HOST)
    client.send(GET)
    await client.until((text) => text === answer)
    client.send(GET)
    await client.until((text) => text === answer + answer)
    assert.equal(origin.connections(), 1)
  })
}

test('a 24 KB cookie goes up', async (t) => {
  const text = request(`Cookie: ${'c'.repeat(24_000)}`, AUTH.trim())
  assert.equal(await receivedFor(t, text), text)
})

test('an answer to HEAD has no body, whatever its length says', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'
  const { origin, proxy } = await world(t, answering(head))
  const client = await openTls(t, proxy, HOST)
  client.send(GET.replace('GET', 'HEAD').repeat(2))
  await client.until((text) => text === head + head)
  assert.equal(origin.connections(), 1)
})

test('an answer that ends with the connection ends the child’s, with all of it', async (t) => {
  const { proxy } = await world(t, (socket) =>
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(100_000)}`)),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  const text = await client.untilClosed()
  assert.equal(client.endedInOrder, true)
  assert.equal(text, `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(100_000)}`)
})

test('a child that says close is closed after its answer', async (t) => {
  const { proxy } = await world(t, answering(OK))
  const client = await openTls(t, proxy, HOST)
  client.send(request('Connection: close'))
  assert.equal(await client.untilClosed(), OK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
})

test('Alt-Svc, which would lead around the proxy, is removed', async (t) => {
  const { proxy } = await world(t, answering(OK.replace('\r\n\r\n', '\r\nAlt-Svc: h3=":443"\r\n\r\n')))
  assert.equal(await ask(t, proxy, HOST, GET), OK)
})

test('each byte of a request on its own makes the same request', async (t) => {
  const text = `POST /v1 HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nAuthorization: CNRYevil\r\nX-Sum: 1\r\n\r\n`
  const { origin, proxy } = await world(t, (socket) => {
    let all = ''
    socket.on('data', (chunk) => {
      all += chunk.toString()
      if (all.endsWith('X-Sum: 1\r\n\r\n')) socket.write(OK)
    })
  })
  const client = await openTls(t, proxy, HOST)
  for (const byte of text) client.send(byte)
  await client.until(/ok$/)
  assert.equal(
    origin.received(),
    text.replace('\r\n\r\n', `\r\n${AUTH}\r\n`).replace('Authorization: CNRYevil\r\n', ''),
  )
})

test('each byte of an answer on its own makes the same answer', async (t) => {
  const answer =
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nAlt-Svc: x\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n'
  const { proxy } = await world(t, (socket) => {
    socket.setNoDelay(true)
    socket.once('data', () => {
      for (const byte of answer) socket.write(byte)
    })
  })
  const text = await ask(t, proxy, HOST, GET, /X-Sum: 1\r\n\r\n$/)
  assert.equal(text, answer.replace('Alt-Svc: x\r\n', ''))
})

test('the first event of a stream arrives before the second is sent', async (t) => {
  let next = () => {}
  const { proxy } = await world(t, (socket) =>
    socket.once('data', () => {
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\ndata: 1\n\r\n',
      )
      next = () => socket.write('8\r\ndata: 2\n\r\n0\r\n\r\n')
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  await client.until(/data: 1/)
  next()
  await client.until(/data: 2\n\r\n0\r\n\r\n$/)
})

test('a chunked upload streams: the service sees its first chunk before the second is sent', async (t) => {
  const { origin, proxy } = await world(t, (socket) =>
    socket.on('data', (chunk) => {
      if (chunk.includes('first')) socket.write('HTTP/1.1 102 Processing\r\n\r\n')
      if (chunk.includes('0\r\n\r\n')) socket.write(OK)
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n`)
  await client.until(/102 Processing/)
  client.send('6\r\nsecond\r\n0\r\n\r\n')
  await client.until(/ok$/)
  assert.match(origin.received(), /5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n$/)
})

test('Expect: 100-continue goes end to end: the body waits for the service’s own 100', async (t) => {
  const { origin, proxy } = await world(t, (socket) =>
    socket.on('data', (chunk) => {
      socket.write(chunk.includes('Expect') ? 'HTTP/1.1 100 Continue\r\n\r\n' : OK)
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`)
  await client.until(/^HTTP\/1.1 100 Continue\r\n\r\n$/)
  assert.doesNotMatch(origin.received(), /body/)
  client.send('body')
  await client.until(/ok$/)
})

test('an expectation that the service refuses with 417 is refused with 417', async (t) => {
  const refusal = 'HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
  const { proxy } = await world(t, (socket) => socket.once('data', () => socket.end(refusal)))
  const client = await openTls(t, proxy, HOST)
  client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`)
  assert.match(await client.untilClosed(), /^HTTP\/1.1 417 /)
})

test('a service that breaks off within a body is seen to break off', async (t) => {
  const { proxy, daemon } = await world(t, (socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', () => socket.destroy())
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  assert.match(await client.untilClosed(), /half$/)
  await proxy.flush()
  assert.deepEqual(
    daemon.events.map(({ status, reason }) => [status, reason]),
    [['failure', 'upstream_abort']],
  )
})

test('a service that resets an answer without a length is not taken for one that ended it', async (t) => {
  const { origin, proxy } = await world(t, (socket) =>
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf')),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  await client.until(/half$/)
  origin.reset()
  await client.untilClosed()
  assert.equal(client.endedInOrder, false)
})

test('a child that goes away within an answer closes the service’s connection', async (t) => {
  const { origin, proxy } = await world(t, (socket) =>
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  await client.until(/half$/)
  const [upstream] = origin.sockets
  assert.ok(upstream !== undefined)
  const gone = once(upstream, 'close')
  client.socket.destroy()
  await gone
})

const WHOLE: readonly (readonly [string, string])[] = [
  ['without a body', GET],
  ['with one', `POST /v1 HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 4\r\n\r\nbody`],
  ['behind another', GET + GET],
]

for (const [kind, text] of WHOLE) {
  test(`a child that ends its side behind a request ${kind} gets its answer`, {
    skip: process.platform === 'linux' ? false : 'only Linux tells a half-closed connection from a closed one',
  }, async (t) => {
    const { proxy, daemon: fake } = await world(t, answering(OK))
    const client = await openTls(t, proxy, HOST)
    const said = once(client.socket, 'finish')
    fake.resolve = async () => {
      await said
      return resolution()
    }
    client.socket.end(text)
    const received = await client.untilClosed()
    assert.equal(received.split('HTTP/1.1 200').length - 1, text === GET + GET ? 2 : 1)
    assert.ok(received.endsWith('ok'))
  })
}

test('a child that ends its side within a body has given the request up', async (t) => {
  const { origin, proxy } = await world(t, () => {})
  const client = await openTls(t, proxy, HOST)
  client.send(`POST /v1 HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 10\r\n\r\nhalf`)
  while (!origin.received().endsWith('half')) await new Promise((resolve) => setImmediate(resolve))
  const [upstream] = origin.sockets
  assert.ok(upstream !== undefined)
  const gone = once(upstream, 'close')
  client.socket.end()
  await gone
})

test('a kept connection that the service closed meanwhile is replaced, for a request that may be sent twice', async (t) => {
  let served = 0
  const { origin, proxy } = await world(t, (socket) =>
    socket.on('data', () => {
      served += 1
      // The second request on a connection meets a service that has just let it go.
      if (served === 2) socket.destroy()
      else socket.write(OK)
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  await client.until(/ok$/)
  client.clear()
  client.send(GET)
  await client.until(/^HTTP\/1.1 200 [\s\S]*ok$/)
  assert.equal(origin.connections(), 2)
})

test('a request with a body is never sent twice', async (t) => {
  let served = 0
  const { origin, proxy } = await world(t, (socket) =>
    socket.on('data', () => {
      served += 1
      if (served === 2) socket.destroy()
      else socket.write(OK)
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  await client.until(/ok$/)
  client.clear()
  client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 1\r\n\r\nx`)
  await client.until(/^HTTP\/1.1 502 [\s\S]*"reason":"reset"/)
  assert.equal(origin.connections(), 1)
})

test('a large body waits for the credential without being gathered up', async (t) => {
  const { origin, proxy, daemon } = await world(t, (socket) => {
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
      if (received > 8_000_000) socket.write(OK)
    })
  })
  const allowed = Promise.withResolvers<ResolvedCredential>()
  daemon.resolve = () => allowed.promise
  const client = await openTls(t, proxy, HOST)
  client.send(`PUT / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 8000000\r\n\r\n`)
  const written = client.socket.write(Buffer.alloc(8_000_000, 'x'))
  assert.equal(written, false)
  while (daemon.asked.length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(origin.connections(), 0)
  allowed.resolve(resolution())
  await client.until(/ok$/)
})

test('a request that is refused with its body still coming is answered, and then its connection ends', async (t) => {
  const { proxy, daemon } = await world(t, answering(OK))
  daemon.resolve = () => Promise.reject(new BrokerError('ConnectionNotFoundError', 'gone'))
  const client = await openTls(t, proxy, HOST)
  client.send(`PUT / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 8000000\r\n\r\n`)
  client.socket.write(Buffer.alloc(4_000_000, 'x'))
  assert.match(await client.untilClosed(), /^HTTP\/1.1 403 [\s\S]*Connection: close[\s\S]*\}$/)
})

test('a child that goes away while the credential is asked for leaves nothing behind', async (t) => {
  const { origin, proxy, daemon, logs } = await world(t, answering(OK))
  const allowed = Promise.withResolvers<ResolvedCredential>()
  daemon.resolve = () => allowed.promise
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  while (daemon.asked.length === 0) await new Promise((resolve) => setImmediate(resolve))
  client.socket.destroy()
  const noticed = () => logs.some((event) => 'event' in event && event.event === 'child_gone')
  while (!noticed()) await new Promise((resolve) => setImmediate(resolve))
  allowed.resolve(resolution())
  await proxy.flush()
  assert.equal(origin.received(), '')
  assert.deepEqual(daemon.events, [])
})

test('a second answer that nobody asked for is never given to the next request', async (t) => {
  const { origin, proxy } = await world(t, answering(OK + OK.replace('ok', 'no')))
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  await client.until((text) => text === OK)
  client.send(GET)
  await client.until((text) => text === OK + OK)
  assert.equal(origin.connections(), 2)
})

test('an answer that is no HTTP is 502', async (t) => {
  const { proxy } = await world(t, answering('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'))
  assert.match(await ask(t, proxy, HOST, GET), /^HTTP\/1.1 502 [\s\S]*"reason":"protocol"/)
})

test('a chunk extension is passed on in neither direction', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { origin, proxy } = await world(t, answering(`${head}2;down="stream"\r\nok\r\n0;end\r\n\r\n`))
  const client = await openTls(t, proxy, HOST)

  client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n3;up=stream\r\nabc\r\n0\r\n\r\n`)

  await client.until((text) => text === `${head}2\r\nok\r\n0\r\n\r\n`)
  assert.match(origin.received(), /\r\n\r\n3\r\nabc\r\n0\r\n\r\n$/)
})

const NO_ANSWERS: readonly (readonly [string, string])[] = [
  ['bare LF for line ends', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ['a bare LF behind good lines', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nServer: x\n'],
  ['a bare CR', 'HTTP/1.1 200 OK\rContent-Length: 2\r\r'],
  ['a NUL', 'HTTP/1.1 200 OK\r\nServer: \0'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6'],
  ['HTTP/0.9', '<html>'],
  ['a status that is none', 'HTTP/1.1 2OO OK\r\n'],
  ['a field that is none', 'HTTP/1.1 200 OK\r\nServer: x\r\nno field\r\n'],
  ['a folded field', 'HTTP/1.1 200 OK\r\nServer: x\r\n y\r\n'],
  ['interim answers without end', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(2_000)],
]

for (const [what, begin] of NO_ANSWERS) {
  test(`an answer that begins as none is 502 at once: ${what}`, async (t) => {
    const { proxy } = await world(t, answering(begin))

    assert.match(await ask(t, proxy, HOST, GET), /HTTP\/1.1 502 [\s\S]*"reason":"protocol"/)
  })
}

const SMUGGLED = `GET /smuggled HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
const BROKEN_BODIES: readonly (readonly [string, string])[] = [
  ['CL.TE', `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['TE.CL', `Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n8\r\nSMUGGLED\r\n0\r\n\r\n`],
  ['TE with a vertical tab', `Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['TE with a no-break space', `Transfer-Encoding: chunked\xa0\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['an LF in a chunk extension', `Transfer-Encoding: chunked\r\n\r\n2;\nxx\r\nab\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk longer than its size', `Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n${SMUGGLED}`],
]

for (const [what, rest] of BROKEN_BODIES) {
  test(`nothing is smuggled by ${what}`, async (t) => {
    const { origin, proxy } = await world(t, () => {})
    const client = await openTls(t, proxy, HOST)
    client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\n${rest}`)
    assert.match(await client.untilClosed(), /^HTTP\/1.1 400 /)
    assert.doesNotMatch(origin.received(), /smuggled|\r\n0\r\n/)
  })
}

test('a body that comes after an early answer is a body still, and no request', async (t) => {
  const { origin, proxy, daemon } = await world(t, (socket) =>
    socket.on('data', (chunk) => {
      if (/^(?:PUT|GET \/v1) /m.test(String(chunk))) socket.write(OK)
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(`PUT / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n`)
  await client.until((text) => text === OK)
  client.send(SMUGGLED)
  client.send(GET)
  await client.until((text) => text === OK + OK)
  assert.deepEqual(
    daemon.asked.map(({ path }) => path),
    ['/', '/v1'],
  )
  assert.equal(origin.received().split(CREDENTIAL).length, 3)
})

async function webSocketWorld(t: TestContext) {
  const server = new WebSocketServer({ noServer: true })
  t.after(() => server.close())
  const { createServer } = await import('node:http')
  const http = createServer()
  http.on('upgrade', (upgrade, socket, head) =>
    server.handleUpgrade(upgrade, socket, head, (peer) => {
      peer.send(`hello ${upgrade.headers.authorization}`.replace(CREDENTIAL, 'you'))
      peer.on('message', (data) => peer.send(data))
    }),
  )
  return world(t, (socket) => http.emit('connection', socket))
}

test('a WebSocket is opened with the credential and then left alone', async (t) => {
  const { proxy, daemon } = await webSocketWorld(t)
  const { connect } = await import('node:tls')
  const tunnel = await openTunnel(t, proxy, `${HOST}:443`)
  const socket = new WebSocket(`wss://${HOST}/live`, {
    createConnection: () => connect({ socket: tunnel, servername: HOST, ca: proxy.caPem }),
  })
  const [hello] = await once(socket, 'message')
  assert.equal(String(hello), 'hello you')
  const big = 'x'.repeat(300_000)
  socket.send(big)
  const [echo] = await once(socket, 'message')
  assert.equal(String(echo), big)
  socket.close()
  await once(socket, 'close')
  await proxy.flush()
  assert.deepEqual(
    daemon.events.map(({ event, request }) => [event, request?.status]),
    [['proxy.request', 101]],
  )
})

test('a 101 that nobody asked for is 502', async (t) => {
  const { proxy } = await world(
    t,
    answering('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  )
  assert.match(await ask(t, proxy, HOST, GET), /^HTTP\/1.1 502 /)
})

const SIZE = 64 * 1024 * 1024
const BLOCK = Buffer.alloc(65_536, 'x')

function writeAll(
  socket: { write(chunk: Buffer): boolean; once(event: 'drain', then: () => void): unknown },
  left: number,
): void {
  let rest = left
  const more = () => {
    while (rest > 0) {
      rest -= BLOCK.length
      if (!socket.write(BLOCK)) {
        socket.once('drain', more)
        return
      }
    }
  }
  more()
}

function countedClient(client: Client): { received(): number } {
  let received = 0
  client.socket.removeAllListeners('data')
  client.socket.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  return { received: () => received }
}

test('64 MB come down and go up with flat memory', async (t) => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${SIZE}\r\n\r\n`
  const { origin, proxy } = await world(t, (socket) => {
    let received = 0
    socket.on('data', (chunk) => {
      if (received === 0 && String(chunk.slice(0, 3)) === 'GET') {
        socket.write(head)
        writeAll(socket, SIZE)
        return
      }
      received += chunk.length
      if (received > SIZE) socket.write(OK)
    })
  })
  assert.equal(origin.connections(), 0)
  const before = process.memoryUsage().external
  const down = await openTls(t, proxy, HOST)
  const count = countedClient(down)
  down.send(GET)
  while (count.received() < SIZE + head.length) await once(down.socket, 'data')
  assert.equal(count.received(), SIZE + head.length)
  const up = await openTls(t, proxy, HOST)
  up.send(`PUT / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: ${SIZE}\r\n\r\n`)
  writeAll(up.socket, SIZE)
  await up.until(/ok$/)
  assert.ok(process.memoryUsage().external - before < 1.5 * SIZE)
})

test('a child that stops reading stops the service, and gets everything once it reads on', async (t) => {
  let sent = 0
  const { proxy } = await world(t, (socket) =>
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${SIZE}\r\n\r\n`)
      const counted = {
        write: (chunk: Buffer) => {
          sent += chunk.length
          return socket.write(chunk)
        },
        once: (event: 'drain', then: () => void) => socket.once(event, then),
      }
      writeAll(counted, SIZE)
    }),
  )
  const client = await openTls(t, proxy, HOST)
  client.send(GET)
  await client.until(/\r\n\r\n/)
  client.socket.pause()
  let seen = -1
  while (seen !== sent) {
    seen = sent
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.ok(sent < SIZE / 2, `the service could send ${sent} bytes to a reader that stopped`)
  const count = countedClient(client)
  client.socket.resume()
  while (sent < SIZE) await once(client.socket, 'data')
  while (count.received() < SIZE - 200_000) await once(client.socket, 'data')
})
