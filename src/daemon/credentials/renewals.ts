import { setTimeout as delay } from 'node:timers/promises'
import { BrokerError } from '../../protocol/index.ts'
import type { RefreshCause, StoringOutcome } from '../connections/index.ts'
import type { RefreshOutcome, Tokens } from '../flows/index.ts'

type RenewalCause = Exclude<RefreshCause, 'revoke'>
export type FailedOutcome = Exclude<RefreshOutcome, { readonly kind: 'refreshed' }>

export type Beginning<Lease> =
  | { readonly kind: 'leased'; readonly lease: Lease }
  /** There is another token than the one that was seen. */
  | { readonly kind: 'changed' }
  /** Another daemon is at it. */
  | { readonly kind: 'busy' }
  /** It failed, or was forced, a short while ago. `wait`: milliseconds until it may be tried again. */
  | { readonly kind: 'resting'; readonly wait: number }
  /** Nothing but a login helps. */
  | { readonly kind: 'needs_login' }

/**
 * How tokens of one kind are got, and where what is known of them is kept: in the database, for all daemons, or in the
 * memory of this one.
 */
export interface TokenState<Subject, Lease> {
  /** Those of one key are renewed together. */
  key(subject: Subject): string
  begin(subject: Subject, seen: number, cause: RenewalCause): Promise<Beginning<Lease>>
  /** Keeps the lease until what is returned is called. */
  hold(lease: Lease): () => void
  /** Asks the provider once. @throws BrokerError for what is wrong with what the connection holds */
  ask(lease: Lease): Promise<RefreshOutcome>
  succeed(lease: Lease, tokens: Tokens): Promise<StoringOutcome>
  /** Writes down that it will never work again, or not this time. What to tell; nothing where the lease is another's by now. */
  fail(lease: Lease, outcome: FailedOutcome): Promise<BrokerError | undefined>
  /** @param waitMs until it is worth another try */
  failed(subject: Subject, why: string, waitMs?: number): BrokerError
  needsLogin(subject: Subject): BrokerError
}

/** How long one who asks waits; the renewal itself goes on. */
const PATIENCE_MS = 10_000
/** Between looks at a lease that another daemon holds. */
export const LOOK_AGAIN_MS = 50
/** One that goes on for longer is not waited for. */
export const LONGEST_RENEWAL_MS = 40_000
const STORE_AGAIN_MS = 200
const STORE_FOR_MS = 60_000

/** Gets the next token: once, however many want it. */
export class Renewals<Subject, Lease> {
  readonly #state: TokenState<Subject, Lease>
  readonly #onFailure: (error: unknown) => void
  readonly #underWay = new Map<string, Promise<void>>()
  #closed = false

  /** @param onFailure hears of errors that are nobody's fault but ours */
  constructor(state: TokenState<Subject, Lease>, onFailure: (error: unknown) => void) {
    this.#state = state
    this.#onFailure = onFailure
  }

  /**
   * Resolves when the token is another than the version that was seen, whoever got it.
   * @throws BrokerError RefreshFailedError where it did not work, or not in time (it goes on then); TokenExpiredError
   *   where nothing but a login helps
   */
  async renew(subject: Subject, seen: number, cause: RenewalCause): Promise<void> {
    const key = this.#state.key(subject)
    let renewal = this.#underWay.get(key)
    if (!renewal) {
      if (this.#closed) throw stopping()
      renewal = this.#renew(subject, seen, cause).finally(() => this.#underWay.delete(key))
      renewal.catch((error: unknown) => {
        if (!(error instanceof BrokerError)) this.#onFailure(error)
      })
      this.#underWay.set(key, renewal)
    }
    const tooLate = `the provider has not answered within ${PATIENCE_MS / 1000} s`
    await withinPatience(renewal, () => this.#state.failed(subject, tooLate))
  }

  async #renew(subject: Subject, seen: number, cause: RenewalCause): Promise<void> {
    const giveUpAt = performance.now() + LONGEST_RENEWAL_MS
    for (;;) {
      const beginning = await this.#state.begin(subject, seen, cause)
      switch (beginning.kind) {
        case 'leased':
          return this.#spend(beginning.lease)
        case 'changed':
          return
        case 'needs_login':
          throw this.#state.needsLogin(subject)
        case 'resting':
          throw this.#state.failed(subject, 'it failed a short while ago', beginning.wait)
        case 'busy':
          if (this.#closed) throw stopping()
          if (performance.now() > giveUpAt) throw this.#state.failed(subject, 'another daemon does not finish it')
          await delay(LOOK_AGAIN_MS)
      }
    }
  }

  async #spend(lease: Lease): Promise<void> {
    const letGo = this.#state.hold(lease)
    try {
      const outcome = await this.#ask(lease)
      if (outcome.kind === 'refreshed') return await this.#store(() => this.#state.succeed(lease, outcome.tokens))
      const error = await this.#state.fail(lease, outcome)
      if (error) throw error
    } finally {
      letGo()
    }
  }

  async #ask(lease: Lease): Promise<RefreshOutcome> {
    try {
      return await this.#state.ask(lease)
    } catch (error) {
      if (error instanceof BrokerError) throw error
      this.#onFailure(error)
      return { kind: 'failed', reason: 'internal_error', answered: false }
    }
  }

  /** Tries for a while: what was granted is in no other place, and a token before it is spent. */
  async #store(store: () => Promise<StoringOutcome>): Promise<void> {
    const giveUpAt = performance.now() + STORE_FOR_MS
    for (;;) {
      try {
        if ((await store()) !== 'contested' || performance.now() > giveUpAt) return
        await delay(LOOK_AGAIN_MS)
      } catch (error) {
        this.#onFailure(error)
        if (this.#closed || performance.now() > giveUpAt) throw error
        await delay(STORE_AGAIN_MS)
      }
    }
  }

  /** Begins no more, and waits for those under way: what a provider has granted is stored. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay.values())
  }
}

function stopping(): BrokerError {
  return new BrokerError('DaemonUnavailableError', 'The daemon is stopping', { retryAfter: 1 })
}

async function withinPatience(renewal: Promise<void>, tooLate: () => BrokerError): Promise<void> {
  const patience = new AbortController()
  const impatience = delay(PATIENCE_MS, undefined, { signal: patience.signal }).then(() => {
    throw tooLate()
  })
  try {
    await Promise.race([renewal, impatience])
  } finally {
    patience.abort()
    impatience.catch(() => undefined)
  }
}
