import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { LastUses } from './last-uses.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('when something was last used', () => {
  function uses(t: TestContext, dialect: 'sqlite' | 'postgres') {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2026-11-23T09:00:00.000Z') })
    const written: string[][] = []
    const outage = { is: false }
    const noted = new LastUses<{ id: string }>({
      dialect,
      now: Date.now,
      write: async (rows) => {
        if (outage.is) throw new Error('no')
        written.push(rows.map(({ id, last_used_at }) => `${id} ${last_used_at.slice(11, 19)}`))
      },
    })
    return {
      note: (id: string) => noted.note(id, { id }),
      written,
      outage,
      pass: (ms: number) => t.mock.timers.tick(ms),
    }
  }

  it('is written at most once an hour for each, and for many at a time, where a team has one store', (t) => {
    const { note, written, pass } = uses(t, 'postgres')
    note('one')
    pass(4_000)
    note('two')
    note('one')
    assert.deepEqual(written, [])
    pass(6_000)
    assert.deepEqual(written, [['one 09:00:00', 'two 09:00:04']])
    pass(HOUR - 11_000)
    note('one')
    pass(1_000)
    note('one')
    pass(10_000)
    assert.deepEqual(written.slice(1), [['one 10:00:00']])
  })

  it('is written at once, and at most once a minute, on one machine', (t) => {
    const { note, written, pass } = uses(t, 'sqlite')
    note('one')
    pass(MINUTE - 1)
    note('one')
    assert.deepEqual(written, [['one 09:00:00']])
    pass(1)
    note('one')
    assert.deepEqual(written.slice(1), [['one 09:01:00']])
  })

  it('waits for no more than a thousand', (t) => {
    const { note, written } = uses(t, 'postgres')
    for (let at = 0; at < 1_001; at += 1) note(`${at}`)
    assert.deepEqual(
      written.map(({ length }) => length),
      [1_000],
    )
  })

  it('is written with the next use where that has failed', async (t) => {
    const { note, written, outage, pass } = uses(t, 'postgres')
    outage.is = true
    note('one')
    pass(10_000)
    await Promise.resolve()
    await Promise.resolve()
    outage.is = false
    note('one')
    pass(10_000)
    assert.deepEqual(written, [['one 09:00:10']])
  })
})
