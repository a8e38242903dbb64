import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants, performServerHandshake, type ServerHttp2Stream, sensitiveHeaders } from 'node:http2'
import { describe, it, type TestContext } from 'node:test'
import { answerOn, h2Origin, type OnStream, openOffering, openSession } from './http2.fixture.ts'
import {
  answering,
  ask,
  CREDENTIAL,
  daemon,
  OK,
  openTls,
  openTunnel,
  resolution,
  route,
  stage,
  tcpOrigin,
  tlsOrigin,
} from './test-stage.ts'

/** What passes between a child and a service where one of both, or both, speak HTTP/2. */

const HOST = 'api.prov.test'

async function world(t: TestContext, onStream: OnStream) {
  const { origin, sessions } = await h2Origin(t, onStream)
  return { origin, sessions, ...(await stage(t, { [HOST]: origin })) }
}

/** Says what it got, in its trailers how long the body was, and echoes that. */
const echo: OnStream = (stream, headers) => {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('end', () => {
    const body = Buffer.concat(chunks)
    stream.respond(
      { ':status': 200, 'x-authorization': headers.authorization ?? 'none', 'x-method': headers[':method'] },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-length': String(body.length) }))
    stream.end(body)
  })
}

const BOTH = ['h2', 'http/1.1']

describe('the version of HTTP that a child gets', () => {
  for (const [offered, chosen] of [
    [BOTH, 'http/1.1'],
    [['http/1.1'], 'http/1.1'],
    [['h2'], 'h2'],
    [['spdy/3', 'h2'], 'h2'],
  ] as const) {
    it(`is ${chosen} where it offers ${offered.join(' and ')}`, async (t) => {
      const { proxy } = await stage(t, {})
      const tls = await openOffering(t, proxy, HOST, offered)
      assert.equal(tls.alpnProtocol, chosen)
      tls.destroy()
      await once(tls, 'close')
    })
  }
})

describe('a request by HTTP/2', () => {
  it('goes to a service of HTTP/2 with its credential, body and trailers, and is told of', async (t) => {
    const received: (readonly string[])[] = []
    const {
      proxy,
      daemon: fake,
      sessions,
    } = await world(t, (stream, headers, raw) => {
      received.push(raw)
      echo(stream, headers, raw)
    })
    const session = await openSession(t, proxy, HOST)
    const stream = session.request({
      ':method': 'POST',
      ':authority': HOST,
      ':path': '/v1/a%2Fb?x=1&&y',
      authorization: 'Bearer broker-proxy-managed',
      te: 'trailers',
      'x-more': ['1', '2'],
      'x-broker-connection': 'work',
      cookie: ['a=1', 'b=2'],
    })
    stream.write('hello ')
    stream.end('world')
    const { status, headers, body, trailers } = await answerOn(stream)
    assert.deepEqual([status, body, trailers['x-length']], [200, 'hello world', '11'])
    assert.equal(headers['x-authorization'], CREDENTIAL)
    assert.deepEqual(received[0], [
      ...[':method', 'POST', ':scheme', 'https', ':authority', HOST, ':path', '/v1/a%2Fb?x=1&&y'],
      ...[
        'authorization',
        CREDENTIAL,
        'te',
        'trailers',
        'x-more',
        '1',
        'x-more',
        '2',
        'cookie',
        'a=1',
        'cookie',
        'b=2',
      ],
    ])
    assert.equal(sessions(), 1)
    await proxy.flush()
    assert.deepEqual(
      fake.events.map(({ event, status, request }) => [
        event,
        status,
        request?.method,
        request?.path,
        request?.bytes_out,
      ]),
      [['proxy.request', 'success', 'POST', '/v1/a%2Fb', 11]],
    )
  })

  it('goes to a service of HTTP/1.1: Host, one Cookie, chunks where no length is known, and its trailers', async (t) => {
    const answer =
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nAlt-Svc: h3\r\nX-Two: 1\r\nX-Two: 2\r\n\r\n' +
      '3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\nSet-Cookie: no\r\n\r\n'
    const origin = await tlsOrigin(t, (socket) => {
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        if (text.endsWith('0\r\nx-sent: yes\r\n\r\n')) socket.write(answer)
      })
    })
    const { proxy } = await stage(t, { [HOST]: origin })
    const session = await openSession(t, proxy, HOST)
    const stream = session.request(
      {
        ':method': 'POST',
        ':authority': HOST,
        ':path': '/v1',
        te: 'trailers',
        'x-a': 'caf\xe9',
        cookie: ['a=1', 'b=2'],
      },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sent': 'yes', authorization: 'Bearer other' }))
    stream.end('hello')
    const { status, headers, body, trailers, interim } = await answerOn(stream)
    assert.deepEqual([status, body, interim], [200, 'abcde', [103]])
    assert.deepEqual(
      [headers['x-two'], headers['alt-svc'], headers['transfer-encoding']],
      ['1, 2', undefined, undefined],
    )
    assert.equal(trailers['x-sum'], '5')
    assert.equal(trailers['set-cookie'], undefined)
    const received = origin.received()
    assert.equal(
      received,
      `POST /v1 HTTP/1.1\r\nHost: ${HOST}\r\nx-a: caf\xe9\r\ncookie: a=1; b=2\r\nAuthorization: ${CREDENTIAL}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sent: yes\r\n\r\n`,
    )
  })

  it('ends where it ends, also behind no data, and by trailers where its length is nothing', async (t) => {
    const service = await h2Origin(t, echo)
    const old = await tlsOrigin(t, (socket) =>
      socket.on('data', (chunk: Buffer) => chunk.toString().endsWith('\r\n\r\n') && socket.write(OK)),
    )
    for (const origin of [service.origin, old]) {
      const { proxy } = await stage(t, { [HOST]: origin })
      const session = await openSession(t, proxy, HOST)
      const post = { ':method': 'POST', ':path': '/', 'content-length': '0' }
      for (const waitForTrailers of [false, true]) {
        const stream = session.request(post, { waitForTrailers, endStream: false })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }))
        stream.end()
        assert.equal((await answerOn(stream)).status, 200)
      }
    }
    assert.doesNotMatch(old.received(), /content-length/i, 'chunks, and no length beside them')
  })

  it('is reset where its answer is none that HTTP/2 can say, and the proxy serves on', async (t) => {
    const origin = await tlsOrigin(
      t,
      answering((head) => (head.includes('/odd') ? 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nno' : OK)),
    )
    const { proxy } = await stage(t, { [HOST]: origin })
    const session = await openSession(t, proxy, HOST)
    const odd = await answerOn(session.request({ ':path': '/odd' }))
    assert.deepEqual([odd.status, odd.code], [0, constants.NGHTTP2_INTERNAL_ERROR])
    assert.equal((await answerOn(session.request({ ':path': '/' }))).body, 'ok')
  })

  it('keeps its length, and one connection serves all that follow each other', async (t) => {
    const origin = await tlsOrigin(t, answering(OK))
    const { proxy } = await stage(t, { [HOST]: origin })
    const session = await openSession(t, proxy, HOST)
    for (const body of ['one', 'two!']) {
      const stream = session.request({ ':method': 'PUT', ':path': '/', 'content-length': String(body.length) })
      stream.end(body)
      assert.equal((await answerOn(stream)).body, 'ok')
    }
    assert.match(origin.received(), /content-length: 4\r\n.*\r\n\r\ntwo!$/s)
    assert.equal(origin.connections(), 1)
  })

  it('is judged by its authority, each by itself', async (t) => {
    const { proxy, sessions, daemon: fake } = await world(t, echo)
    const session = await openSession(t, proxy, HOST)
    const get = (more: object) => answerOn(session.request({ ':path': '/', ...more }))
    const answers = await Promise.all([
      get({}),
      get({ ':authority': 'api.other.test' }),
      get({ ':authority': `${HOST}:8443` }),
      get({ host: 'api.other.test' }),
      get({ ':authority': 'api_prov.test:x' }),
      get({ ':scheme': 'http' }),
      get({ ':method': 'TRACE' }),
      get({ ':method': 'OPTIONS', ':path': '*' }),
      get({ ':method': 'CONNECT', ':authority': `${HOST}:443`, ':path': undefined, ':scheme': undefined }),
      get({}),
    ])
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers['x-broker-error']]),
      [
        [200, undefined],
        [421, 'OperationNotAllowedError'],
        [421, 'OperationNotAllowedError'],
        [421, 'OperationNotAllowedError'],
        [400, 'InvalidRequestError'],
        [400, 'InvalidRequestError'],
        [405, 'InvalidRequestError'],
        [405, 'InvalidRequestError'],
        [405, 'InvalidRequestError'],
        [200, undefined],
      ],
    )
    assert.equal(sessions(), 1)
    await proxy.flush()
    assert.equal(fake.events.filter(({ event }) => event === 'proxy.denied').length, 8)
  })

  it('is refused as one of HTTP/1.1 is, where the daemon has no credential for it', async (t) => {
    const { origin, sessions } = await h2Origin(t, echo)
    const fake = daemon()
    fake.resolve = async () => {
      throw new Error('no')
    }
    const { proxy } = await stage(t, { [HOST]: origin }, { daemon: fake })
    const session = await openSession(t, proxy, HOST)
    const { status, body, headers } = await answerOn(session.request({ ':path': '/' }))
    assert.deepEqual([status, headers['content-type'], sessions()], [502, 'application/json', 0])
    assert.equal(JSON.parse(body).error, 'InternalError')
  })

  it('puts no two connections’ credentials on one session', async (t) => {
    const { origin, sessions } = await h2Origin(t, echo)
    const fake = daemon()
    fake.resolve = async ({ path }) => ({ ...resolution(), connection: path === '/a' ? 'one' : 'two' })
    const { proxy } = await stage(t, { [HOST]: origin }, { daemon: fake })
    const session = await openSession(t, proxy, HOST)
    for (const path of ['/a', '/b', '/a', '/b']) await answerOn(session.request({ ':path': path }))
    assert.equal(sessions(), 2)
  })

  it('never indexes what was injected', async (t) => {
    const kept: unknown[] = []
    const { origin } = await h2Origin(t, (stream, headers, raw) => {
      kept.push(headers[sensitiveHeaders as never])
      echo(stream, headers, raw)
    })
    const fake = daemon()
    fake.resolve = async () =>
      resolution({ headers: { 'X-Long-Name-For-A-Key': 'CNRY'.repeat(20) }, query: { key: 'CNRY' } })
    const { proxy } = await stage(t, { [HOST]: origin }, { daemon: fake })
    const session = await openSession(t, proxy, HOST)
    await answerOn(session.request({ ':path': '/' }))
    assert.deepEqual(kept, [[':path', 'x-long-name-for-a-key']])
  })
})

describe('a child of HTTP/1.1', () => {
  it('reaches a service that has nothing but HTTP/2: chunks off, chunks on, trailers both ways', async (t) => {
    const { proxy, sessions } = await world(t, (stream, headers, raw) => {
      stream.on('trailers', (trailers) => stream.additionalHeaders({ ':status': 103, 'x-trailer': trailers['x-sum'] }))
      echo(stream, headers, raw)
    })
    const client = await openTls(t, proxy, HOST)
    const request = `POST /v1 HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n`
    client.send(request)
    const first = await client.until(/x-length: 5\r\n\r\n$/)
    assert.match(first, /^HTTP\/1\.1 103 \r\nx-trailer: 5\r\n\r\nHTTP\/1\.1 200 \r\n/)
    assert.ok(first.endsWith('Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\nx-length: 5\r\n\r\n'), first)
    client.clear()
    client.send(`GET /v1 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
    await client.until(/0\r\nx-length: 0\r\n\r\n$/)
    assert.equal(sessions(), 1)
  })

  it('never gets HTTP/2 on the way up where the service has HTTP/1.1 too', async (t) => {
    const origin = await tlsOrigin(t, answering(OK), undefined, BOTH)
    const { proxy } = await stage(t, { [HOST]: origin })
    assert.equal(await ask(t, proxy, HOST, `GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`), OK)
  })
})

describe('a reset', () => {
  const CODES = [constants.NGHTTP2_CANCEL, constants.NGHTTP2_ENHANCE_YOUR_CALM, constants.NGHTTP2_INADEQUATE_SECURITY]

  it('of the service is one for the child, with its code, before and within an answer', async (t) => {
    const { proxy } = await world(t, (stream, headers) => {
      const [, when, code] = String(headers[':path']).split('/')
      if (when === 'within') {
        stream.respond({ ':status': 200 }, { waitForTrailers: true })
        stream.write('part', () => stream.close(Number(code)))
      } else stream.close(Number(code))
    })
    const session = await openSession(t, proxy, HOST)
    for (const code of CODES) {
      const before = await answerOn(session.request({ ':path': `/before/${code}` }))
      assert.deepEqual([before.status, before.code], [0, code])
      const within = await answerOn(session.request({ ':path': `/within/${code}` }))
      assert.deepEqual([within.status, within.code], [200, code])
    }
  })

  it('of the child is one for the service, with its code', async (t) => {
    const codes: number[] = []
    let wake = () => {}
    const { proxy } = await world(t, (stream) => {
      stream.respond({ ':status': 200 })
      stream.write('begun')
      stream.on('close', () => {
        codes.push(stream.rstCode)
        wake()
      })
    })
    const session = await openSession(t, proxy, HOST)
    for (const code of CODES) {
      const closed = new Promise<void>((resolve) => {
        wake = resolve
      })
      const stream = session.request({ ':path': '/', ':method': 'POST' })
      stream.on('error', () => {})
      stream.on('data', () => stream.close(code))
      await closed
    }
    assert.deepEqual(codes, CODES)
  })

  it('without an error is no end: a message that was cut off never passes for a whole one', async (t) => {
    const { proxy } = await world(t, (stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.write('part', () => stream.close(constants.NGHTTP2_NO_ERROR))
    })
    const session = await openSession(t, proxy, HOST)
    const { code } = await answerOn(session.request({ ':path': '/' }))
    assert.equal(code, constants.NGHTTP2_INTERNAL_ERROR)
    const client = await openTls(t, proxy, HOST)
    client.send(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
    assert.doesNotMatch(await client.untilClosed(), /\r\n0\r\n/)
  })

  it('of the whole connection upstream is told to HTTP/1.1 by 502', async (t) => {
    const { proxy } = await world(t, (stream) => stream.session?.destroy())
    const answer = await ask(t, proxy, HOST, `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 0\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 502 /)
  })
})

describe('many streams of one child', () => {
  it('share a session, and those that wait for it are all served', async (t) => {
    const { proxy, sessions } = await world(t, echo)
    const session = await openSession(t, proxy, HOST)
    await once(session, 'remoteSettings')
    const all = Array.from({ length: 100 }, (_, at) => {
      const stream = session.request({ ':path': `/${at}`, ':method': 'POST' })
      stream.end(String(at))
      return answerOn(stream)
    })
    const answers = await Promise.all(all)
    assert.deepEqual(
      answers.map(({ body }) => body),
      answers.map((_, at) => String(at)),
    )
    assert.equal(sessions(), 1)
  })

  it('get a second session where the first is full', async (t) => {
    const { origin, sessions } = await h2Origin(t, echo, { settings: { maxConcurrentStreams: 2 } })
    const { proxy } = await stage(t, { [HOST]: origin })
    const session = await openSession(t, proxy, HOST)
    const streams = Array.from({ length: 5 }, () => session.request({ ':path': '/', ':method': 'POST' }))
    const answers = streams.map((stream) => answerOn(stream))
    for (const stream of streams) stream.write('x')
    while (sessions() < 3) await new Promise((resolve) => setImmediate(resolve))
    for (const stream of streams) stream.end()
    assert.deepEqual(
      (await Promise.all(answers)).map(({ body }) => body),
      ['x', 'x', 'x', 'x', 'x'],
    )
  })

  it('to two hosts are two connections of the child, and of the proxy', async (t) => {
    const one = await h2Origin(t, echo)
    const two = await h2Origin(t, echo)
    const { proxy } = await stage(
      t,
      { 'a.prov.test': one.origin, 'b.prov.test': two.origin },
      { route: [route('a.prov.test'), route('b.prov.test')] },
    )
    const session = await openSession(t, proxy, 'a.prov.test')
    assert.equal((await answerOn(session.request({ ':path': '/' }))).status, 200)
    assert.equal((await answerOn(session.request({ ':path': '/', ':authority': 'b.prov.test' }))).status, 421)
    assert.deepEqual([one.sessions(), two.sessions()], [1, 0])
  })
})

describe('HTTP/2 in the clear', () => {
  it('reaches a server on this machine that is spoken to so, through a tunnel', async (t) => {
    const origin = await tcpOrigin(t, (socket) => {
      const session = performServerHandshake(socket)
      session.on('error', () => {})
      session.on('stream', (stream, headers) => echo(stream as ServerHttp2Stream, headers, []))
    })
    const authority = `127.0.0.1:${origin.port}`
    const { proxy } = await stage(t, {}, { route: [route('127.0.0.1', { port: origin.port, plain: true })] })
    const socket = await openTunnel(t, proxy, authority)
    const session = connect(`http://${authority}`, { createConnection: () => socket })
    session.on('error', () => {})
    t.after(() => session.destroy())
    const stream = session.request({ ':method': 'POST', ':path': '/', ':authority': authority })
    stream.end('hello')
    const { headers, body } = await answerOn(stream)
    assert.deepEqual([body, headers['x-authorization']], ['hello', CREDENTIAL])
    const other = await answerOn(session.request({ ':path': '/', ':authority': 'api.other.test' }))
    assert.equal(other.status, 421)
  })
})
