import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup, DaemonUnderTest } from '../daemon-under-test.ts'
import { assertHolds, type Truth } from './model.ts'
import { Recorder, type Scenario } from './scenarios.ts'
import {
  type Ended,
  type Fault,
  hitOf,
  type Point,
  pointsOf,
  type Trace,
  traceDaemon,
  withinPatience,
} from './strace.ts'

/** What came of one scenario under one kind of fault. */
export interface Swept {
  readonly scenario: string
  readonly fault: Fault
  /** Calls that a run of it makes on files of the home. */
  readonly points: number
  /** How many of those chosen the fault came upon. */
  readonly hit: number
  readonly survived: number
  readonly failures: readonly Failure[]
}

interface Failure {
  readonly what: string
  readonly why: string
}

export interface SweepOptions {
  readonly faults: readonly Fault[]
  /** Some of the points, or all. */
  readonly choose: (points: readonly Point[], fault: Fault) => readonly Point[]
  /** Runs at the same time. */
  readonly workers: number
  readonly report?: (sentence: string) => void
}

/** Runs a scenario once for each chosen point, with the fault there, starts its home again and holds it against the model. */
export async function sweep(scenario: Scenario, options: SweepOptions): Promise<readonly Swept[]> {
  const folder = mkdtempSync(join(tmpdir(), 'broker-sweep-'))
  try {
    const stage = await prepare(scenario, folder)
    const swept: Swept[] = []
    for (const fault of options.faults) swept.push(await sweepWith(stage, fault, options))
    return swept
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Stage {
  readonly scenario: Scenario
  readonly folder: string
  /** The home that each run begins with; not there where it begins with none. */
  readonly base: string
  readonly truth: Truth
  readonly points: readonly Point[]
}

async function prepare(scenario: Scenario, folder: string): Promise<Stage> {
  const base = join(folder, 'base')
  const truth = await cleanly((t) => scenario.prepare(t, base))
  const stage = { scenario, folder, base, truth, points: [] }
  // The first run of all fills the cache of sources, which makes calls of its own.
  await run(stage, 'first')
  const { trace, ended, truth: after, problem } = await run(stage, 'whole')
  assert.deepEqual([problem, ended.code], [undefined, 0], `without a fault it ends in order: ${ended.output}`)
  await cleanly((t) => assertHolds(t, trace.home, after))
  return { ...stage, points: pointsOf(trace) }
}

async function sweepWith(stage: Stage, fault: Fault, options: SweepOptions): Promise<Swept> {
  const { name } = stage.scenario
  const { workers, report = () => undefined } = options
  const chosen = options.choose(stage.points, fault)
  const left = [...chosen.entries()]
  const outcomes: (Failure | 'survived' | 'missed')[] = []
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const [at, point] = next
        const outcome = await tryPoint(stage, fault, point, `${fault}-${at}`)
        outcomes.push(outcome)
        if (typeof outcome === 'object') report(`${name}, ${fault} at ${outcome.what}: ${outcome.why}`)
        if (outcomes.length % 50 === 0) report(`${name}, ${fault}: ${outcomes.length} of ${chosen.length}`)
      }
    }),
  )
  const failures = outcomes.filter((outcome) => typeof outcome === 'object')
  const survived = outcomes.filter((outcome) => outcome === 'survived').length
  return {
    scenario: name,
    fault,
    points: stage.points.length,
    hit: survived + failures.length,
    survived,
    failures,
  }
}

async function tryPoint(
  stage: Stage,
  fault: Fault,
  point: Point,
  id: string,
): Promise<Failure | 'survived' | 'missed'> {
  const { trace, ended, truth, problem } = await run(stage, id, { fault, point })
  const what = hitOf(trace, fault, point)
  try {
    const why = problem ?? refusalOf(ended, fault)
    if (why !== undefined && what !== undefined) return { what, why }
    await cleanly((t) => assertHolds(t, trace.home, truth))
    return what === undefined ? 'missed' : 'survived'
  } catch (error) {
    return { what: what ?? point.what, why: error instanceof Error ? error.message : String(error) }
  } finally {
    rmSync(join(trace.home, '..'), { recursive: true, force: true })
  }
}

interface Run {
  readonly trace: Trace
  readonly ended: Ended
  readonly truth: Truth
  /** Why it was not as it should be while it ran. */
  readonly problem: string | undefined
}

async function run(stage: Stage, id: string, fault?: { fault: Fault; point: Point }): Promise<Run> {
  const place = join(stage.folder, id)
  const trace = { home: join(place, 'home'), file: join(place, 'trace') }
  mkdirSync(place)
  if (existsSync(stage.base)) cpSync(stage.base, trace.home, { recursive: true })
  const daemon = await traceDaemon(trace, fault)
  const recorder = new Recorder(stage.truth)
  const problem = daemon.port === undefined ? undefined : await acted(stage, { ...trace, port: daemon.port }, recorder)
  const ended = await daemon.stop()
  return { trace, ended, truth: recorder.truth, problem: ended.isStuck ? 'it hangs' : problem }
}

async function acted(
  { scenario }: Stage,
  { home, port }: { home: string; port: number },
  recorder: Recorder,
): Promise<string | undefined> {
  try {
    const daemon = { home, port, origin: `http://127.0.0.1:${port}` } as DaemonUnderTest
    const acting = scenario.act(daemon, recorder)
    return (await withinPatience(acting)) === 'late' ? 'it does not answer' : undefined
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return /InternalError/.test(message) ? `it answers ${message}` : undefined
  }
}

/** Returns the sentence by which who cannot go on says why. */
function refusalOf({ code, signal, output }: Ended, fault: Fault): string | undefined {
  // Asked to end while it still starts, or gives up, it may do so at once.
  if (fault === 'kill' || code === 0 || signal === 'SIGTERM') return undefined
  const said = /^broker: (.*)$/m.exec(output)?.[1]
  if (said === undefined) return `it ends with ${code ?? signal} and: ${output}`
  return said.includes('its log says why') ? `it says only: ${said}` : undefined
}

/** Does what leaves tasks behind, and the tasks, newest first. */
async function cleanly<Result>(work: (t: Cleanup) => Promise<Result>): Promise<Result> {
  const tasks: (() => unknown)[] = []
  try {
    return await work({ after: (task) => tasks.push(task) })
  } finally {
    for (const task of tasks.toReversed()) await task()
  }
}

/** For people: a line for each scenario and fault. */
export function sweptTable(all: readonly Swept[]): string {
  const rows = all.map(({ scenario, fault, points, hit, survived }) =>
    [scenario, fault, points, hit, survived].map(String),
  )
  const lines = [['scenario', 'fault', 'calls', 'swept', 'survived'], ...rows]
  const widths = [0, 1, 2, 3, 4].map((at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Of calls in a row that are alike, the first and the last. */
export function edgesOf(points: readonly Point[]): readonly Point[] {
  return points.filter(({ what }, at) => points[at - 1]?.what !== what || points[at + 1]?.what !== what)
}
