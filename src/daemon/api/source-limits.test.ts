import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { BrokerError } from '../../protocol/index.ts'
import { SourceLimits } from './source-limits.ts'

describe('the limits of a source', () => {
  let now: number
  let limits: SourceLimits
  beforeEach(() => {
    now = 0
    limits = new SourceLimits(() => now)
  })

  function taken(source: string): number {
    for (let count = 0; ; count += 1) {
      try {
        limits.take('registrations', source)
      } catch (error) {
        assert.ok(error instanceof BrokerError && error.name === 'RateLimitedError')
        assert.ok(Number(error.options.retryAfter) >= 1)
        return count
      }
    }
  }

  it('let so many through at once, and of another source as many', () => {
    assert.equal(taken('192.0.2.1'), 60)
    assert.equal(taken('192.0.2.1'), 0)
    assert.equal(taken('192.0.2.2'), 60)
  })

  it('let more through with time, never more than at once', () => {
    taken('192.0.2.1')
    now += 60_000
    assert.equal(taken('192.0.2.1'), 6)
    now += 24 * 3_600_000
    assert.equal(taken('192.0.2.1'), 60)
  })

  it('say when the next one may come, and keep to it', () => {
    taken('192.0.2.1')
    now += 10_000
    assert.equal(taken('192.0.2.1'), 1)
  })

  it('are of one kind of request each', () => {
    taken('192.0.2.1')
    limits.take('pages', '192.0.2.1')
  })
})
