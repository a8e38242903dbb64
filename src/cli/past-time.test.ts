import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pastTime } from './past-time.ts'

const NOW = new Date(2026, 10, 22, 15, 30)

describe('a moment as people name it', () => {
  for (const [text, time] of [
    ['90s', new Date(2026, 10, 22, 15, 28, 30)],
    ['30m', new Date(2026, 10, 22, 15, 0)],
    ['1h', new Date(2026, 10, 22, 14, 30)],
    ['2d', new Date(NOW.getTime() - 2 * 86_400_000)],
    ['1w', new Date(NOW.getTime() - 7 * 86_400_000)],
    ['today', new Date(2026, 10, 22)],
    ['yesterday', new Date(2026, 10, 21)],
    ['2026-11-01', new Date(2026, 10, 1)],
    ['2026-11-01T10:00:00Z', new Date('2026-11-01T10:00:00Z')],
    ['2026-11-01T10:00:00+02:00', new Date('2026-11-01T08:00:00Z')],
  ] as const)
    it(`is understood: ${text}`, () => assert.equal(pastTime(text, NOW), time.toISOString()))

  for (const text of ['', 'now-ish', '1', '1y', '-1h', '1.5h', '2026-13-01', 'tomorrow', '1h ago'])
    it(`is refused: ${JSON.stringify(text)}`, () =>
      assert.throws(() => pastTime(text, NOW), { code: 'commander.invalidArgument' }))
})
