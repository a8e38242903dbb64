import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { BrokerError } from '../protocol/index.ts'
import type { ProxyOptions } from './start-proxy.ts'
import {
  answering,
  ask,
  authorizationLine,
  Client,
  CREDENTIAL,
  daemon,
  type Injected,
  OK,
  openPlain,
  openTls,
  openTunnel,
  resolution,
  route,
  stage,
  type TlsOptions,
  tlsOrigin,
} from './test-stage.ts'

/** Where the credential may go: every case of these ends with the marker nowhere but at its own service. */

const get = (host: string, path = '/v1') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`

async function world(t: TestContext, options: Partial<ProxyOptions> = {}) {
  const good = await tlsOrigin(t, answering(OK))
  const evil = await tlsOrigin(t, answering(OK))
  const origins = { 'api.prov.test': good, 'evil.test': evil, 'a.prov.test': good, 'xapi.prov.test': evil }
  return { good, evil, ...(await stage(t, origins, options)) }
}

test('one authority in CONNECT, server name and Host: injected once', async (t) => {
  const { good, proxy } = await world(t)
  assert.match(await ask(t, proxy, 'api.prov.test', get('api.prov.test:443')), /^HTTP\/1.1 200 /)
  assert.equal(good.received().split(CREDENTIAL).length, 2)
})

const MISMATCHES: readonly (readonly [string, TlsOptions, string])[] = [
  ['another Host', {}, 'evil.test'],
  ['another port in Host', {}, 'api.prov.test:8443'],
  ['a longer Host', {}, 'api.prov.test.evil.test'],
  ['another server name', { servername: 'evil.test' }, 'api.prov.test'],
  ['another server name and Host', { servername: 'evil.test' }, 'evil.test'],
  ['no server name', { servername: '' }, 'api.prov.test'],
]

for (const [what, options, host] of MISMATCHES) {
  test(`${what} than the CONNECT named is 421, and nothing is sent anywhere`, async (t) => {
    const { good, evil, proxy, daemon } = await world(t)
    const client = await openTls(t, proxy, 'api.prov.test', options)
    client.send(get(host))
    const answer = await client.until(/\}$/)
    assert.match(answer, /^HTTP\/1.1 421 [\s\S]*x-broker-error: OperationNotAllowedError/i)
    assert.equal(good.received() + evil.received(), '')
    assert.deepEqual(daemon.asked, [])
    await proxy.flush()
    assert.deepEqual(
      daemon.events.map(({ event, status, reason }) => [event, status, reason]),
      [['proxy.denied', 'denied', 'authority_mismatch']],
    )
  })
}

const ODD_HOSTS = [
  'api%2eprov.test',
  'api.prov.test.',
  'x@api.prov.test',
  'api.prov.test:',
  'api.prov.test:443abc',
  '',
  'a\\b',
]

for (const host of ODD_HOSTS) {
  test(`Host ${JSON.stringify(host)} is 400`, async (t) => {
    const { good, proxy } = await world(t)
    assert.match(await ask(t, proxy, 'api.prov.test', get(host)), /^HTTP\/1.1 400 /)
    assert.equal(good.received(), '')
  })
}

test('an unrouted CONNECT with the Host of a routed one inside meets the genuine service and no credential', async (t) => {
  const { evil, proxy, daemon } = await world(t)
  const socket = await openTunnel(t, proxy, 'evil.test:443')
  const tls = connect({ socket, servername: 'api.prov.test', rejectUnauthorized: false })
  t.after(() => tls.destroy())
  await once(tls, 'secureConnect')
  const client = new Client(tls)
  client.send(get('api.prov.test'))
  await client.until(/ok$/)
  assert.doesNotMatch(evil.received(), /CNRY/)
  assert.deepEqual(daemon.asked, [])
})

test('only the offending request of a connection is refused', async (t) => {
  const { good, evil, proxy } = await world(t)
  const client = await openTls(t, proxy, 'api.prov.test')
  client.send(get('api.prov.test', '/1') + get('evil.test', '/2') + get('api.prov.test', '/3'))
  const text = await client.until(/ok[\s\S]*\}[\s\S]*ok$/)
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 421', 'HTTP/1.1 200'])
  assert.deepEqual(good.received().match(/GET \S+/g), ['GET /1', 'GET /3'])
  assert.equal(evil.received(), '')
})

test('a wildcard stands for exactly one label', async (t) => {
  const { good, proxy } = await world(t, { routes: { routes: [route('*.prov.test')], version: '1' } })
  assert.match(await ask(t, proxy, 'a.prov.test', get('a.prov.test')), /^HTTP\/1.1 200 /)
  assert.match(good.received(), /CNRY/)
})

for (const connect of ['evil.test:443', 'evilprov.test:443', 'a.b.prov.test:443', 'prov.test:443']) {
  test(`${connect} is not covered by *.prov.test`, async (t) => {
    const { proxy } = await world(t, { strict: true, routes: { routes: [route('*.prov.test')], version: '1' } })
    const client = openPlain(t, proxy)
    client.send(`CONNECT ${connect} HTTP/1.1\r\n${authorizationLine(proxy)}\r\n`)
    assert.match(await client.until(/\}$/), /^HTTP\/1.1 403 [\s\S]*"reason":"strict"/)
  })
}

const METHODS: readonly (readonly [string, string, number])[] = [
  ['TRACE', 'TRACE / HTTP/1.1\r\nHost: api.prov.test\r\n\r\n', 405],
  ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: api.prov.test\r\n\r\n', 405],
  ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: api.prov.test\r\n\r\n', 405],
  ['an absolute URL', 'GET https://api.prov.test/ HTTP/1.1\r\nHost: api.prov.test\r\n\r\n', 400],
  ['a URL of another host', 'GET http://evil.test/ HTTP/1.1\r\nHost: api.prov.test\r\n\r\n', 400],
  ['two Hosts', 'GET / HTTP/1.1\r\nHost: api.prov.test\r\nHost: evil.test\r\n\r\n', 400],
  ['a bare LF', 'GET / HTTP/1.1\nHost: api.prov.test\n\n', 400],
  ['a head over 64 KiB', `GET / HTTP/1.1\r\nHost: api.prov.test\r\nA: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
]

for (const [what, request, status] of METHODS) {
  test(`${what} inside the tunnel is ${status}`, async (t) => {
    const { good, proxy } = await world(t)
    assert.match(await ask(t, proxy, 'api.prov.test', request), new RegExp(`^HTTP/1.1 ${status} `))
    assert.equal(good.received(), '')
  })
}

test('bytes that are no TLS behind the CONNECT of a routed host are refused', async (t) => {
  const { good, proxy } = await world(t)
  const client = new Client(await openTunnel(t, proxy, 'api.prov.test:443'))
  client.send(get('api.prov.test'))
  assert.match(await client.until(/\}$/), /^HTTP\/1.1 403 [\s\S]*plaintext_refused/)
  assert.equal(good.received(), '')
})

test('a client that speaks only what the proxy does not gets no handshake, one that offers both versions gets HTTP/1.1', async (t) => {
  const { proxy } = await world(t)
  const both = connect({
    socket: await openTunnel(t, proxy, 'api.prov.test:443'),
    servername: 'api.prov.test',
    ca: proxy.caPem,
    ALPNProtocols: ['h2', 'http/1.1'],
  })
  t.after(() => both.destroy())
  await once(both, 'secureConnect')
  assert.equal(both.alpnProtocol, 'http/1.1')
  const only = connect({
    socket: await openTunnel(t, proxy, 'api.prov.test:443'),
    servername: 'api.prov.test',
    ca: proxy.caPem,
    ALPNProtocols: ['h3'],
  })
  await assert.rejects(once(only, 'secureConnect'))
})

test('paths outside the prefix of a route, and ones that could be folded into it, pass without a credential', async (t) => {
  const { good, proxy, daemon } = await world(t, {
    routes: { routes: [route('api.prov.test', { path_prefix: '/drive/' })], version: '1' },
  })
  const client = await openTls(t, proxy, 'api.prov.test')
  const outside = [
    '/other',
    '/drivel',
    '/DRIVE/x',
    '/drive/../other',
    '/drive/%2e%2e/other',
    '/drive%2Fx',
    '/drive/a%2F..%2F..%2Fother',
    '/drive/%252e%252e/x',
    '/drive/..;/x',
    '/drive\\..\\other',
    '/drive/.',
  ]
  client.send(outside.map((path) => get('api.prov.test', path)).join(''))
  await client.until((text) => text.split('HTTP/1.1 200').length === outside.length + 1)
  assert.doesNotMatch(good.received(), /CNRY/)
  for (const target of ['/drive/x?y=../z', '/drive', '/drive/@a%2Fb']) client.send(get('api.prov.test', target))
  await client.until((text) => text.split('HTTP/1.1 200').length === outside.length + 4)
  assert.equal(good.received().split('CNRY').length, 4)
  assert.deepEqual(
    daemon.asked.map(({ path }) => path),
    ['/drive/x', '/drive', '/drive/@a%2Fb'],
  )
})

const REJECTIONS: readonly (readonly [BrokerError, number])[] = [
  [new BrokerError('DaemonUnavailableError', 'gone'), 502],
  [new BrokerError('RefreshFailedError', 'gone'), 502],
  [new BrokerError('ConnectionNotFoundError', 'gone'), 403],
  [new BrokerError('ProviderNotFoundError', 'gone'), 403],
  [new BrokerError('OperationNotAllowedError', 'gone'), 403],
  [new BrokerError('TokenExpiredError', 'gone'), 403],
]

for (const [error, status] of REJECTIONS) {
  test(`when the daemon says ${error.name} the child reads it as ${status} inside TLS, and nothing goes out`, async (t) => {
    const fake = daemon()
    fake.resolve = () => Promise.reject(error)
    const good = await tlsOrigin(t, answering(OK))
    const { proxy } = await stage(t, { 'api.prov.test': good }, { daemon: fake })
    const answer = await ask(t, proxy, 'api.prov.test', get('api.prov.test'))
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*X-Broker-Error: ${error.name}\r\n[\\s\\S]*"hint":`))
    assert.equal(good.connections(), 0)
    await proxy.flush()
    assert.deepEqual(
      fake.events.map(({ event }) => event),
      ['proxy.denied'],
    )
  })
}

const ADVICE: readonly (readonly [string, BrokerError, number, RegExp])[] = [
  [
    'to log in again where a token has expired for good',
    new BrokerError('TokenExpiredError', 'gone', { provider: 'prov' }),
    403,
    /"hint":"Log in again with `broker login prov --force`[^"]*","reason":"token_expired"}$/,
  ],
  [
    'to log in again or to wait where a refresh failed, and how long',
    new BrokerError('RefreshFailedError', 'gone', { provider: 'prov', retryAfter: 7 }),
    502,
    /\r\nRetry-After: 7\r\n[\s\S]*"hint":"[^"]*`broker login prov --force`[^"]*","reason":"refresh_failed"}$/,
  ],
  [
    'when to try again where the provider is away, in whole seconds',
    new BrokerError('EndpointUnreachableError', 'gone', { retryAfter: 0.5 }),
    502,
    /\r\nRetry-After: 1\r\n[\s\S]*"reason":"endpoint_unreachable"}$/,
  ],
  [
    'what the daemon says, where it says something',
    new BrokerError('TokenExpiredError', 'gone', { hint: 'What the daemon says.' }),
    403,
    /"What the daemon says\."/,
  ],
]

for (const [what, error, status, advice] of ADVICE) {
  test(`a child whose credential is refused is told ${what}`, async (t) => {
    const fake = daemon()
    fake.resolve = () => Promise.reject(error)
    const good = await tlsOrigin(t, answering(OK))
    const { proxy } = await stage(t, { 'api.prov.test': good }, { daemon: fake })
    const answer = await ask(t, proxy, 'api.prov.test', get('api.prov.test'))
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(answer, advice)
  })
}

test('after an outage the same child goes on', async (t) => {
  const fake = daemon()
  const good = await tlsOrigin(t, answering(OK))
  const { proxy } = await stage(t, { 'api.prov.test': good }, { daemon: fake })
  const client = await openTls(t, proxy, 'api.prov.test')
  const works = fake.resolve
  fake.resolve = () => Promise.reject(new BrokerError('DaemonUnavailableError', 'gone'))
  client.send(get('api.prov.test'))
  await client.until(/^HTTP\/1.1 502 [\s\S]*\}$/)
  fake.resolve = works
  client.clear()
  client.send(get('api.prov.test'))
  await client.until(/^HTTP\/1.1 200 [\s\S]*ok$/)
})

const INVALID: readonly (readonly [string, Injected])[] = [
  ['a line break', { headers: { Authorization: 'Bearer CNRY\r\nX: y' } }],
  ['a NUL', { headers: { Authorization: 'Bearer CNRY\0' } }],
  ['a character beyond latin1', { headers: { Authorization: 'Bearer CNRY€' } }],
  ['a name with a colon', { headers: { 'X: y\r\nZ': 'CNRY' } }],
  ['a framing name', { headers: { 'Content-Length': '1' } }],
  ['a line break in a parameter', { headers: {}, query: { key: 'CNRY\n' } }],
  ...['CNRY/x', 'CNRY?x', 'CNRY#x', 'CNRY%2f', 'CNRY x', 'CNRY\r\nX: y'].map(
    (value) => [`the segment ${JSON.stringify(value)}`, { headers: {}, path: { name: '/bot', value } }] as const,
  ),
  ...['CNRY/x', '..', '.', '', 'CNRY%2f'].map(
    (value) => [`the whole segment ${JSON.stringify(value)}`, { headers: {}, path: { name: '/v2/', value } }] as const,
  ),
  ...['CNRY; other=1', 'CNRY\r\nX: y', 'CNRY"', 'CNRY é'].map(
    (session) => [`the cookie ${JSON.stringify(session)}`, { headers: {}, cookies: { session } }] as const,
  ),
]

for (const [what, broken] of INVALID) {
  test(`a stored value with ${what} never reaches the wire`, async (t) => {
    const fake = daemon()
    fake.resolve = async () => resolution(broken)
    const good = await tlsOrigin(t, answering(OK))
    const { proxy } = await stage(t, { 'api.prov.test': good }, { daemon: fake })
    const answer = await ask(t, proxy, 'api.prov.test', get('api.prov.test'))
    assert.match(answer, /^HTTP\/1.1 502 [\s\S]*credential_invalid/)
    assert.doesNotMatch(answer, /CNRY/)
    assert.equal(good.received(), '')
  })
}

test('of a key in the path the audit log and the debug log show neither the one nor what the child sent for it', async (t) => {
  const fake = daemon()
  fake.resolve = async () => resolution({ headers: {}, path: { name: '/bot', value: '1:CNRYkey' } })
  const good = await tlsOrigin(t, answering(OK))
  const { proxy, logs } = await stage(t, { 'api.prov.test': good }, { daemon: fake })
  await ask(t, proxy, 'api.prov.test', get('api.prov.test', '/file/bot2:CNRYown/getMe'))
  await proxy.flush()
  assert.deepEqual(
    fake.events.map(({ request }) => request?.path),
    ['/file/bot…/getMe'],
  )
  assert.doesNotMatch(JSON.stringify([fake.events, logs]), /CNRY/)
})

test('each injected request is told to the audit log, without its query', async (t) => {
  const { proxy, daemon, good } = await world(t)
  await ask(t, proxy, 'api.prov.test', get('api.prov.test', '/v1/x?key=CNRYq'))
  await proxy.flush()
  const [event] = daemon.events
  assert.deepEqual(
    { ...event, id: '', timestamp: '', request: { ...event?.request, duration_ms: 0 } },
    {
      event: 'proxy.request',
      provider: 'prov',
      connection: 'default',
      status: 'success',
      dialled: `127.0.0.1:${good.port}`,
      number: 1,
      run_id: 'run-1',
      id: '',
      timestamp: '',
      request: {
        method: 'GET',
        host: 'api.prov.test',
        port: 443,
        path: '/v1/x',
        status: 200,
        duration_ms: 0,
        bytes_in: 2,
        bytes_out: 0,
      },
    },
  )
})
