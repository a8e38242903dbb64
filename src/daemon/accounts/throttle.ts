import { createHash } from 'node:crypto'
import { BrokerError } from '../../protocol/index.ts'
import type { Db, Store } from '../store/index.ts'

/** What tries are counted on: an account's address for sign-ins, or where they come from. */
export interface Subject {
  readonly kind: 'account' | 'address'
  readonly value: string
}

/** Tries that cost no wait, by kind: many people may share an address, nobody an account. */
const FREE: Readonly<Record<Subject['kind'], number>> = { account: 5, address: 50 }
/** An honest person is not kept out for longer, whatever others try. */
const LONGEST_WAIT_MS = 30_000
const FORGOTTEN_AFTER_MS = 15 * 60_000

/** Slows guessing: each try beyond a few must wait twice as long as the one before. Counted for all daemons of a store. */
export class Throttle {
  readonly #store: Store
  readonly #now: () => number

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /**
   * Counts a try before its outcome is known, so that many at once are as slow as one after the other.
   * @throws BrokerError RateLimitedError where one of the subjects has to wait; nothing is counted then
   */
  async admit(subjects: readonly Subject[]): Promise<void> {
    const now = this.#now()
    const wait = await this.#store.transaction(async (tx) => {
      await forgetOld(tx, now)
      let longest = 0
      for (const subject of subjects) longest = Math.max(longest, await waitOf(tx, subject, now))
      if (longest === 0) for (const subject of subjects) await count(tx, subject, now)
      return longest
    })
    if (wait > 0) throw tooMany(wait)
  }

  /** After a success: of an account nothing counts any more, of where it came from not this try. */
  async credit(subjects: readonly Subject[]): Promise<void> {
    const { db } = this.#store
    for (const subject of subjects) {
      const key = keyOf(subject)
      if (subject.kind === 'account') await db.deleteFrom('sign_in_attempts').where('subject', '=', key).execute()
      else {
        await db
          .updateTable('sign_in_attempts')
          .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
          .where('subject', '=', key)
          .execute()
      }
    }
  }
}

async function forgetOld(tx: Db, now: number): Promise<void> {
  await tx
    .deleteFrom('sign_in_attempts')
    .where('last_at', '<', now - FORGOTTEN_AFTER_MS)
    .execute()
  // Where the clock was set back, nobody waits for it to come round again.
  await tx.updateTable('sign_in_attempts').set({ last_at: now }).where('last_at', '>', now).execute()
}

/** Milliseconds, none where it is not above 0. */
async function waitOf(tx: Db, subject: Subject, now: number): Promise<number> {
  const row = await tx
    .selectFrom('sign_in_attempts')
    .selectAll()
    .where('subject', '=', keyOf(subject))
    .executeTakeFirst()
  return row ? row.last_at + waitAfter(row.attempts - FREE[subject.kind]) - now : 0
}

async function count(tx: Db, subject: Subject, now: number): Promise<void> {
  await tx
    .insertInto('sign_in_attempts')
    .values({ subject: keyOf(subject), attempts: 1, last_at: now })
    .onConflict((conflict) =>
      conflict
        .column('subject')
        .doUpdateSet((eb) => ({ attempts: eb('sign_in_attempts.attempts', '+', 1), last_at: now })),
    )
    .execute()
}

function waitAfter(beyondFree: number): number {
  return beyondFree < 0 ? 0 : Math.min(LONGEST_WAIT_MS, 1000 * 2 ** beyondFree)
}

function tooMany(wait: number): BrokerError {
  const retryAfter = Math.ceil(wait / 1000)
  return new BrokerError('RateLimitedError', `Too many tries; the next one may be made in ${retryAfter} s`, {
    retryAfter,
  })
}

function keyOf({ kind, value }: Subject): string {
  return createHash('sha256').update(`${kind} ${value}`).digest('base64url')
}
