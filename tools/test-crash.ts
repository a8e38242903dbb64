/**
 * `npm run test:crash`: the daemon is killed at every call that changes a file of its home, in turn, and then finds the disk
 * failing and full there; it is started again and held against what was acknowledged. Fails where one did not survive.
 * `-- --only <pattern>` takes the scenarios of that name, `--fault <name>` one fault, and `--edges` of calls in a row that are
 * alike, such as the pages of one transaction, the first and the last; `--every <n>` of what is left takes each n-th.
 */
import { parseArgs } from 'node:util'
import { scenarios } from '../test/crash/scenarios.ts'
import { FAULTS, type Point } from '../test/crash/strace.ts'
import { edgesOf, type Swept, sweep, sweptTable } from '../test/crash/sweep.ts'
import { parts, whyNot } from './available.ts'
import { installDebianPackages, mayInstallDebianPackages } from './debian-packages.ts'

const AT_ONCE = 2

const {
  only,
  fault,
  edges,
  every,
  'at-once': atOnce,
} = parseArgs({
  options: {
    only: { type: 'string' },
    fault: { type: 'string' },
    edges: { type: 'boolean' },
    every: { type: 'string' },
    'at-once': { type: 'string' },
  },
}).values
if (whyNot('strace') && mayInstallDebianPackages()) installDebianPackages(parts.strace.packages, say)
const reason = whyNot('strace')
if (reason !== false) throw new Error(reason)

const started = performance.now()
const step = Number(every ?? 1)
const swept: Swept[] = []
for (const scenario of scenarios.filter(({ name }) => new RegExp(only ?? '', 'i').test(name))) {
  const options = {
    faults: FAULTS.filter((name) => fault === undefined || name === fault),
    choose: (points: readonly Point[]) => (edges ? edgesOf(points) : points).filter((_, at) => at % step === 0),
    workers: Number(atOnce ?? AT_ONCE),
    report: say,
  }
  swept.push(...(await sweep(scenario, options)))
}
process.stdout.write(`\n${sweptTable(swept)}\n`)
say(`${Math.round((performance.now() - started) / 1000)} s`)
process.exitCode = swept.length > 0 && swept.every(({ failures }) => failures.length === 0) ? 0 : 1

function say(sentence: string): void {
  process.stdout.write(`${sentence}\n`)
}
