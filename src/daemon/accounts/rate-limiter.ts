import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { BrokerError } from '../../protocol/index.ts'
import type { Db, Store } from '../store/index.ts'

/**
 * What tries are counted on. `pair`: an account from one source. `source`: all accounts from it. `account`: from
 * everywhere, the last resort against guesses that come from many. `browser`: one that is known to the account.
 * `code`: who types the code of a claim. `operator`: who says to be the operator, from one source.
 */
export type Subject =
  | { readonly kind: 'pair'; readonly account: string; readonly source: string }
  | { readonly kind: Exclude<keyof typeof LIMITS, 'pair'>; readonly value: string }

interface Limit {
  /** Tries that cost no wait. */
  readonly free: number
  /** One of them is forgotten whenever so much time passed since the last one. */
  readonly forgottenEachMs: number
}

/** Many people may share a source, and all sources one account. */
const LIMITS = {
  pair: { free: 5, forgottenEachMs: Infinity },
  source: { free: 20, forgottenEachMs: 60_000 },
  // One source gets a try each half minute at most: this is never full of the guesses of fewer than a handful of them.
  account: { free: 100, forgottenEachMs: 6_000 },
  browser: { free: 5, forgottenEachMs: Infinity },
  code: { free: 10, forgottenEachMs: Infinity },
  operator: { free: 5, forgottenEachMs: Infinity },
} as const satisfies Record<string, Limit>

/** An honest person is not kept out for longer, whatever others try. */
const LONGEST_WAIT_MS = 30_000
const FORGOTTEN_AFTER_MS = 15 * 60_000
const MOST_REMEMBERED = 20_000

/** Slows guessing: each try beyond a few must wait twice as long as the one before. Counted for all daemons of a store. */
export class RateLimiter {
  readonly #store: Store
  readonly #now: () => number
  /** Who was told to wait by this daemon, so that a flood costs it no transaction each. */
  readonly #waiting = new LRUCache<string, { readonly from: number; readonly until: number }>({ max: MOST_REMEMBERED })

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /** Without asking the store. @throws BrokerError RateLimitedError where one of the subjects was told to wait for longer */
  refuseWaiting(subjects: readonly Subject[]): void {
    const now = this.#now()
    for (const subject of subjects) {
      const told = this.#waiting.get(keyOf(subject))
      // Where the clock was set back, it is the store's to say.
      if (told && now >= told.from && now < told.until) throw tooMany(told.until - now)
    }
  }

  /**
   * Counts a try before its outcome is known, so that many at once are as slow as one after the other.
   * @throws BrokerError RateLimitedError where one of the subjects has to wait; nothing is counted then
   */
  async admit(subjects: readonly Subject[]): Promise<void> {
    const now = this.#now()
    const wait = await this.#store.transaction(async (tx) => {
      await forgetOld(tx, now)
      const levels: number[] = []
      let longest = 0
      for (const subject of subjects) {
        const { level, wait } = await levelOf(tx, subject, now)
        levels.push(level)
        if (wait > 0) this.#waiting.set(keyOf(subject), { from: now, until: now + wait })
        longest = Math.max(longest, wait)
      }
      if (longest > 0) return longest
      for (const [index, subject] of subjects.entries()) await put(tx, subject, (levels[index] ?? 0) + 1, now)
      return 0
    })
    if (wait > 0) throw tooMany(wait)
  }

  /** After a failure: the wait begins now, for looking at a try may have taken longer than that. */
  async failed(db: Db, subjects: readonly Subject[]): Promise<void> {
    const last_at = this.#now()
    await db.updateTable('sign_in_attempts').set({ last_at }).where('subject', 'in', subjects.map(keyOf)).execute()
  }

  /** After a success: whoever was right is not counted any more; of what others share, this try is taken off. */
  async credit(subjects: readonly Subject[]): Promise<void> {
    const { db } = this.#store
    for (const subject of subjects) {
      const key = keyOf(subject)
      this.#waiting.delete(key)
      const isShared = subject.kind === 'source' || subject.kind === 'account'
      if (!isShared) await db.deleteFrom('sign_in_attempts').where('subject', '=', key).execute()
      else {
        await db
          .updateTable('sign_in_attempts')
          .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
          .where('subject', '=', key)
          .where('attempts', '>', 0)
          .execute()
      }
    }
  }

  /** Forgets what was tried on the account, wherever from. */
  async forget(tx: Db, account: string): Promise<void> {
    this.#waiting.clear()
    await tx
      .deleteFrom('sign_in_attempts')
      .where((eb) =>
        eb.or([
          eb('subject', '=', keyOf({ kind: 'account', value: account })),
          eb('subject', 'like', `pair ${digest(account)} %`),
        ]),
      )
      .execute()
  }
}

async function forgetOld(tx: Db, now: number): Promise<void> {
  await tx
    .deleteFrom('sign_in_attempts')
    .where('last_at', '<', now - FORGOTTEN_AFTER_MS)
    // Kept longer, by principals/unclaimed.
    .where('subject', 'not like', 'unclaimed %')
    .execute()
  // Where the clock was set back, nobody waits for it to come round again.
  await tx.updateTable('sign_in_attempts').set({ last_at: now }).where('last_at', '>', now).execute()
}

/** Returns how many tries are not forgotten, and for how many milliseconds the next must wait, not above 0 where it need not. */
async function levelOf(tx: Db, subject: Subject, now: number): Promise<{ level: number; wait: number }> {
  const row = await tx
    .selectFrom('sign_in_attempts')
    .selectAll()
    .where('subject', '=', keyOf(subject))
    .executeTakeFirst()
  if (!row) return { level: 0, wait: 0 }
  const limit = LIMITS[subject.kind]
  const level = Math.max(0, row.attempts - Math.floor((now - row.last_at) / limit.forgottenEachMs))
  return { level, wait: row.last_at + waitOf(row.attempts, limit) - now }
}

async function put(tx: Db, subject: Subject, attempts: number, last_at: number): Promise<void> {
  await tx
    .insertInto('sign_in_attempts')
    .values({ subject: keyOf(subject), attempts, last_at })
    .onConflict((conflict) => conflict.column('subject').doUpdateSet({ attempts, last_at }))
    .execute()
}

/** Milliseconds from the last try on: the wait grows shorter with each that is forgotten meanwhile. */
function waitOf(attempts: number, { free, forgottenEachMs }: Limit): number {
  for (let forgotten = 0; ; forgotten += 1) {
    const wait = waitAfter(attempts - forgotten - free)
    if (wait <= (forgotten + 1) * forgottenEachMs)
      return forgotten === 0 ? wait : Math.max(wait, forgotten * forgottenEachMs)
  }
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

// All pairs of an account begin alike.
function keyOf(subject: Subject): string {
  if (subject.kind === 'pair') return `pair ${digest(subject.account)} ${digest(subject.source)}`
  return `${subject.kind} ${digest(subject.value)}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
