import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findGaps } from './gaps.ts'

suite('gaps among the events of a run', () => {
  const cases = [
    ['none where they follow', { after: 0, stored: undefined, numbers: [1, 2, 3] }, []],
    ['none where they come again', { after: 0, stored: 3, numbers: [2, 3, 4] }, []],
    ['before the first', { after: 0, stored: undefined, numbers: [4] }, [{ from: 1, to: 3, count: 3 }]],
    [
      'among them',
      { after: 2, stored: 2, numbers: [3, 6, 7, 9] },
      [
        { from: 4, to: 5, count: 2 },
        { from: 8, to: 8, count: 1 },
      ],
    ],
    ['of a daemon that was restarted, as the run knows', { after: 7, stored: undefined, numbers: [8] }, []],
    [
      'by what the daemon saw, whatever the run says',
      { after: 9, stored: 5, numbers: [10] },
      [{ from: 6, to: 9, count: 4 }],
    ],
  ] as const
  for (const [what, batch, gaps] of cases) test(what, () => assert.deepEqual(findGaps(batch), gaps))
})
