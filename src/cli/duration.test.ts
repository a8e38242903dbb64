import assert from 'node:assert/strict'
import { it } from 'node:test'
import { distance } from './duration.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')

for (const [timestamp, text] of [
  ['2026-11-21T12:00:00.000Z', 'in 0 s'],
  ['2026-11-21T12:01:20.000Z', 'in 80 s'],
  ['2026-11-21T12:40:00.000Z', 'in 40 min'],
  ['2026-11-21T13:00:00.000Z', 'in 60 min'],
  ['2026-11-21T11:57:00.000Z', '3 min ago'],
  ['2026-11-22T12:00:00.000Z', 'in 24 h'],
  ['2026-11-18T12:00:00.000Z', '3 days ago'],
] as const) {
  it(`says how far away a moment is: ${text}`, () => {
    assert.equal(distance(timestamp, NOW), text)
  })
}
