import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { JoinedAsking } from './joined-asking.ts'

describe('asking for all who want an answer', () => {
  /** Asked so often; each answer is given by the test. */
  function asking() {
    const asked: PromiseWithResolvers<void>[] = []
    const joined = new JoinedAsking(() => {
      const one = Promise.withResolvers<void>()
      asked.push(one)
      return one.promise
    })
    return { asked, joined }
  }

  it('gives nobody an answer that is older than the question', async () => {
    const { asked, joined } = asking()
    const first = joined.answer()
    const order: string[] = []
    const later = [joined.answer(), joined.answer()].map((one) => one.then(() => order.push('later')))
    assert.equal(asked.length, 1)
    asked[0]?.resolve()
    await first.then(() => order.push('first'))
    while (asked.length < 2) await Promise.resolve()
    assert.deepEqual(order, ['first'])
    asked[1]?.resolve()
    await Promise.all(later)
    assert.deepEqual([order, asked.length], [['first', 'later', 'later'], 2])
  })

  it('tells a failure to those who asked with it, and asks anew for the others', async () => {
    const { asked, joined } = asking()
    const first = assert.rejects(joined.answer(), /away/)
    const second = joined.answer()
    asked[0]?.reject(new Error('away'))
    await first
    while (asked.length < 2) await Promise.resolve()
    asked[1]?.resolve()
    await second
    const third = joined.answer()
    assert.equal(asked.length, 3)
    asked[2]?.resolve()
    await third
  })
})
