import { get } from 'node:http'
import type { OpenIdProvider } from '../test/openid-provider.ts'
import type { Call } from './calling-child.ts'
import type { LocalApi } from './local-api.ts'
import { check, command, heading, note, quote, table, waitUntil } from './report.ts'
import { type Started, startBehindBroker, step, type World } from './world.ts'

export const DRIVE_HOST = 'api.acme-drive.example'
const PROVIDER = 'acme-drive'
const PLACEHOLDER = 'Bearer broker-proxy-managed'
/** Seconds. */
const FIRST_LIFETIME = 4
const LATER_LIFETIME = 3600
const AT_ONCE = 5

const definitionFor = ({ issuer, clients }: OpenIdProvider) => ({
  schema_version: 1,
  name: PROVIDER,
  display_name: 'Acme Drive',
  auth_type: 'oauth2',
  flow: 'pkce',
  hosts: [DRIVE_HOST],
  env: { ACME_DRIVE_TOKEN: 'credential' },
  oauth: { issuer, client_id: clients.public.id, scopes: ['openid', 'offline_access', 'api:read'] },
})

export interface OAuthStory {
  readonly world: World
  readonly provider: OpenIdProvider
  /** Takes the provider's tokens. */
  readonly api: LocalApi
}

/** A login, a run that is longer than its token lives, and the end of both at the provider. */
export async function tellOAuthStory(story: OAuthStory): Promise<void> {
  const { world, provider } = story
  heading(`8. An OAuth login, at an OpenID provider whose first token lives ${FIRST_LIFETIME} seconds`)
  await step(world, ['provider', 'register', world.definitionFile(definitionFor(provider)), '--yes'])
  await logIn(world, provider)

  heading('9. One run, in which the token ends and is refreshed')
  const tokens = compare(await callBeforeAndAfterTheEnd(story))
  check('no file of the home holds either token', !tokens.some((token) => world.homeHolds(token)))
  await checkAuditTrail(world)

  heading('10. Revoked')
  await revoke(world, provider, tokens.at(-1) ?? '')
}

async function logIn(world: World, provider: OpenIdProvider): Promise<void> {
  provider.settings.accessTokenLifetime = FIRST_LIFETIME
  const args = ['login', PROVIDER, '--no-browser']
  command(`broker ${args.join(' ')}`)
  const login = world.start(args)
  const url = await login.said(new RegExp(`${provider.issuer}/\\S+`))
  note(`it prints ${withoutQuery(url)}?…, and the demo is the browser: it signs in and agrees`)
  const back = await provider.approve(url)
  note(`the provider sends it on to ${withoutQuery(back)}?code=…`)
  const page = await visit(back)
  check('the browser is told that it is done', page === 200)
  if (page !== 200) throw new Error(`The daemon answered the browser with ${page}: the login will not end`)
  const { code, stderr } = await login.ended()
  if (code !== 0) quote(stderr)
  check('exit code 0', code === 0)
}

/** Goes where a provider sends a browser, as a browser does; the status of the page. */
function visit(url: string): Promise<number | undefined> {
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  return new Promise((resolve, reject) => {
    get(url, { headers: { ...headers, accept: 'text/html' } }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode))
    }).once('error', reject)
  })
}

interface Outcome {
  readonly before: readonly Exchange[]
  readonly after: readonly Exchange[]
  readonly exitCode: number | null
  /** All that the program wrote. */
  readonly output: string
  /** That the provider was asked for between the two. */
  readonly refreshes: number
}

interface Exchange extends Call {
  /** The `Authorization` that the API got for it. */
  readonly received: string
}

async function callBeforeAndAfterTheEnd({ world, provider, api }: OAuthStory): Promise<Outcome> {
  const child = startBehindBroker(world, './calling-child.ts', DRIVE_HOST)
  const before = await callAtOnce(child, ['/v1/files/1', '/v1/files/2'])
  const refreshes = provider.tokenRequests('refresh_token')
  // So long that the next token does not end by itself before it is revoked.
  provider.settings.accessTokenLifetime = LATER_LIFETIME
  await waitUntil(await endOfToken(world), 'until the token ends; the run goes on')
  const paths = Array.from({ length: AT_ONCE }, (_, index) => `/v1/files/${index + 3}`)
  const after = await callAtOnce(child, paths)
  const { code, stdout } = await child.ended()
  const seenByApi = new Map(api.received.map(({ line, headers }) => [line, String(headers['authorization'])]))
  const both = (call: Call) => ({ ...call, received: seenByApi.get(`GET ${call.path}`) ?? '(nothing)' })
  return {
    before: before.map(both),
    after: after.map(both),
    exitCode: code,
    output: stdout,
    refreshes: provider.tokenRequests('refresh_token') - refreshes,
  }
}

/** The tokens that the API received, each once, in order. */
function compare({ before, after, exitCode, output, refreshes }: Outcome): readonly string[] {
  const calls = [...before, ...after]
  table([
    ['after', 'the program sent', 'the API received', 'answer'],
    ...calls.map(({ at, sent, received, status }) => [`${at.toFixed(1)} s`, sent, shortened(received), `${status}`]),
  ])
  const tokensOf = (some: readonly Exchange[]) => [
    ...new Set(some.map(({ received }) => received.replace('Bearer ', ''))),
  ]
  const [first, second, tokens] = [tokensOf(before), tokensOf(after), tokensOf(calls)]
  check('every call was answered', exitCode === 0 && calls.every(({ status }) => status === 200))
  check(
    'the program sent the placeholder, and saw no token',
    calls.every(({ sent }) => sent === PLACEHOLDER) && !tokens.some((token) => output.includes(token)),
  )
  check(
    'the API received one token before, and another after',
    first.length === 1 && second.length === 1 && tokens.length === 2,
  )
  check(`${AT_ONCE} calls at once made the daemon ask the provider for one refresh`, refreshes === 1)
  return tokens
}

async function callAtOnce(child: Started, paths: readonly string[]): Promise<readonly Call[]> {
  for (const path of paths) child.send(path)
  const lines = await Promise.all(paths.map((path) => child.said(new RegExp(`.*"${path}".*(?=\\n)`))))
  return lines.map((line) => JSON.parse(line) as Call)
}

/** Milliseconds since 1970. */
async function endOfToken(world: World): Promise<number> {
  const { stdout } = await world.start(['connections', 'inspect', PROVIDER, '--json']).ended()
  const { connections } = JSON.parse(stdout) as { connections: { expires_at: string }[] }
  return Date.parse(connections[0]?.expires_at ?? '')
}

async function checkAuditTrail(world: World): Promise<void> {
  const args = ['log', '--provider', PROVIDER]
  command(`broker ${args.join(' ')}`)
  quote((await world.start(args).ended()).stdout)
  const { stdout } = await world.start([...args, '--json']).ended()
  const events = JSON.parse(stdout) as { event: string }[]
  const times = (name: string) => events.filter(({ event }) => event === name).length
  check(
    'the audit trail has the login and the refresh',
    times('provider.login') === 1 && times('provider.refreshed') > 0,
  )
  check('it holds no token', !stdout.includes('at-CNRY') && !stdout.includes('rt-CNRY'))
}

async function revoke(world: World, provider: OpenIdProvider, token: string): Promise<void> {
  const wasActive = await provider.isActive(token)
  const { stdout } = await step(world, ['provider', 'revoke', PROVIDER, '--yes', '--json'])
  check('the provider was told', stdout.includes('"revoked"'))
  check('it honoured the token until then, and does not any more', wasActive && !(await provider.isActive(token)))
}

function withoutQuery(url: string): string {
  return url.slice(0, url.indexOf('?'))
}

/** Enough of a token to tell it from another. */
function shortened(authorization: string): string {
  return authorization.replace(/^Bearer (\S+-CNRY)\S*(\S{4})$/, 'Bearer $1…$2')
}
