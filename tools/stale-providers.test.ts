import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { staleOf } from './stale-providers.ts'

describe('the list of stale definitions', () => {
  it('has those that were verified more than 180 days ago, after those that never were', () => {
    const definitions = [
      { name: 'fresh', last_verified: '2026-11-22' },
      { name: 'old', last_verified: '2026-05-25' },
      { name: 'just', last_verified: '2026-05-26' },
      { name: 'never' },
      { name: 'older', last_verified: '2024-02-29' },
      { name: 'ever' },
    ]
    assert.deepEqual(
      staleOf(definitions, '2026-11-22').map(({ name }) => name),
      ['ever', 'never', 'older', 'old'],
    )
  })
})
