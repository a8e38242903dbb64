import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { Secret } from '../protocol/index.ts'
import { h2Origin } from './http2.fixture.ts'
import { answering, Client, CREDENTIAL, openTunnel, stage, tcpOrigin, testAuthority, tlsOrigin } from './test-stage.ts'
import { createCertificateAuthority } from './tls/certificate-authority.ts'

/** Real clients, as children of `broker run` are: proxy and CA by environment, and no option of their own. */

const PRELOAD = fileURLToPath(new URL('../run/preload.cjs', import.meta.url))

const seen = (head: string) => {
  const body = head.includes(CREDENTIAL) ? 'authentic' : 'bare'
  return `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'broker-clients-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function world(t: TestContext, service?: Awaited<ReturnType<typeof tlsOrigin>>) {
  const secure = service ?? (await tlsOrigin(t, answering(seen)))
  const plain = await tcpOrigin(t, answering(seen))
  const running = await stage(t, { 'api.prov.test': secure, 'plain.test': plain })
  const caFile = join(temporaryFolder(t), 'ca.pem')
  writeFileSync(caFile, running.proxy.caPem ?? '')
  const { port, credentials } = running.proxy
  const url = `http://${credentials.username}:${credentials.password.reveal()}@127.0.0.1:${port}`
  const proxies = { HTTPS_PROXY: url, https_proxy: url, HTTP_PROXY: url, http_proxy: url }
  const trust = {
    SSL_CERT_FILE: caFile,
    CURL_CA_BUNDLE: caFile,
    REQUESTS_CA_BUNDLE: caFile,
    NODE_EXTRA_CA_CERTS: caFile,
  }
  return {
    ...running,
    secure,
    env: { PATH: process.env['PATH'], ...proxies, ...trust, NODE_OPTIONS: `--require ${PRELOAD}` },
  }
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  return output
}

const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0

const GET_TWICE = ['https://api.prov.test/a', 'https://api.prov.test/b']

const PYTHON =
  'import urllib.request as u, sys\nfor url in sys.argv[1:]: sys.stdout.write(u.urlopen(url).read().decode())'
const NODE = 'for (const url of process.argv.slice(1)) process.stdout.write(await (await fetch(url)).text())'

const CLIENTS: readonly (readonly [string, readonly string[], boolean])[] = [
  ['curl', ['--silent', '--show-error'], has('curl', '--version')],
  ['python3', ['-c', PYTHON], has('python3', '--version')],
  [process.execPath, ['--input-type=module', '--eval', NODE, '--'], true],
]

for (const [command, args, there] of CLIENTS) {
  test(`${command.replace(/.*\//, '')} is authentic to a routed host and bare to a plain one`, {
    skip: !there,
  }, async (t) => {
    const { env, daemon, proxy } = await world(t)
    const output = await outputOf(spawn(command, [...args, ...GET_TWICE, 'http://plain.test/'], { env }))
    assert.equal(output, 'authenticauthenticbare')
    await proxy.flush()
    assert.deepEqual(
      daemon.events.map(({ event, request }) => [event, request?.path]),
      [
        ['proxy.request', '/a'],
        ['proxy.request', '/b'],
      ],
    )
  })
}

test('curl posts a body after the service’s own 100', { skip: !has('curl', '--version') }, async (t) => {
  const { env } = await world(t)
  const args = [
    '--silent',
    '--show-error',
    '--expect100-timeout',
    '0.01',
    '--header',
    'Expect: 100-continue',
    '--data',
    'x'.repeat(100_000),
  ]
  assert.equal(await outputOf(spawn('curl', [...args, 'https://api.prov.test/'], { env })), 'authentic')
})

const NODE_HTTP2 = `
import { connect } from 'node:http2'
const session = connect('https://api.prov.test')
const stream = session.request({ ':path': '/' })
stream.on('data', (chunk) => process.stdout.write(chunk)).on('end', () => session.close())
`
const UNDICI = `
import { createRequire } from 'node:module'
const { Agent, request } = createRequire(process.argv[1])('undici')
const dispatcher = new Agent({ allowH2: true })
const { body } = await request('https://api.prov.test/', { dispatcher })
process.stdout.write(await body.text())
await dispatcher.close()
`
const CURL = ['--silent', '--show-error', 'https://api.prov.test/']
const node = (script: string) => ['--input-type=module', '--eval', script, '--', import.meta.filename]

const OF_HTTP2: readonly (readonly [string, string, readonly string[], boolean])[] = [
  ['curl --http2', 'curl', ['--http2', ...CURL], has('curl', '--version')],
  ['curl --http2-prior-knowledge', 'curl', ['--http2-prior-knowledge', ...CURL], has('curl', '--version')],
  ['http2 of Node', process.execPath, node(NODE_HTTP2), true],
  ['undici with allowH2', process.execPath, node(UNDICI), true],
]

for (const [name, command, args, there] of OF_HTTP2) {
  test(`${name} reaches a service of either version`, { skip: !there }, async (t) => {
    const answer = (authorization: string | undefined) => (authorization === CREDENTIAL ? 'authentic' : 'bare')
    const { origin } = await h2Origin(t, (stream, headers) => {
      stream.respond({ ':status': 200 })
      stream.end(answer(headers.authorization))
    })
    const { env } = await world(t, origin)
    assert.equal(await outputOf(spawn(command, args, { env })), 'authentic')
    const other = await world(t)
    assert.equal(await outputOf(spawn(command, args, { env: other.env })), 'authentic')
  })
}

const PROXY_PROCESS = `
import { Secret } from ${JSON.stringify(new URL('../protocol/index.ts', import.meta.url).href)}
import { startProxy } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)}
process.once('message', async ({ originPort, ca }) => {
  const routes = { routes: [{ provider: 'prov', connection: 'default', host: 'api.prov.test', port: 443 }], version: '1' }
  const { port, caPem, credentials } = await startProxy({
    broker: {
      resolve: async () => ({ provider: 'prov', connection: 'default', places: [{ in: 'header', name: 'Authorization', value: new Secret(${JSON.stringify(CREDENTIAL)}) }] }),
      routes: async () => routes,
      ship: async () => {},
    },
    routes, runId: 'run-1', strict: false, upstreamCa: [ca], daemonAddresses: [], log: () => {},
    connectTo: [{ host: 'api.prov.test', port: 443, toHost: '127.0.0.1', toPort: originPort }],
  })
  process.send({ port, caPem, username: credentials.username, password: credentials.password.reveal() })
})
`

/** A proxy in a process of its own, started under conditions that must not matter; resolves with the answer to one request. */
async function answerUnder(
  t: TestContext,
  originPort: number,
  flags: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', PROXY_PROCESS], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { PATH: process.env['PATH'], ...env },
  })
  t.after(() => child.kill())
  child.send({ originPort, ca: testAuthority().caPem })
  const [{ port, caPem, username, password }] = await once(child, 'message')
  const credentials = { username, password: new Secret(password) }
  const proxy = {
    port,
    caPem,
    credentials,
    openPort: undefined,
    keyPin: undefined,
    interceptedHosts: [],
    routesChanged: async () => {},
    flush: async () => {},
    close: async () => {},
  }
  const socket = await openTunnel(t, proxy, 'api.prov.test:443')
  const client = new Client(connectTls({ socket, servername: 'api.prov.test', ca: caPem }))
  client.send('GET / HTTP/1.1\r\nHost: api.prov.test\r\nConnection: close\r\n\r\n')
  const answer = await client.untilClosed()
  child.kill()
  await once(child, 'exit')
  return answer
}

test('no key of a TLS connection is logged, whatever Node is told', async (t) => {
  const origin = await tlsOrigin(t, answering(seen))
  const folder = temporaryFolder(t)
  const keylog = join(folder, 'keys')
  assert.match(await answerUnder(t, origin.port, [`--tls-keylog=${keylog}`], {}), /authentic$/)
  assert.equal(existsSync(keylog), false)
})

test('a root that the environment adds is not trusted for a service', async (t) => {
  const forger = createCertificateAuthority(['*.test'], new Date())
  const origin = await tlsOrigin(t, answering(seen), forger)
  const forged = join(temporaryFolder(t), 'forged.pem')
  writeFileSync(forged, forger.caPem)
  const hostile = { NODE_EXTRA_CA_CERTS: forged, SSL_CERT_FILE: forged, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const flags = ['--use-system-ca', '--tls-min-v1.0']
  assert.match(await answerUnder(t, origin.port, flags, hostile), /^HTTP\/1.1 502 [\s\S]*"reason":"tls_certificate"/)
  assert.equal(origin.received(), '')
})
