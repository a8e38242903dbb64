import { join } from 'node:path'
import type { DaemonClient } from '../src/client/index.ts'
import { pathOf, run } from './child-process.ts'
import { clientOf } from './daemon-client.ts'
import type { Stored } from './fill-vault.ts'
import { atMost, type Finding } from './report.ts'
import { median, percentile, ratioOf } from './statistics.ts'
import { homeEnvironment, runBroker, type World } from './world.ts'

const [FEW, MANY] = [10, 10_000]
const ROUNDS = 10
const RESOLVES = 400

/** Resolves over HTTP, each of another connection, from a vault of few and one of many. */
export async function measureVault({ folder }: World): Promise<readonly Finding[]> {
  const few = await openHome(join(folder, 'few'), FEW)
  const many = await openHome(join(folder, 'many'), MANY)
  try {
    const rounds = []
    await Promise.all([few, many].map(resolveSome))
    for (let round = 1; round <= ROUNDS; round++) {
      process.stderr.write(`  round ${round} of ${ROUNDS}\n`)
      rounds.push({ few: await resolveSome(few), many: await resolveSome(many) })
    }
    return [
      findingOf(
        'p50',
        rounds.map((round) => [percentile(round.many, 0.5), percentile(round.few, 0.5)]),
      ),
      findingOf(
        'p99',
        rounds.map((round) => [percentile(round.many, 0.99), percentile(round.few, 0.99)]),
      ),
    ]
  } finally {
    await few.close()
    await many.close()
  }
}

function findingOf(name: 'p50' | 'p99', rounds: readonly (readonly [number, number])[]): Finding {
  const [many, few] = [rounds.map(([value]) => value), rounds.map(([, value]) => value)]
  const ratio = ratioOf(many, few)
  return {
    measure: `vault: resolve ${name} of ${MANY.toLocaleString('en')} connections to that of ${FEW}`,
    ratio,
    ...(name === 'p99' && { target: atMost(2, ratio) }),
    raw: { [`${name} ms of ${MANY}`]: median(many), [`${name} ms of ${FEW}`]: median(few) },
  }
}

interface Home {
  readonly client: DaemonClient
  readonly stored: readonly Stored[]
  close(): Promise<void>
}

async function openHome(home: string, count: number): Promise<Home> {
  process.stderr.write(`  a home with ${count.toLocaleString('en')} connections\n`)
  const env = await homeEnvironment(home)
  await runBroker(env, ['onboard', '--json'])
  await runBroker(env, ['daemon', 'stop'])
  const filled = await run({ file: process.execPath, args: [pathOf('./fill-vault.ts'), String(count)], env })
  await runBroker(env, ['daemon', 'start'])
  const client = clientOf(env)
  return {
    client,
    stored: JSON.parse(filled) as Stored[],
    async close() {
      client.close()
      await runBroker(env, ['daemon', 'stop'])
    },
  }
}

/** Milliseconds of each. */
async function resolveSome({ client, stored }: Home): Promise<readonly number[]> {
  const times: number[] = []
  for (let index = 0; index < RESOLVES; index++) {
    // A stride that shares no factor with their number visits them all, in no order that a cache would like.
    const place = stored[(index * 7919 + times.length) % stored.length]
    if (place === undefined) break
    const { host, provider, connection } = place
    const started = performance.now()
    await client.resolve({ host, port: 443, method: 'GET', path: '/v1/models', provider, connection })
    times.push(performance.now() - started)
  }
  return times
}
