import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { leftOfPause, pauseAfter, pauseAfterForced, refreshDueAt, usableUntil } from './freshness.ts'

const times = fc.record({
  obtainedAt: fc.integer({ min: 0, max: 4e12 }),
  lifetime: fc.integer({ min: 0, max: 1e11 }),
  random: fc.double({ min: 0, max: 1, noNaN: true }),
})

describe('when a token is refreshed', () => {
  it('is due within its life, some time before it is not used any more, which is before its end', () => {
    fc.assert(
      fc.property(times, ({ obtainedAt, lifetime, random }) => {
        const expiresAt = obtainedAt + lifetime
        const dueAt = refreshDueAt(obtainedAt, expiresAt, random)
        const last = usableUntil(dueAt, expiresAt)
        assert.ok(obtainedAt <= dueAt && dueAt <= last && last <= expiresAt)
      }),
    )
  })

  it('is due four to five minutes ahead of the end of an hour, and not for two tokens at once', () => {
    const dues = [0, 0.5, 1].map((random) => (3_600_000 - refreshDueAt(0, 3_600_000, random)) / 60_000)
    assert.deepEqual(dues, [5, 4.5, 4])
  })

  it('is due at a fifth of a short life, and the last moments are not used', () => {
    const dueAt = refreshDueAt(0, 10_000, 0)
    assert.deepEqual([dueAt, usableUntil(dueAt, 10_000)], [8_000, 9_500])
  })

  it('is due at once for a token that has ended already', () => {
    assert.equal(refreshDueAt(5_000, 1_000, 0.5), 1_000)
  })
})

describe('how long a provider is left alone', () => {
  it('doubles with each failure, up to five minutes', () => {
    const pauses = [1, 2, 3, 9, 10, 10_000].map((failures) => pauseAfter(failures, {}, 1))
    assert.deepEqual(pauses, [1_000, 2_000, 4_000, 256_000, 300_000, 300_000])
  })

  it('differs by up to a quarter', () => {
    assert.equal(pauseAfter(3, {}, 0), 3_000)
  })

  it('is as long as the provider asks for, within an hour', () => {
    assert.deepEqual(
      [120, 1e9].map((retryAfter) => pauseAfter(1, { retryAfter }, 1)),
      [120_000, 3_600_000],
    )
    assert.equal(pauseAfter(10, { retryAfter: 1 }, 1), 300_000)
  })

  it('doubles up to an hour where it refuses', () => {
    const pauses = [1, 9, 10, 10_000].map((failures) => pauseAfter(failures, { refused: true }, 1))
    assert.deepEqual(pauses, [1_000, 256_000, 512_000, 3_600_000])
  })

  it('is never longer than was meant, by a clock that was ahead for a moment', () => {
    const pause = { until: 10 * 365 * 86_400_000, length: 4_000 }
    assert.deepEqual([leftOfPause(pause, 0), leftOfPause(pause, pause.until - 4_000)], [0, 4_000])
    assert.equal(leftOfPause({ until: 5_000, length: 4_000 }, 0), 0)
  })

  it('doubles with each refresh that a host forces, and begins anew after a quiet time', () => {
    assert.equal(pauseAfterForced(undefined, 0), 5_000)
    assert.equal(pauseAfterForced({ at: 0, pause: 5_000 }, 6_000), 10_000)
    assert.equal(pauseAfterForced({ at: 0, pause: 500_000 }, 600_000), 600_000)
    assert.equal(pauseAfterForced({ at: 0, pause: 500_000 }, 1_200_000), 5_000)
  })
})
