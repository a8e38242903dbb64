import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DaemonClient } from '../src/client/index.ts'
import { generateSigningKey } from '../src/identity/index.ts'
import { clientOf } from './daemon-client.ts'
import type { Finding } from './report.ts'
import { median, percentile, ratioOf } from './statistics.ts'
import { HOST, type World } from './world.ts'

const ROUNDS = 8
const QUESTIONS = 1_000
const AT_ONCE = [1, 16]

type Ask = (path: string) => Promise<unknown>

interface Round {
  /** Questions a second. */
  readonly rate: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Of the daemon's processor, for a question, in microseconds. */
  readonly processor: number
}

/** What a run asks, by its channel and by a signed request for each question, side by side. */
export async function measureAsking({ env }: World): Promise<readonly Finding[]> {
  const owner = clientOf(env)
  const key = generateSigningKey()
  const { run_id: runId } = await owner.startRun({ did: key.did })
  const { identity: handle } = await owner.whoami()
  const client = new DaemonClient({ baseUrl: owner.baseUrl, signer: { handle, key }, check: () => undefined })
  const channel = client.channel(runId, () => undefined)
  const processor = processorOf(join(String(env['BROKER_HOME']), 'server/daemon.json'))
  const question = (path: string) => ({ host: HOST, port: 443, method: 'GET', path })
  try {
    const findings: Finding[] = []
    for (const atOnce of AT_ONCE) {
      const rounds: { readonly byChannel: Round; readonly byRequest: Round }[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        process.stderr.write(`  ${atOnce} at once, round ${round} of ${ROUNDS}\n`)
        const byChannel = await askMany((path) => channel.resolve(question(path)), atOnce, processor)
        const byRequest = await askMany((path) => client.resolve(question(path)), atOnce, processor)
        // The first warms up.
        if (round > 0) rounds.push({ byChannel, byRequest })
      }
      findings.push(...findingsOf(atOnce, rounds))
    }
    return findings
  } finally {
    channel.close()
    client.close()
    await owner.endRun(runId, 0)
    owner.close()
  }
}

async function askMany(ask: Ask, atOnce: number, processor: () => number): Promise<Round> {
  const times: number[] = []
  const [began, used] = [performance.now(), processor()]
  let asked = 0
  const askOn = async () => {
    while (asked < QUESTIONS) {
      asked += 1
      const at = performance.now()
      await ask(`/v1/items/${asked}`)
      times.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, askOn))
  return {
    rate: (QUESTIONS / (performance.now() - began)) * 1000,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    processor: (processor() - used) / QUESTIONS,
  }
}

/** Microseconds that the daemon's process has used; NaN where the system does not tell. */
function processorOf(info: string): () => number {
  const { pid } = JSON.parse(readFileSync(info, 'utf8')) as { pid: number }
  return () => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK
    } catch {
      return Number.NaN
    }
  }
}

/** Microseconds: a hundred a second, as Linux counts for programs. */
const TICK = 10_000

function findingsOf(
  atOnce: number,
  rounds: readonly { readonly byChannel: Round; readonly byRequest: Round }[],
): readonly Finding[] {
  return (['rate', 'p50', 'p99', 'processor'] as const).map((what) => {
    const [channel, request] = [
      rounds.map(({ byChannel }) => byChannel[what]),
      rounds.map(({ byRequest }) => byRequest[what]),
    ]
    return {
      measure: `asking, ${atOnce} at once: ${NAMES[what]}, channel to signed requests`,
      ratio: ratioOf(channel, request),
      raw: { channel: median(channel), requests: median(request) },
    }
  })
}

const NAMES = {
  rate: 'questions a second',
  p50: 'p50 ms',
  p99: 'p99 ms',
  processor: "µs of the daemon's processor for each",
} as const
