import { join } from 'node:path'
import type { DaemonClient } from '../src/client/index.ts'
import { loadConfig, readDaemonInfo } from '../src/config/index.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { whyNot } from '../tools/available.ts'
import type { NeighbourOptions } from './audit-neighbour.ts'
import { startServer } from './child-process.ts'
import { clientOf } from './daemon-client.ts'
import { atLeast, type Finding } from './report.ts'
import { shippedEvent } from './shipped-event.ts'
import { median, percentile, ratioOf } from './statistics.ts'
import { type Member, startTeam } from './team.ts'
import { throttle } from './throttle.ts'
import { definitionFile, HOST, KEY, runBroker, type World } from './world.ts'

const TEAM = 3
const ROUNDS = 6
const ROUND_MS = 1_500
const WRITERS = 32
const RESOLVERS = 16
/** Of one core, for each of the daemons that are throttled: so they leave the database room on a small machine. */
const SHARE = 0.15

const KEY_PLACE = { host: HOST, port: 443, method: 'GET', path: '/v1/models' } as const

/** A team's daemons on one Postgres: what they store, how they go on beside each other, and one beside a bad neighbour. */
export async function measureHosted(world: World): Promise<readonly Finding[]> {
  const reason = whyNot('postgres')
  if (reason) return [{ measure: 'hosted', raw: {}, leftOut: `left out: ${reason}` }]
  const tasks: (() => unknown)[] = []
  const after = (task: () => unknown) => tasks.push(task)
  try {
    const postgres = await startPostgres({ after })
    const team = await startTeam(join(world.folder, 'hosted'), postgres.url, TEAM, after)
    const [one] = team
    if (!one) throw new Error('There is no daemon')
    await runBroker(one.env, ['provider', 'register', definitionFile(world.folder), '--yes'])
    await runBroker(one.env, ['login', 'bench'], `${KEY}\n`)
    return [
      await measureSingles(one.client),
      await measureThrottled(team),
      await measureNeighbour(one),
      await measureResolves(one.client, world),
    ]
  } finally {
    for (const task of tasks.toReversed()) await task()
  }
}

async function measureSingles(client: DaemonClient): Promise<Finding> {
  const rounds = await inRounds('single events', async () => ({
    many: await rateOf(WRITERS, () => client.ship([shippedEvent()])),
    one: await rateOf(1, () => client.ship([shippedEvent()])),
  }))
  return compared(`hosted: single events a second, ${WRITERS} writers to one`, rounds, ['many', 'one'])
}

async function measureThrottled(team: readonly Member[]): Promise<Finding> {
  const measure = `hosted: single events a second, ${TEAM} daemons of ${SHARE} core to one`
  const ends = team.map(({ env }) => throttle(readDaemonInfo(loadConfig(env, '/nowhere').paths)?.pid ?? 0, SHARE))
  try {
    if (ends.includes(undefined)) return { measure, raw: {}, leftOut: 'left out: no control group for CPU here' }
    const ship = (members: readonly Member[]) => {
      let turn = 0
      return rateOf(WRITERS, () => members[turn++ % members.length]?.client.ship([shippedEvent()]))
    }
    const rounds = await inRounds('throttled', async () => ({
      all: await ship(team),
      one: await ship(team.slice(0, 1)),
    }))
    const finding = compared(measure, rounds, ['all', 'one'])
    return { ...finding, ...(finding.ratio && { target: atLeast(2, finding.ratio) }) }
  } finally {
    for (const end of ends) end?.()
  }
}

/** The same principal's, so that nothing but the daemon tells them apart. */
async function measureNeighbour({ client, env }: Member): Promise<Finding> {
  const rounds = await inRounds('a neighbour', async () => {
    const alone = await resolveTimes(client)
    const neighbour = await startServer('./audit-neighbour.ts', {
      home: String(env['BROKER_HOME']),
      port: String(env['BROKER_PORT']),
      senders: WRITERS,
    } satisfies NeighbourOptions)
    const beside = await resolveTimes(client)
    await neighbour.stop()
    return { beside: percentile(beside, 0.99), alone: percentile(alone, 0.99) }
  })
  return compared(`hosted: resolve p99 ms beside ${WRITERS} senders of 1,000 events to alone`, rounds, [
    'beside',
    'alone',
  ])
}

async function measureResolves(hosted: DaemonClient, { env }: World): Promise<Finding> {
  const laptop = clientOf(env)
  try {
    const rounds = await inRounds('resolves', async () => ({
      postgres: await rateOf(RESOLVERS, () => hosted.resolve(KEY_PLACE)),
      sqlite: await rateOf(RESOLVERS, () => laptop.resolve(KEY_PLACE)),
    }))
    const finding = compared('hosted: resolves a second, Postgres to SQLite', rounds, ['postgres', 'sqlite'])
    return { ...finding, ...(finding.ratio && { target: atLeast(0.7, finding.ratio) }) }
  } finally {
    laptop.close()
  }
}

/** Milliseconds of each, twenty a second. */
async function resolveTimes(client: DaemonClient): Promise<readonly number[]> {
  const times: Promise<number>[] = []
  const end = performance.now() + ROUND_MS
  while (performance.now() < end) {
    times.push(timeOf(() => client.resolve(KEY_PLACE)))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return Promise.all(times)
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** How many a second so many get done, each one after the other. */
async function rateOf(workers: number, work: () => Promise<unknown> | undefined): Promise<number> {
  const started = performance.now()
  let done = 0
  const worker = async () => {
    for (; performance.now() < started + ROUND_MS; done += 1) await work()
  }
  await Promise.all(Array.from({ length: workers }, worker))
  return (done * 1_000) / (performance.now() - started)
}

async function inRounds<Round>(name: string, round: () => Promise<Round>): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (let number = 0; number <= ROUNDS; number++) {
    process.stderr.write(`  ${name}: round ${number} of ${ROUNDS}\n`)
    const found = await round()
    // The first one warms up.
    if (number > 0) rounds.push(found)
  }
  return rounds
}

function compared<Name extends string>(
  measure: string,
  rounds: readonly Readonly<Record<Name, number>>[],
  [first, second]: readonly [Name, Name],
): Finding {
  const [one, other] = [rounds.map((round) => round[first]), rounds.map((round) => round[second])]
  return { measure, ratio: ratioOf(one, other), raw: { [first]: median(one), [second]: median(other) } }
}
