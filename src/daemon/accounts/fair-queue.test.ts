import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FairQueue, type Line } from './fair-queue.ts'

const strange = (name: string): Line => ({ kind: 'strange', name })
const known = (name: string): Line => ({ kind: 'known', name })

/** Takes the one place until it is let go, and notes in which order the others were served. */
function busy(queue: FairQueue) {
  const served: string[] = []
  let letGo = () => {}
  const held = queue.run(strange('first'), () => new Promise<void>((resolve) => (letGo = resolve)))
  const add = (line: Line) => ({
    /** The error where it was refused. */
    outcome: queue
      .run(line, async () => void served.push(`${line.kind} ${line.name}`))
      .catch((error) => error as Error),
  })
  return {
    add,
    async serve(): Promise<readonly string[]> {
      letGo()
      await held
      // Each that ends lets the next one go on: the last to come is served last, or refused.
      await new Promise((resolve) => setImmediate(resolve))
      return served
    },
  }
}

describe('turns of a fair queue', () => {
  it('are taken by each line, however many wait in another', async () => {
    const room = busy(new FairQueue({ places: 1, queue: 64 }))
    for (let count = 0; count < 5; count += 1) room.add(strange('crowd'))
    room.add(strange('ada'))
    room.add(strange('bob'))
    assert.deepEqual((await room.serve()).slice(0, 3), ['strange crowd', 'strange ada', 'strange bob'])
  })

  it('are every other one for who is known', async () => {
    const room = busy(new FairQueue({ places: 1, queue: 64 }))
    for (const name of ['a', 'b', 'c', 'd']) room.add(strange(name))
    for (const name of ['x', 'y']) room.add(known(name))
    assert.deepEqual(await room.serve(), ['known x', 'strange a', 'known y', 'strange b', 'strange c', 'strange d'])
  })

  it('are refused to who has as many already', async () => {
    const room = busy(new FairQueue({ places: 1, queue: 64, line: 2 }))
    const outcomes = [1, 2, 3].map(() => room.add(strange('crowd')))
    assert.equal((await outcomes[2]?.outcome)?.name, 'RateLimitedError')
    assert.equal((await room.serve()).length, 2)
  })

  it('are given up by the longest line for a new one, where no more can wait', async () => {
    const room = busy(new FairQueue({ places: 1, queue: 3 }))
    const crowd = [1, 2, 3].map(() => room.add(strange('crowd')))
    const ada = room.add(strange('ada'))
    const [, , last] = crowd
    assert.equal((await last?.outcome)?.name, 'RateLimitedError')
    room.add(known('bob'))
    await room.serve()
    assert.equal(await ada.outcome, undefined)
  })

  it('are for nobody where all lines are as short', async () => {
    const room = busy(new FairQueue({ places: 1, queue: 2 }))
    room.add(strange('ada'))
    room.add(strange('bob'))
    assert.equal((await room.add(strange('eve')).outcome)?.name, 'RateLimitedError')
    assert.deepEqual(await room.serve(), ['strange ada', 'strange bob'])
  })

  it('go on behind work that fails', async () => {
    const queue = new FairQueue({ places: 1, queue: 2 })
    const failing = queue.run(strange('ada'), () => Promise.reject(new Error('broken')))
    const next = queue.run(strange('bob'), async () => 'served')
    await assert.rejects(failing, /broken/)
    assert.equal(await next, 'served')
  })
})
