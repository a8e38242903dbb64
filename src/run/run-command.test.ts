import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Caller, connect, type DaemonUnderTest, owner, startDaemon } from '../../test/daemon-under-test.ts'
import { startRunProxy } from '../cli/start-run-proxy.ts'
import { DaemonClient, expectDaemon, type Signer } from '../client/index.ts'
import { generateSigningKey } from '../identity/index.ts'
import { createCertificateAuthority } from '../proxy/tls/certificate-authority.ts'
import { ProxyProcess } from './proxy-process.ts'
import { type RunOptions, runCommand } from './run-command.ts'

const KEY = 'ak-CNRY0123456789abcdef'
const HOST = 'api.acme-cnry.com'
const URL_THERE = `https://${HOST}/v1/items`

let daemon: DaemonUnderTest
let ada: Caller
let origin: Server
let originCa: string
let originCaFile: string
let received: string[] = []
let folder: string
let warnings: string[] = []
const cleanups: (() => unknown)[] = []

before(async () => {
  daemon = await startDaemon({ after: (cleanup: () => unknown) => void cleanups.push(cleanup) } as never)
  ada = await owner(daemon)
  const definition = {
    schema_version: 1,
    name: 'acme',
    display_name: 'Acme',
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: [HOST],
    api_key: { header_name: 'Authorization', prefix: 'Bearer' },
    env: { ACME_API_KEY: 'credential' },
  }
  const registered = await ada.call('POST', '/api/providers', { definition })
  assert.equal(registered.status, 201, registered.text)
  await connect(ada, 'acme', KEY)
  const authority = createCertificateAuthority([HOST], new Date())
  originCa = authority.caPem
  origin = createServer(
    { SNICallback: (name, done) => done(null, authority.secureContextFor(name)) },
    (request, response) => {
      received.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      response.end('{"items":[]}')
    },
  ).listen(0, '127.0.0.1')
  await once(origin, 'listening')
  folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  originCaFile = join(folder, 'origin.pem')
  writeFileSync(originCaFile, originCa)
})

after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
  origin.close()
  origin.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})

test('a child that holds a placeholder reaches the provider with the key', async () => {
  const seen = join(folder, 'seen.json')
  const code = `
    fetch('${URL_THERE}', { headers: { authorization: 'Bearer ' + process.env.ACME_API_KEY } })
      .then((response) => response.text())
      .then((text) => fs.writeFileSync('${seen}', JSON.stringify({ text, env: process.env })))`

  assert.equal(await run([process.execPath, '-e', code], { inherited: { ACME_API_KEY: 'of-the-parent' } }), 0)

  const { text, env } = JSON.parse(readFileSync(seen, 'utf8'))
  assert.equal(text, '{"items":[]}')
  assert.equal(env.ACME_API_KEY, 'broker-proxy-managed')
  assert.doesNotMatch(JSON.stringify(env), /CNRY0123/)
  assert.deepEqual(received, [`GET /v1/items Bearer ${KEY}`])
})

const CLIENTS: readonly { readonly tool: string; readonly command: readonly [string, ...string[]] }[] = [
  { tool: 'curl', command: ['curl', '-sf', '-o', '/dev/null', URL_THERE] },
  { tool: 'wget', command: ['wget', '-qO', '/dev/null', URL_THERE] },
  { tool: 'python3', command: ['python3', '-c', `import urllib.request; urllib.request.urlopen("${URL_THERE}")`] },
  { tool: 'git', command: ['git', '-c', 'init.defaultBranch=main', 'ls-remote', '-q', `https://${HOST}/v1/items`] },
  { tool: '/usr/bin/node', command: ['/usr/bin/node', '-e', `fetch("${URL_THERE}")`] },
  { tool: '/usr/bin/node', command: ['/usr/bin/node', '-e', `require("https").get("${URL_THERE}")`] },
]

for (const { tool, command } of CLIENTS) {
  test(`${tool} goes through the proxy and trusts it`, { skip: !isThere(tool) }, async () => {
    await run(quiet(command))

    assert.match(received[0] ?? 'nothing arrived', new RegExp(`^GET /v1/items\\S* Bearer ${KEY}$`))
  })
}

test('Java trusts the roots of the system and that of the run', { skip: !isThere('javac') }, async () => {
  const source = join(folder, 'Issuers.java')
  const seen = join(folder, 'issuers')
  writeFileSync(source, COUNT_ISSUERS)

  await run(quiet(['java', source, seen]))

  const bundled = readFileSync('/etc/ssl/certs/ca-certificates.crt', 'utf8').match(/BEGIN CERT/g)?.length ?? 0
  assert.equal(Number(readFileSync(seen, 'utf8')), bundled + 1)
})

test("the child's exit code comes back, and nothing is left on the disk", async () => {
  assert.equal(await run(['sh', '-c', `test -d "$(dirname "$SSL_CERT_FILE")" && exit 7`]), 7)

  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('broker-run-')),
    [],
  )
})

test('the audit log tells of the run and of its request', async () => {
  await run(['curl', '-sf', '-o', '/dev/null', URL_THERE])

  const { body } = await ada.call('GET', '/api/audit/events?limit=3')
  const events = body.events.map(({ event, identity, provider }: Record<string, string>) => ({
    event,
    identity,
    provider,
  }))
  assert.deepEqual(events, [
    { event: 'run.ended', identity: 'ada', provider: undefined },
    { event: 'proxy.request', identity: 'ada', provider: 'acme' },
    { event: 'run.started', identity: 'ada', provider: undefined },
  ])
})

test('a run without a matching connection goes on and says so once', async () => {
  assert.equal(await run(['sh', '-c', 'test -z "$ACME_API_KEY"'], { only: ['openai'] }), 0)

  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /without credentials/)
})

test("NO_PROXY cannot lead a routed host past the proxy, and the user's own roots stay trusted", async () => {
  const own = join(folder, 'own.pem')
  writeFileSync(own, originCa)
  const inherited = { NO_PROXY: HOST, SSL_CERT_FILE: own }

  await run(['sh', '-c', `grep -qF "$(sed -n 2p ${own})" "$CURL_CA_BUNDLE" && curl -sf -o /dev/null ${URL_THERE}`], {
    inherited,
  })

  assert.equal(received.length, 1)
  assert.match(warnings[0] ?? '', /NO_PROXY/)
})

test('a run can end itself and no other, and its key resolves nothing after', async () => {
  const [client, own, other] = [clientOf(ada), generateSigningKey(), generateSigningKey()]
  const { run_id } = await client.startRun({ did: own.did })
  const { run_id: otherId } = await client.startRun({ did: other.did })
  const asRun = clientOf({ handle: ada.handle, key: own })

  assert.equal((await asRun.resolve({ host: HOST })).provider, 'acme')
  await assert.rejects(asRun.endRun(otherId, 0), { name: 'NotFoundError' })
  await asRun.endRun(run_id, 0)
  await assert.rejects(asRun.resolve({ host: HOST }), { name: 'AuthenticationFailedError' })

  asRun.close()
  client.close()
})

async function run(
  command: readonly [string, ...string[]],
  more: { readonly inherited?: Readonly<Record<string, string>>; readonly only?: readonly string[] } = {},
): Promise<number> {
  received = []
  warnings = []
  const client = clientOf(ada)
  const inherited = { PATH: process.env['PATH'] ?? '', HOME: folder, ...more.inherited }
  const proxy = new ProxyProcess(
    startRunProxy({
      ...inherited,
      BROKER_HOME: daemon.home,
      BROKER_PORT: String(daemon.port),
      BROKER_PROXY_CA_FILE: originCaFile,
      BROKER_PROXY_CONNECT_TO: `${HOST}:443:127.0.0.1:${(origin.address() as AddressInfo).port}`,
      TMPDIR: folder,
    }),
  )
  const options: RunOptions = {
    command,
    client,
    handle: ada.handle,
    proxy,
    ...(more.only && { only: more.only }),
    connections: {},
    strict: false,
    browser: false,
    inherited,
    descriptors: [],
    logFile: undefined,
    within: undefined,
    settings: {},
    atTerminal: false,
    // The origin is reached by overrides, which each run tells of.
    warn: (message) => {
      if (!message.startsWith('This run ')) warnings.push(message)
    },
  }
  try {
    return await runCommand(options)
  } finally {
    proxy.release()
    client.close()
  }
}

function clientOf({ handle, key }: Signer): DaemonClient {
  const { did } = JSON.parse(readFileSync(join(daemon.home, 'server', 'daemon.json'), 'utf8'))
  return new DaemonClient({ baseUrl: daemon.origin, signer: { handle, key }, check: expectDaemon(did) })
}

/** The child shares the test's own standard streams, which belong to the reporter. */
function quiet(command: readonly string[]): [string, ...string[]] {
  return ['sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', ...command]
}

function isThere(tool: string): boolean {
  return spawnSync(tool, ['--version']).status === 0
}

const COUNT_ISSUERS = `
import java.nio.file.*; import java.security.*; import javax.net.ssl.*;
class Issuers { public static void main(String[] args) throws Exception {
  TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
  factory.init((KeyStore) null);
  int count = ((X509TrustManager) factory.getTrustManagers()[0]).getAcceptedIssuers().length;
  Files.writeString(Path.of(args[0]), String.valueOf(count));
}}`
