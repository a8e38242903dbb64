import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { connect } from 'node:tls'
import { authority } from '../network/index.ts'
import type { Routes } from '../schemas/index.ts'
import type { ProxyOptions, RunningProxy } from './start-proxy.ts'
import {
  answering,
  ask,
  authorizationLine,
  Client,
  CREDENTIAL,
  OK,
  openPlain,
  openTls,
  openTunnel,
  route,
  stage,
  tcpOrigin,
  testAuthority,
  tlsOrigin,
} from './test-stage.ts'

async function world(t: TestContext, options: Partial<ProxyOptions> = {}) {
  const plain = await tcpOrigin(t, answering(OK))
  const running = await stage(t, { 'plain.test': plain, 'api.prov.test': plain, 'evil.test': plain }, options)
  return { plain, ...running, client: openPlain(t, running.proxy), auth: authorizationLine(running.proxy) }
}

const JSON_END = /\}$/

test('who has no credentials gets 407 with a challenge, may try again on the same connection, and is not told of', async (t) => {
  const { client, auth, daemon, proxy } = await world(t)
  client.send('CONNECT plain.test:80 HTTP/1.1\r\nHost: plain.test:80\r\n\r\n')
  const answer = await client.until(JSON_END)
  assert.match(answer, /^HTTP\/1.1 407 /)
  assert.match(answer, /\r\nProxy-Authenticate: Basic realm="broker"\r\n/)
  assert.doesNotMatch(answer, /Connection: close/)
  client.clear()
  client.send(`CONNECT plain.test:80 HTTP/1.1\r\nHost: plain.test:80\r\n${auth}\r\n`)
  await client.until(/^HTTP\/1.1 200 Connection Established\r\n\r\n$/)
  await proxy.flush()
  assert.deepEqual(daemon.events, [])
})

const WRONG = ['Basic YnJva2VyOmJyb2tlcg==', 'Basic', 'Bearer x', 'Basic YnJva2VyOg==']

for (const value of WRONG) {
  test(`the credentials ${JSON.stringify(value)} are refused and told of`, async (t) => {
    const { client, daemon, proxy, plain } = await world(t)
    client.send(`GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nProxy-Authorization: ${value}\r\n\r\n`)
    assert.match(await client.until(JSON_END), /^HTTP\/1.1 407 /)
    assert.equal(plain.received(), '')
    await proxy.flush()
    assert.deepEqual(
      daemon.events.map(({ event, reason }) => [event, reason]),
      [['proxy.denied', 'proxy_credentials']],
    )
  })
}

test('the credentials of another run are refused', async (t) => {
  const other = await world(t)
  const { client } = await world(t)
  client.send(`CONNECT plain.test:80 HTTP/1.1\r\n${other.auth}\r\n`)
  assert.match(await client.until(JSON_END), /^HTTP\/1.1 407 /)
})

test('a plain http request goes on in origin form, with nothing of the proxy in it', async (t) => {
  const { client, auth, plain } = await world(t)
  client.send(
    `GET http://plain.test/a?b=%20 HTTP/1.1\r\nHost: plain.test\r\n${auth}Proxy-Connection: keep-alive\r\nA: b\r\n\r\n`,
  )
  await client.until((text) => text === OK)
  client.send(`GET HTTP://PLAIN.test:80?x HTTP/1.1\r\nHost: plain.test:80\r\n${auth}\r\n`)
  await client.until((text) => text === OK + OK)
  assert.equal(
    plain.received(),
    'GET /a?b=%20 HTTP/1.1\r\nHost: plain.test\r\nA: b\r\n\r\nGET /?x HTTP/1.1\r\nHost: plain.test:80\r\n\r\n',
  )
  assert.equal(plain.connections(), 1)
})

const REFUSED: readonly (readonly [string, string, number, string])[] = [
  ['a request to the proxy itself', 'GET / HTTP/1.1\r\nHost: 127.0.0.1', 400, 'not_a_proxy_request'],
  [
    'a routed host over plain http',
    'GET http://api.prov.test/ HTTP/1.1\r\nHost: api.prov.test',
    403,
    'plaintext_refused',
  ],
  [
    'a routed host over plain http at 443',
    'GET http://API.prov.test:443/ HTTP/1.1\r\nHost: api.prov.test:443',
    403,
    'plaintext_refused',
  ],
  ['an https URL', 'GET https://api.prov.test/ HTTP/1.1\r\nHost: api.prov.test', 400, 'tunnel_wanted'],
  ['an ftp URL', 'GET ftp://plain.test/ HTTP/1.1\r\nHost: plain.test', 400, 'bad_authority'],
  [
    'a URL with user information',
    'GET http://api.prov.test@evil.test/ HTTP/1.1\r\nHost: evil.test',
    400,
    'bad_authority',
  ],
  ['a Host other than the URL’s', 'GET http://evil.test/ HTTP/1.1\r\nHost: api.prov.test', 400, 'host_conflict'],
  ['a URL other than the Host’s', 'GET http://plain.test/ HTTP/1.1\r\nHost: plain.test:8080', 400, 'host_conflict'],
  ['TRACE', 'TRACE http://plain.test/ HTTP/1.1\r\nHost: plain.test', 405, 'method_not_allowed'],
  [
    'CONNECT with user information',
    'CONNECT allowed:x@evil.test:443 HTTP/1.1\r\nHost: evil.test',
    400,
    'bad_authority',
  ],
  ['CONNECT without a port', 'CONNECT evil.test HTTP/1.1\r\nHost: evil.test', 400, 'bad_authority'],
  ['CONNECT to an encoded name', 'CONNECT api%2eprov.test:443 HTTP/1.1\r\nHost: evil.test', 400, 'bad_authority'],
  [
    'CONNECT with a body',
    'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 5',
    400,
    'bad_authority',
  ],
  ['two Hosts', 'GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nHost: evil.test', 400, 'malformed_host'],
  [
    'the cloud’s metadata',
    'GET http://169.254.169.254/latest HTTP/1.1\r\nHost: 169.254.169.254',
    403,
    'metadata_address',
  ],
  [
    'CONNECT to the cloud’s metadata',
    'CONNECT [::ffff:169.254.169.254]:80 HTTP/1.1\r\nHost: x',
    403,
    'metadata_address',
  ],
]

for (const [what, head, status, reason] of REFUSED) {
  test(`${what} is ${status} ${reason}`, async (t) => {
    const { client, auth, plain } = await world(t)
    client.send(`${head}\r\n${auth}\r\n`)
    assert.match(
      await client.until(JSON_END),
      new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*X-Broker-Error: \\w+Error[\\s\\S]*"reason":"${reason}"`),
    )
    assert.equal(plain.received(), '')
  })
}

test('the daemon cannot be reached through the proxy, by any name of this machine', async (t) => {
  const daemon = await tcpOrigin(t, answering(OK))
  const { proxy } = await stage(t, {}, { daemonAddresses: [authority('127.0.0.1', daemon.port)] })
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '0.0.0.0',
    '127.9.9.9',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '127.1',
  ]) {
    for (const head of [
      `CONNECT ${host}:${daemon.port} HTTP/1.1`,
      `GET http://${host}:${daemon.port}/api/health HTTP/1.1`,
    ]) {
      const client = openPlain(t, proxy)
      client.send(`${head}\r\nHost: ${host}:${daemon.port}\r\n${authorizationLine(proxy)}\r\n`)
      assert.match(await client.until(JSON_END), /^HTTP\/1.1 403 [\s\S]*"reason":"daemon_address"/, head)
    }
  }
  assert.equal(daemon.connections(), 0)
})

test('a strict run reaches routed hosts and no other', async (t) => {
  const { client, auth, plain } = await world(t, { strict: true })
  client.send(`GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n${auth}\r\n`)
  assert.match(await client.until(JSON_END), /^HTTP\/1.1 403 [\s\S]*"reason":"strict"/)
  client.clear()
  client.send(`CONNECT plain.test:80 HTTP/1.1\r\n${auth}\r\n`)
  assert.match(await client.until(JSON_END), /^HTTP\/1.1 403 [\s\S]*"reason":"strict"/)
  client.clear()
  client.send(`CONNECT api.prov.test:443 HTTP/1.1\r\n${auth}\r\n`)
  await client.until(/^HTTP\/1.1 200 /)
  assert.equal(plain.received(), '')
})

test('an unrouted TLS host shows its own certificate', async (t) => {
  const origin = await tlsOrigin(t, answering(OK))
  const { proxy } = await stage(t, { 'other.test': origin })
  const tls = connect({
    socket: await openTunnel(t, proxy, 'other.test:443'),
    servername: 'other.test',
    ca: testAuthority().caPem,
  })
  t.after(() => tls.destroy())
  await once(tls, 'secureConnect')
  const client = new Client(tls)
  client.send('GET / HTTP/1.1\r\nHost: other.test\r\nAuthorization: mine\r\n\r\n')
  await client.until(/ok$/)
  assert.match(origin.received(), /Authorization: mine/)
})

test('a tunnel passes each end on by itself', async (t) => {
  const origin = await tcpOrigin(t, (socket) => socket.once('end', () => socket.end('late answer')))
  const { proxy } = await stage(t, { 'raw.test': origin })
  const client = new Client(await openTunnel(t, proxy, 'raw.test:22'))
  client.socket.end('request')
  assert.equal(await client.untilClosed(), 'late answer')
  assert.equal(origin.received(), 'request')
})

test('a tunnel leads to an IPv6 address', {
  skip: networkInterfaces()['lo']?.every(({ family }) => family !== 'IPv6'),
}, async (t) => {
  const server = createServer((socket) => socket.once('data', () => socket.end('over six')))
  server.listen(0, '::1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const { proxy } = await stage(t, {})
  const client = new Client(await openTunnel(t, proxy, `[::1]:${port}`))
  client.send('hello')
  assert.equal(await client.untilClosed(), 'over six')
})

test('a tunnel whose one side breaks breaks on the other', async (t) => {
  const origin = await tcpOrigin(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
  const { proxy } = await stage(t, { 'raw.test': origin })
  const client = new Client(await openTunnel(t, proxy, 'raw.test:22'))
  client.send('request')
  assert.equal(await client.untilClosed(), '')
})

test('nothing is intercepted where nothing is routed', async (t) => {
  const { proxy } = await stage(t, {}, { routes: { routes: [], version: '1' } })
  assert.equal(proxy.caPem, undefined)
  assert.deepEqual(proxy.interceptedHosts, [])
})

test('a host that is connected later is intercepted as soon as the routes are asked for again', async (t) => {
  const origin = await tlsOrigin(t, answering(OK))
  const { proxy, daemon } = await stage(t, { 'later.prov.test': origin }, { coverable: ['*.prov.test'] })
  const before = await trusts(proxy, 'later.prov.test')
  daemon.routes = async () => ({ routes: [route('later.prov.test')], version: '2' })
  await proxy.routesChanged()

  assert.equal(before, false, 'it showed its own certificate')
  assert.match(
    await ask(t, proxy, 'later.prov.test', 'GET / HTTP/1.1\r\nHost: later.prov.test\r\n\r\n'),
    /^HTTP\/1.1 200/,
  )
  assert.match(origin.received(), new RegExp(`Authorization: ${CREDENTIAL}`, 'i'))
  assert.deepEqual(proxy.interceptedHosts, ['api.prov.test', 'later.prov.test'])

  async function trusts({ caPem }: RunningProxy, servername: string): Promise<boolean> {
    const socket = connect({ socket: await openTunnel(t, proxy, `${servername}:443`), servername, ca: caPem })
    const [outcome] = await Promise.race([once(socket, 'secureConnect').then(() => [true]), once(socket, 'error')])
    socket.destroy()
    return outcome === true
  }
})

test('a host that no definition had is refused once it is connected, and the answer says that a new run is needed', async (t) => {
  const { client, auth, proxy, daemon } = await world(t)
  daemon.routes = async () => ({ routes: [route('evil.test')], version: '2' })
  await proxy.routesChanged()
  client.send(`CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n${auth}\r\n`)
  const answer = await client.until(JSON_END)
  assert.match(answer, /^HTTP\/1.1 403 /)
  assert.match(answer, /connected after this run began/)
  assert.match(answer, /Start the command again/)

  const inner = openPlain(t, proxy)
  inner.send(`CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\nBroker-Tunnel: untouched\r\n${auth}\r\n`)
  await inner.until(/^HTTP\/1.1 200 /)
  await proxy.flush()
  assert.deepEqual(
    daemon.events.map(({ event, reason }) => [event, reason]),
    [['proxy.denied', 'new_run_needed']],
  )
})

test('who asks for the routes while they are asked for gets what was there after', async (t) => {
  const asked: ((routes: Routes) => void)[] = []
  const { proxy, daemon } = await stage(t, {}, { coverable: ['*.prov.test'] })
  daemon.routes = () => new Promise((resolve) => asked.push(resolve))
  const first = proxy.routesChanged()
  const second = proxy.routesChanged()
  const third = proxy.routesChanged()
  asked[0]?.({ routes: [], version: '2' })
  await first
  while (asked.length < 2) await setImmediate()
  asked[1]?.({ routes: [route('later.prov.test')], version: '3' })
  await Promise.all([second, third])
  assert.deepEqual(proxy.interceptedHosts, ['api.prov.test', 'later.prov.test'])
})

test('closing ends every connection and tells of what was under way', async (t) => {
  const origin = await tlsOrigin(t, (socket) =>
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
  )
  const { proxy, daemon } = await stage(t, { 'api.prov.test': origin })
  const client = await openTls(t, proxy, 'api.prov.test')
  client.send('GET / HTTP/1.1\r\nHost: api.prov.test\r\n\r\n')
  await client.until(/half$/)
  await proxy.close()
  await client.untilClosed()
  assert.deepEqual(
    daemon.events.map(({ event, reason }) => [event, reason]),
    [['proxy.request', 'client_abort']],
  )
})

test('plain http by CONNECT to a routed host is refused inside the tunnel, whatever the port', async (t) => {
  const { client, plain, daemon, proxy, auth } = await world(t)
  for (const port of [80, 8080]) {
    const one = port === 80 ? client : openPlain(t, proxy)
    one.send(`CONNECT api.prov.test:${port} HTTP/1.1\r\nHost: api.prov.test:${port}\r\n${auth}\r\n`)
    await one.until(/Connection Established/)
    one.send('GET /secret HTTP/1.1\r\nHost: api.prov.test\r\n\r\n')

    assert.match(await one.untilClosed(), /HTTP\/1\.1 403 [\s\S]*X-Broker-Error: /)
  }
  assert.equal(plain.received(), '')
  await proxy.flush()
  assert.deepEqual(
    daemon.events.map(({ event }) => event),
    ['proxy.denied', 'proxy.denied'],
  )
})

test('what is no http on another port of a routed host is tunnelled, also where the service speaks first', async (t) => {
  const speaksFirst = await tcpOrigin(t, (socket) => {
    socket.write('220 ready\r\n')
    socket.on('data', (chunk) => socket.end(`you said ${chunk}`))
  })
  const { proxy } = await stage(t, { 'api.prov.test': speaksFirst })
  const client = openPlain(t, proxy)
  client.send(`CONNECT api.prov.test:25 HTTP/1.1\r\nHost: api.prov.test:25\r\n${authorizationLine(proxy)}\r\n`)
  await client.until(/220 ready/)
  client.send('EHLO me\r\n')

  assert.match(await client.untilClosed(), /you said EHLO me/)
})
