import assert from 'node:assert/strict'
import { hash, randomInt } from 'node:crypto'
import { describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { scenarios } from './crash/scenarios.ts'
import { FAULTS, type Fault, type Point } from './crash/strace.ts'
import { edgesOf, sweep, sweptTable } from './crash/sweep.ts'

/** Of each scenario; `npm run test:crash` takes all. */
const TAKEN: Readonly<Record<Fault, number>> = { kill: 5, EIO: 1, ENOSPC: 2 }
const NAMES = [
  'first start',
  'upgrade of c6d3396',
  'login, login again, logout',
  'catalogue update, another, reset',
  'rotate, rekey, login, rekey again',
]
const OPTIONS = { skip: whyNot('strace'), timeout: 300_000 }

describe(
  'a daemon that is killed, or finds the disk failing or full, at some call on a file of its home',
  OPTIONS,
  () => {
    for (const scenario of scenarios.filter(({ name }) => NAMES.includes(name))) {
      it(`starts again with everything that it acknowledged, and nothing half: ${scenario.name}`, async (t) => {
        const seed = randomInt(1_000_000)
        const choose = (points: readonly Point[], fault: Fault) =>
          some(edgesOf(points), TAKEN[fault], `${seed} ${fault}`)
        const swept = await sweep(scenario, { faults: FAULTS, choose, workers: 2 })
        t.diagnostic(`seed ${seed}\n${sweptTable(swept)}`)
        assert.ok(
          swept.some(({ hit }) => hit > 0),
          'some calls were come upon',
        )
        assert.deepEqual(
          swept.flatMap(({ failures }) => failures),
          [],
        )
      })
    }
  },
)

function some(points: readonly Point[], count: number, seed: string): readonly Point[] {
  const draw = ({ call, ordinal }: Point) => hash('sha256', `${seed} ${call} ${ordinal}`)
  return points.toSorted((a, b) => (draw(a) < draw(b) ? -1 : 1)).slice(0, count)
}
