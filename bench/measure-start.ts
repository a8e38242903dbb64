import { run } from './child-process.ts'
import { atMost, below, type Finding } from './report.ts'
import { median, ratioOf } from './statistics.ts'
import { BROKER, type World } from './world.ts'

const ROUNDS = 15
const RUN_LIMIT_MS = 500

/** What a command costs from nothing to its exit, beside an empty start of the same Node. */
export async function measureStart({ env }: World): Promise<readonly Finding[]> {
  const commands = {
    empty: { file: process.execPath, args: ['-e', '0'] },
    version: { file: BROKER, args: ['--version'], env },
    run: { file: BROKER, args: ['run', '--', 'true'], env },
  }
  const times: Record<keyof typeof commands, number[]> = { empty: [], version: [], run: [] }
  for (const command of Object.values(commands)) await run(command)
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`  round ${round} of ${ROUNDS}\n`)
    for (const name of ['empty', 'version', 'run'] as const) times[name].push(await timeOf(() => run(commands[name])))
  }
  const version = ratioOf(times.version, times.empty)
  const beyond = median(times.run.map((time, round) => time - (times.empty[round] ?? Number.NaN)))
  return [
    {
      measure: 'start: `broker --version` to `node -e 0`',
      ratio: version,
      target: atMost(2, version),
      raw: { ms: median(times.version), 'node -e 0 ms': median(times.empty) },
    },
    {
      measure: 'start: `broker run -- true` beyond `node -e 0`',
      ratio: ratioOf(times.run, times.empty),
      target: below(RUN_LIMIT_MS, 'ms', beyond),
      raw: { 'beyond ms': beyond, ms: median(times.run) },
    },
  ]
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
