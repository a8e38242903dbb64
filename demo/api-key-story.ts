import { spawnSync } from 'node:child_process'
import { connect } from 'node:tls'
import { tellBrowserStory } from './browser-story.ts'
import type { ChildReport } from './child.ts'
import type { LocalApi } from './local-api.ts'
import { check, command, heading, note, quote, table } from './report.ts'
import { type Ended, startBehindBroker, step, type World } from './world.ts'

export const HOST = 'api.acme-models.example'
/** Served by the same program, but no provider of Broker's: nothing may be done to what goes there. */
export const OTHER_HOST = 'status.acme-models.example'
export const KEY = `acme-CNRY-${'k'.repeat(24)}`
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

/** A key from the pipe to the request, and out again. */
export async function tellApiKeyStory(world: World, api: LocalApi): Promise<void> {
  heading('1. A home for Broker, and a provider it has never heard of')
  await step(world, ['onboard', '--json'])
  await step(world, ['provider', 'register', world.definitionFile(definition), '--yes'])

  heading('2. The key goes into the vault, by a pipe: never an argument, never an environment variable')
  await step(world, ['login', definition.name], `${KEY}\n`)

  heading('3. A program calls the API behind the proxy')
  const node = await callByNode(world)
  const curl = await callByCurl(world)

  heading('4. Side by side')
  await compare(world, api, node, curl)

  heading('5. The audit trail')
  await checkAuditTrail(world)

  await tellBrowserStory(world, definition.name, KEY)

  heading('7. Taken back')
  await step(world, ['logout', definition.name])
  const after = await callByNode(world)
  check('the next run has no access any more', after.status !== 200)
}

async function callByNode(world: World): Promise<ChildReport> {
  const { code, stdout, stderr } = await startBehindBroker(world, './child.ts', HOST, OTHER_HOST).ended()
  if (code === 0) return JSON.parse(stdout) as ChildReport
  quote(stderr)
  return { status: 0, body: '', key: undefined, everything: '', certificate: 'none' }
}

async function callByCurl(world: World): Promise<Ended | undefined> {
  if (spawnSync('curl', ['--version']).status !== 0) {
    note('(there is no curl on this machine: left out)')
    return undefined
  }
  const call = `curl -sS https://${HOST}/v1/models -H "Authorization: Bearer $ACME_API_KEY"`
  command(`broker run -- sh -c '${call}'`)
  return world.start(['run', '--', 'sh', '-c', call]).ended()
}

async function compare(
  { homeHolds }: World,
  { received, port }: LocalApi,
  child: ChildReport,
  curl: Ended | undefined,
): Promise<void> {
  const [first] = received
  table([
    ['', 'the program', 'the API'],
    ['its key', child.key ?? '(none)', '-'],
    ['Authorization', `Bearer ${child.key}`, first?.headers['authorization']?.toString() ?? '(nothing)'],
    ['request', first?.line ?? '-', first?.line ?? '-'],
  ])
  check('the program reached the API with the right key', child.status === 200 && child.body.includes('acme-large'))
  check(
    'the program saw the placeholder and nothing else',
    child.key === PLACEHOLDER && !child.everything.includes(KEY),
  )
  check(
    'the API received the real key, once a request',
    received.every(({ headers }) => headers['authorization'] === `Bearer ${KEY}`),
  )
  if (curl) check('curl reached it too, without knowing the key', curl.stdout.includes('acme-large'))
  const own = await certificateOf(OTHER_HOST, port)
  check('a host that nobody connected shows its own certificate', child.certificate === own)
  check('no file of the home holds the key', !homeHolds(KEY))
}

async function checkAuditTrail(world: World): Promise<void> {
  command('broker log')
  quote((await world.start(['log', '-n', '20']).ended()).stdout)
  const { stdout } = await world.start(['log', '--json']).ended()
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
    expected.every((name) => stdout.includes(`"${name}"`)),
  )
  check('it does not hold the key', !stdout.includes(KEY))
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
