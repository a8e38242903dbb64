import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import pc from 'picocolors'
import { type LocalApi, startLocalApi } from './local-api.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const HOST = 'api.acme-models.example'
/** Served by the same program, but no provider of Broker's: nothing may be done to what goes there. */
const OTHER_HOST = 'status.acme-models.example'
const KEY = `acme-CNRY-${'k'.repeat(24)}`
const PLACEHOLDER = 'broker-proxy-managed'

const definition = {
  schema_version: 1,
  name: 'acme-models',
  display_name: 'Acme Models',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: [HOST],
  env: { ACME_API_KEY: 'credential' },
  api_key: { header_name: 'Authorization', prefix: 'Bearer', pattern: '^acme-[A-Za-z-]{10,60}$' },
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const checks: { readonly claim: string; readonly held: boolean }[] = []

function check(claim: string, held: boolean): void {
  checks.push({ claim, held })
  console.log(`  ${held ? pc.green('✓') : pc.red('✗')} ${claim}`)
}

function heading(text: string): void {
  console.log(`\n${pc.bold(text)}`)
}

async function main(): Promise<number> {
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'broker-demo-'))
  const api = await startLocalApi([HOST, OTHER_HOST], KEY)
  const world = await makeWorld(folder, api)
  try {
    await story(world)
  } finally {
    await world.broker(['daemon', 'stop'])
    api.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return verdict(started)
}

interface World {
  readonly folder: string
  readonly api: LocalApi
  /** Runs the command line in the throw-away home. */
  broker(args: readonly string[], input?: string): Promise<Ended>
}

async function makeWorld(folder: string, api: LocalApi): Promise<World> {
  const caFile = join(folder, 'acme-ca.pem')
  writeFileSync(caFile, api.caPem)
  const env = {
    ...withoutBroker(process.env),
    BROKER_HOME: join(folder, 'home'),
    BROKER_PORT: String(await freePort()),
    BROKER_ENCRYPTION_MODE: 'local_key',
    BROKER_PROXY_CA_FILE: caFile,
    BROKER_PROXY_CONNECT_TO: [HOST, OTHER_HOST].map((host) => `${host}:443:127.0.0.1:${api.port}`).join(),
  }
  const broker = (args: readonly string[], input = '') =>
    run(join(ROOT, 'bin/broker'), args, { env, cwd: folder, input })
  return { folder, api, broker }
}

function withoutBroker(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BROKER_')))
}

async function story(world: World): Promise<void> {
  heading('1. A home for Broker, and a provider it has never heard of')
  const file = join(world.folder, 'acme-models.json')
  writeFileSync(file, JSON.stringify(definition, null, 2))
  await step(world, ['onboard', '--json'])
  await step(world, ['provider', 'register', file, '--yes'])

  heading('2. The key goes into the vault, by a pipe: never an argument, never an environment variable')
  await step(world, ['login', 'acme-models'], `${KEY}\n`)

  heading('3. A program calls the API behind the proxy')
  const node = await callByNode(world)
  const curl = await callByCurl(world)

  heading('4. Side by side')
  sideBySide(world.api, node)
  check('the program reached the API with the right key', node.status === 200 && node.body.includes('acme-large'))
  check('the program saw the placeholder and nothing else', node.key === PLACEHOLDER && !node.everything.includes(KEY))
  check(
    'the API received the real key, once',
    authorizations(world.api).every((value) => value === `Bearer ${KEY}`),
  )
  if (curl) check('curl reached it too, without knowing the key', curl.stdout.includes('acme-large'))
  const own = await certificateOf(OTHER_HOST, world.api.port)
  check('a host that nobody connected shows its own certificate', node.certificate === own)
  check('no file of the home holds the key', !filesHold(join(world.folder, 'home'), KEY))

  heading('5. The audit trail')
  const log = await world.broker(['log', '-n', '20'])
  console.log(indent(log.stdout))
  const events = parseEvents((await world.broker(['log', '--json'])).stdout)
  const expected = [
    'run.ended',
    'proxy.request',
    'run.started',
    'provider.login',
    'provider.registered',
    'identity.claimed',
  ]
  check(
    'it tells the whole story',
    expected.every((name) => events.some(({ event }) => event === name)),
  )
  check('it does not hold the key', !JSON.stringify(events).includes(KEY))

  heading('6. Taken back')
  await step(world, ['logout', 'acme-models'])
  const after = await callByNode(world)
  check('the next run has no access any more', after.status !== 200)
}

async function step({ broker }: World, args: readonly string[], input?: string): Promise<void> {
  console.log(`  ${pc.dim('$')} ${input === undefined ? '' : pc.dim('… | ')}broker ${shown(args)}`)
  const ended = await broker(args, input)
  if (ended.code !== 0) console.log(indent(ended.stderr || ended.stdout))
  check(`exit code 0`, ended.code === 0)
}

function shown(args: readonly string[]): string {
  return args.map((arg) => (arg.includes('/') ? arg.slice(arg.lastIndexOf('/') + 1) : arg)).join(' ')
}

interface ChildReport {
  readonly status: number
  readonly body: string
  readonly key: string | undefined
  /** Environment, arguments and descriptors of the child, as it found them. */
  readonly everything: string
  /** Fingerprint of what a host without a connection showed. */
  readonly certificate: string
}

async function callByNode({ broker }: World): Promise<ChildReport> {
  const command = [process.execPath, join(ROOT, 'demo/child.ts'), HOST, OTHER_HOST]
  console.log(`  ${pc.dim('$')} broker run -- node child.ts`)
  const ended = await broker(['run', '--', ...command])
  const failed = { status: 0, body: '', key: undefined, everything: '', certificate: 'none' }
  if (ended.code !== 0) console.log(indent(ended.stderr))
  return ended.code === 0 ? (JSON.parse(ended.stdout) as ChildReport) : failed
}

async function callByCurl({ broker }: World): Promise<Ended | undefined> {
  if (spawnSync('curl', ['--version']).status !== 0) {
    console.log('  (there is no curl on this machine: left out)')
    return undefined
  }
  const script = `curl -sS https://${HOST}/v1/models -H "Authorization: Bearer $ACME_API_KEY"`
  console.log(`  ${pc.dim('$')} broker run -- curl https://${HOST}/v1/models -H "Authorization: Bearer $ACME_API_KEY"`)
  return broker(['run', '--', 'sh', '-c', script])
}

function sideBySide(api: LocalApi, child: ChildReport): void {
  const rows = [
    ['', 'the program', 'the API'],
    ['its key', child.key ?? '(none)', '-'],
    ['Authorization', `Bearer ${child.key}`, authorizations(api)[0] ?? '(nothing)'],
    ['request', api.received[0]?.line ?? '-', api.received[0]?.line ?? '-'],
  ]
  for (const [name = '', left = '', right = ''] of rows) console.log(`  ${name.padEnd(14)} ${left.padEnd(32)} ${right}`)
  console.log()
}

function certificateOf(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

function authorizations(api: LocalApi): readonly string[] {
  return api.received.map(({ headers }) => String(headers['authorization']))
}

function filesHold(folder: string, text: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text))
}

function parseEvents(json: string): readonly { readonly event: string }[] {
  return JSON.parse(json) as { event: string }[]
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, '    ')
}

interface RunOptions {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly input: string
}

function run(command: string, args: readonly string[], { env, cwd, input }: RunOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    // A command that reads nothing closes its end first.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

function verdict(started: number): number {
  const failed = checks.filter(({ held }) => !held)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  heading(failed.length === 0 ? pc.green(`All of it held (${seconds} s).`) : pc.red(`${failed.length} did not hold:`))
  for (const { claim } of failed) console.log(`  ${claim}`)
  return failed.length === 0 ? 0 : 1
}

process.exitCode = await main()
