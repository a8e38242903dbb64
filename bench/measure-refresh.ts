import type { DaemonClient } from '../src/client/index.ts'
import type { ResolveRequest } from '../src/schemas/index.ts'
import { type OpenIdProvider, startOpenIdProvider } from '../test/openid-provider.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { whyNot } from '../tools/available.ts'
import { clientOf } from './daemon-client.ts'
import { logIn, OAUTH_HOST, registerOAuthProvider, untilTokenEnds } from './oauth-login.ts'
import { measureRejected } from './rejected-request.ts'
import { atMost, type Finding } from './report.ts'
import { median, percentile, ratioOf } from './statistics.ts'
import { startTeam } from './team.ts'
import { HOST, type World } from './world.ts'

const AT_ONCE = 1_000
const TEAM = 3
const BURSTS = 5
const ROUNDS = 12
const RESOLVES = 400

/** Tokens of a real OpenID provider: one that has ended, one that is fresh, one that its host refuses. */
export async function measureRefresh({ env, folder }: World): Promise<readonly Finding[]> {
  const provider = await startOpenIdProvider()
  const client = clientOf(env)
  try {
    await registerOAuthProvider(client, provider)
    return [
      await measureEnded('one daemon', [client], provider),
      await measureTeam(folder, provider),
      ...(await measureFresh(client, provider)),
      await measureRejected(client, provider),
    ]
  } finally {
    client.close()
    await provider.close()
  }
}

async function measureTeam(folder: string, provider: OpenIdProvider): Promise<Finding> {
  const name = `${TEAM} daemons on one Postgres`
  const reason = whyNot('postgres')
  if (reason) return { measure: endedOf(name), raw: {}, leftOut: `left out: ${reason}` }
  const tasks: (() => unknown)[] = []
  try {
    const postgres = await startPostgres({ after: (task) => tasks.push(task) })
    const team = await startTeam(folder, postgres.url, TEAM, (task) => tasks.push(task))
    const clients = team.map(({ client }) => client)
    for (const client of clients) await registerOAuthProvider(client, provider)
    return await measureEnded(name, clients, provider)
  } finally {
    for (const task of tasks.toReversed()) await task()
  }
}

function endedOf(name: string): string {
  return `refresh: ${AT_ONCE.toLocaleString('en')} at once, token ended, ${name}`
}

async function measureEnded(
  name: string,
  clients: readonly DaemonClient[],
  provider: OpenIdProvider,
): Promise<Finding> {
  const [first] = clients
  if (!first) throw new Error('There is no daemon')
  const rounds = []
  for (let round = 1; round <= BURSTS; round++) {
    process.stderr.write(`  ${name}: round ${round} of ${BURSTS}\n`)
    await logIn(first, provider, 1)
    await untilTokenEnds(first)
    const before = provider.tokenRequests('refresh_token')
    const ended = await resolveAtOnce(clients, provider)
    const fresh = await resolveAtOnce(clients, provider)
    rounds.push({ ended, fresh, tokenRequests: provider.tokenRequests('refresh_token') - before })
  }
  const failed = rounds.reduce((sum, { ended, fresh }) => sum + ended.failed + fresh.failed, 0)
  const tokenRequests = Math.max(...rounds.map((round) => round.tokenRequests))
  const milliseconds = { ended: rounds.map(({ ended }) => ended.ms), fresh: rounds.map(({ fresh }) => fresh.ms) }
  return {
    measure: endedOf(name),
    ratio: ratioOf(milliseconds.ended, milliseconds.fresh),
    target: {
      text: '1 token request, 0 failed',
      held: failed === 0 && rounds.every((round) => round.tokenRequests === 1),
    },
    raw: {
      'token requests': tokenRequests,
      failed,
      ms: median(milliseconds.ended),
      'ms of a fresh token': median(milliseconds.fresh),
    },
  }
}

/** One that got no answer, or a token that the provider does not honour, has failed. */
async function resolveAtOnce(clients: readonly DaemonClient[], provider: OpenIdProvider) {
  const started = performance.now()
  const asked = Array.from({ length: AT_ONCE }, (_, index) => clients[index % clients.length]?.resolve(TOKEN))
  const answers = await Promise.allSettled(asked)
  const ms = performance.now() - started
  const tokens = answers.map((answer) =>
    answer.status === 'fulfilled' ? answer.value?.places[0]?.value?.reveal().replace('Bearer ', '') : undefined,
  )
  const honoured = new Set<string>()
  for (const token of new Set(tokens)) if (token && (await provider.isActive(token))) honoured.add(token)
  return { ms, failed: tokens.filter((token) => token === undefined || !honoured.has(token)).length }
}

const TOKEN: ResolveRequest = { host: OAUTH_HOST, port: 443, method: 'GET', path: '/v1/models' }
const KEY: ResolveRequest = { ...TOKEN, host: HOST }

/** A fresh token beside an API key of the same daemon, turn by turn. */
async function measureFresh(client: DaemonClient, provider: OpenIdProvider): Promise<readonly Finding[]> {
  await logIn(client, provider, 3600)
  await resolveInTurn(client)
  const rounds: Awaited<ReturnType<typeof resolveInTurn>>[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`  a fresh token and an API key: round ${round} of ${ROUNDS}\n`)
    rounds.push(await resolveInTurn(client))
  }
  return (['p50', 'p99'] as const).map((name) => {
    const share = name === 'p50' ? 0.5 : 0.99
    const token = rounds.map((round) => percentile(round.token, share))
    const key = rounds.map((round) => percentile(round.key, share))
    const ratio = ratioOf(token, key)
    return {
      measure: `refresh: resolve ${name}, fresh token to API key`,
      ratio,
      target: atMost(1.2, ratio),
      raw: { [`${name} ms of the token`]: median(token), [`${name} ms of the key`]: median(key) },
    }
  })
}

/** Milliseconds of each. */
async function resolveInTurn(client: DaemonClient) {
  const times = { token: [] as number[], key: [] as number[] }
  for (let index = 0; index < RESOLVES; index++) {
    // Neither of them always follows the other.
    for (const which of index % 2 === 0 ? (['token', 'key'] as const) : (['key', 'token'] as const)) {
      const started = performance.now()
      await client.resolve(which === 'token' ? TOKEN : KEY)
      times[which].push(performance.now() - started)
    }
  }
  return times
}
