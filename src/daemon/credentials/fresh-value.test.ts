import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BrokerError } from '../../protocol/index.ts'
import { type Dated, freshValue } from './fresh-value.ts'

const NOW = 1_000_000
const FRESH: Dated<string> = { value: 'old', version: 1, dueAt: NOW + 1, usableUntil: NOW + 2, expiresAt: NOW + 3 }
const DUE: Dated<string> = { ...FRESH, dueAt: NOW }
const ENDING: Dated<string> = { ...DUE, usableUntil: NOW }
const ENDED: Dated<string> = { ...ENDING, expiresAt: NOW }
const ENDLESS: Dated<string> = { value: 'old', version: 1 }
const NEXT: Dated<string> = { ...FRESH, value: 'new', version: 2 }

const FAILED = new BrokerError('RefreshFailedError', 'no')

/** Returns what came out, and for what causes a renewal was asked for, and of which version. */
async function retrieve(first: Dated<string> | undefined, rejected: number | undefined, error?: Error) {
  let kept = first
  const asked: string[] = []
  const renew = async (seen: number, cause: string) => {
    asked.push(`${cause} ${seen}`)
    if (error) throw error
    kept = NEXT
  }
  const got = await freshValue<Dated<string> | undefined>(
    { read: async () => kept, renew, now: () => NOW },
    first,
    rejected,
  )
  return [got?.value, ...asked]
}

describe('a value that ends', () => {
  for (const [what, first, rejected, expected, without] of [
    ['is handed out while it is fresh', FRESH, undefined, ['old'], 'old'],
    ['is handed out where it never ends', ENDLESS, undefined, ['old'], 'old'],
    ['is handed out while the next is got, where it is due', DUE, undefined, ['old', 'due 1'], 'old'],
    ['is renewed first where it would end on its way', ENDING, undefined, ['new', 'due 1'], 'old'],
    ['is renewed first where it has ended', ENDED, undefined, ['new', 'due 1'], FAILED],
    ['is got where there is none', undefined, undefined, ['new', 'due 0'], FAILED],
    ['is renewed first where its host has refused it', FRESH, 1, ['new', 'rejected 1'], 'old'],
    ['is renewed first where it never ends, and was refused', ENDLESS, 1, ['new', 'rejected 1'], 'old'],
    ['is due, and not forced, where it was refused for its end', ENDED, 1, ['new', 'due 1'], 'old'],
    ['is handed out where another was refused', FRESH, 7, ['old'], 'old'],
  ] as const)
    it(`${what}, and serves on while it can where there is no other`, async () => {
      assert.deepEqual(await retrieve(first, rejected), expected)
      const failing = retrieve(first, rejected, FAILED).then(
        ([value]) => value,
        (error: unknown) => error,
      )
      assert.equal(await failing, without)
    })

  it('is no cover for a bug', async () => {
    await assert.rejects(retrieve(FRESH, 1, new Error('a bug')), /a bug/)
    await assert.rejects(retrieve(ENDING, undefined, new Error('a bug')), /a bug/)
  })
})
