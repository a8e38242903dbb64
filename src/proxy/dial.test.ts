import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Authority, authority } from '../network/index.ts'
import { parseConnectTo } from './connect-to.ts'
import { parseCorporateProxy } from './corporate-proxy.ts'
import { Dialer } from './dial.ts'
import {
  answering,
  ask,
  authorizationLine,
  Client,
  OK,
  openPlain,
  openTunnel,
  route,
  stage,
  tcpOrigin,
  testAuthority,
  tlsOrigin,
} from './test-stage.ts'
import { createCertificateAuthority } from './tls/certificate-authority.ts'

const GET = 'GET / HTTP/1.1\r\nHost: api.prov.test\r\n\r\n'

const YESTERDAY = new Date(Date.now() - 48 * 3_600_000)

const FORGERIES = [
  ['a certificate of an unknown authority', createCertificateAuthority(['*.test'], new Date()), 'tls_certificate'],
  ['an expired certificate', createCertificateAuthority(['*.test'], YESTERDAY), 'tls_dates'],
  [
    'a certificate that its authority may not issue',
    createCertificateAuthority(['*.example'], new Date()),
    'tls_certificate',
  ],
] as const

for (const [what, authority, reason] of FORGERIES) {
  test(`a service with ${what} never sees the credential`, async (t) => {
    const origin = await tlsOrigin(t, answering(OK), authority)
    const upstreamCa = [authority === FORGERIES[0][1] ? testAuthority().caPem : authority.caPem]
    const { proxy, daemon } = await stage(t, { 'api.prov.test': origin }, { upstreamCa })
    assert.match(await ask(t, proxy, 'api.prov.test', GET), new RegExp(`^HTTP/1.1 502 [\\s\\S]*"reason":"${reason}"`))
    assert.equal(origin.received(), '')
    await proxy.flush()
    assert.deepEqual(
      daemon.events.map(({ event, status, reason }) => [event, status, reason]),
      [['proxy.request', 'failure', reason]],
    )
  })
}

test('a service with a certificate for another name never sees the credential', async (t) => {
  const authority = testAuthority()
  const named = { ...authority, secureContextFor: () => authority.secureContextFor('other.prov.test') }
  const origin = await tlsOrigin(t, answering(OK), named)
  const { proxy } = await stage(t, { 'api.prov.test': origin })
  const answer = await ask(t, proxy, 'api.prov.test', GET)
  assert.match(answer, /^HTTP\/1.1 502 [\s\S]*its TLS certificate is for another name[\s\S]*"reason":"tls_name"/)
  assert.equal(origin.received(), '')
})

test('a service without TLS never sees the credential', async (t) => {
  const origin = await tcpOrigin(t, (socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  )
  const { proxy } = await stage(t, { 'api.prov.test': origin })
  assert.match(await ask(t, proxy, 'api.prov.test', GET), /^HTTP\/1.1 502 [\s\S]*"reason":"tls"/)
  assert.doesNotMatch(origin.received(), /CNRY/)
})

test('a service that is not there is named in a 502', async (t) => {
  const origin = await tlsOrigin(t, answering(OK))
  const refused = { ...origin, port: await freePort() }
  const { proxy } = await stage(
    t,
    { 'api.prov.test': refused },
    { route: [route('api.prov.test'), route('nowhere.invalid')] },
  )
  assert.match(
    await ask(t, proxy, 'api.prov.test', GET),
    /^HTTP\/1.1 502 [\s\S]*EndpointUnreachableError[\s\S]*"reason":"refused"/,
  )
  const nowhere = GET.replace('api.prov.test', 'nowhere.invalid')
  assert.match(await ask(t, proxy, 'nowhere.invalid', nowhere), /^HTTP\/1.1 502 [\s\S]*"reason":"dns"/)
  const client = openPlain(t, proxy)
  client.send(`CONNECT elsewhere.invalid:443 HTTP/1.1\r\n${authorizationLine(proxy)}\r\n`)
  assert.match(await client.until(/\}$/), /^HTTP\/1.1 502 [\s\S]*"reason":"dns"/)
})

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const HOSTILE_ENVIRONMENT = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '--tls-min-v1.0' }

test('NODE_TLS_REJECT_UNAUTHORIZED and NODE_OPTIONS change nothing about whom the proxy trusts', () => {
  const arguments_ = ['--test', '--test-name-pattern', 'never sees the credential', import.meta.filename]
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, arguments_, {
    env: { ...env, ...HOSTILE_ENVIRONMENT },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout)
})

/** A forward proxy as companies have it: CONNECT, and absolute-form http; keeps the heads it saw. */
async function corporateProxy(t: TestContext, dial: (authority: string) => number) {
  const heads: string[] = []
  const relay = (socket: Socket, head: string, rest: string) => {
    heads.push(head)
    const [method = '', target = ''] = head.split(' ')
    const authority = method === 'CONNECT' ? target : new URL(target).host
    const upstream = connectTcp(dial(authority), '127.0.0.1')
    upstream.on('error', () => socket.destroy())
    if (method === 'CONNECT') socket.write('HTTP/1.1 200 OK\r\nX-Proxy: 1\r\n\r\n')
    else upstream.write(head + rest)
    socket.pipe(upstream).pipe(socket)
  }
  const origin = await tcpOrigin(t, (socket) => {
    socket.once('data', (chunk) => {
      const [head = '', ...rest] = String(chunk).split(/(?<=\r\n\r\n)/)
      relay(socket, head, rest.join(''))
    })
  })
  return { port: origin.port, heads }
}

async function corporateWorld(t: TestContext, noProxy?: string) {
  const secure = await tlsOrigin(t, answering(OK))
  const plain = await tcpOrigin(t, answering(OK))
  const corporate = await corporateProxy(t, (authority) => (authority.startsWith('api') ? secure.port : plain.port))
  const url = `http://corp%40x:CNRYpw@127.0.0.1:${corporate.port}`
  const corporateProxySettings = parseCorporateProxy({ HTTPS_PROXY: url, http_proxy: url, NO_PROXY: noProxy })
  const running = await stage(t, {}, { ...(corporateProxySettings && { corporateProxy: corporateProxySettings }) })
  return { ...running, corporate, plain, secure }
}

const CORPORATE_AUTH = `Proxy-Authorization: Basic ${Buffer.from('corp@x:CNRYpw').toString('base64')}\r\n`

test('an intercepted request goes through the corporate proxy, verified end to end', async (t) => {
  const { proxy, corporate, secure } = await corporateWorld(t)
  assert.equal(await ask(t, proxy, 'api.prov.test', GET), OK)
  assert.deepEqual(corporate.heads, [
    `CONNECT api.prov.test:443 HTTP/1.1\r\nHost: api.prov.test:443\r\n${CORPORATE_AUTH}\r\n`,
  ])
  assert.doesNotMatch(secure.received(), /Proxy-Authorization/)
})

test('a tunnel goes through the corporate proxy', async (t) => {
  const { proxy, corporate } = await corporateWorld(t)
  const client = new Client(await openTunnel(t, proxy, 'raw.test:22'))
  client.send('GET / HTTP/1.1\r\n\r\n')
  await client.until((text) => text === OK)
  assert.equal(corporate.heads.length, 1)
})

test('plain http goes to the corporate proxy as a whole URL, with its credentials and not the child’s', async (t) => {
  const { proxy, corporate } = await corporateWorld(t)
  const client = openPlain(t, proxy)
  client.send(`GET http://plain.test/a HTTP/1.1\r\nHost: plain.test\r\n${authorizationLine(proxy)}\r\n`)
  await client.until((text) => text === OK)
  assert.deepEqual(corporate.heads, [`GET http://plain.test/a HTTP/1.1\r\nHost: plain.test\r\n${CORPORATE_AUTH}\r\n`])
})

test('a corporate proxy may itself be spoken to over TLS, and is verified too', async (t) => {
  const secure = await tlsOrigin(t, answering(OK))
  const localhost = createCertificateAuthority(['localhost'], new Date())
  const heads: string[] = []
  const corporate = await tlsOrigin(
    t,
    (socket) =>
      socket.once('data', (chunk) => {
        heads.push(String(chunk))
        socket.removeAllListeners('data')
        const upstream = connectTcp(secure.port, '127.0.0.1')
        upstream.on('error', () => socket.destroy())
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(upstream).pipe(socket)
      }),
    localhost,
  )
  const corporateProxy = parseCorporateProxy({ HTTPS_PROXY: `https://localhost:${corporate.port}` })
  const settings = corporateProxy && { corporateProxy }
  const trusted = await stage(t, {}, { ...settings, upstreamCa: [testAuthority().caPem, localhost.caPem] })
  assert.equal(await ask(t, trusted.proxy, 'api.prov.test', GET), OK)
  assert.equal(heads.length, 1)
  const untrusted = await stage(t, {}, { ...settings })
  assert.match(await ask(t, untrusted.proxy, 'api.prov.test', GET), /"reason":"corporate_proxy"/)
})

test('what NO_PROXY excepts is dialled directly', async (t) => {
  const { proxy, corporate } = await corporateWorld(t, '.invalid, api.prov.test')
  const client = openPlain(t, proxy)
  client.send(`CONNECT elsewhere.invalid:443 HTTP/1.1\r\n${authorizationLine(proxy)}\r\n`)
  assert.match(await client.until(/\}$/), /"reason":"dns"/)
  assert.deepEqual(corporate.heads, [])
})

test('a corporate proxy that refuses is named in the 502, without its credentials', async (t) => {
  const refusing = await tcpOrigin(t, (socket) => socket.once('data', () => socket.end('HTTP/1.1 407 No\r\n\r\n')))
  const settings = parseCorporateProxy({ HTTPS_PROXY: `http://u:CNRYpw@127.0.0.1:${refusing.port}` })
  const { proxy } = await stage(t, {}, { ...(settings && { corporateProxy: settings }) })
  const answer = await ask(t, proxy, 'api.prov.test', GET)
  assert.match(answer, /^HTTP\/1.1 502 [\s\S]*"reason":"corporate_proxy"/)
  assert.doesNotMatch(answer, /CNRY/)
})

test('where a request goes is told where that is not its host’s own address', () => {
  const corporateProxy = parseCorporateProxy({
    HTTPS_PROXY: 'http://u:CNRYpw@proxy.test:3128',
    HTTP_PROXY: 'http://plain-proxy.test:3128',
    NO_PROXY: 'direct.test',
  })
  const connectTo = parseConnectTo('api.prov.test:443:127.0.0.1:8443,direct.test:443:direct.test:443')
  const staysHere = ({ host }: Authority) => host === '127.0.0.1'
  const dialer = new Dialer({ guard: () => undefined, connectTo, corporateProxy, upstreamCa: [], staysHere })
  const dialled = (host: string) => [
    dialer.dialledOverTls(authority(host, 443)),
    dialer.dialledInTheClear(authority(host, 443)),
  ]
  assert.deepEqual(dialled('api.prov.test'), ['127.0.0.1:8443', 'plain-proxy.test:3128'])
  assert.deepEqual(dialled('other.test'), ['proxy.test:3128', 'plain-proxy.test:3128'])
  assert.deepEqual(dialled('direct.test'), [undefined, undefined])
  assert.equal(dialled('127.0.0.1')[1], undefined)
})
