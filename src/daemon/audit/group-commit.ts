import { setImmediate } from 'node:timers/promises'
import { BrokerError } from '../../protocol/index.ts'
import type { NewRow } from './append-rows.ts'

export interface GroupCommitOptions {
  /** Rows of one transaction, at this moment. */
  readonly most: number
  /** Stores all of them or none. */
  readonly store: (rows: readonly NewRow[]) => Promise<void>
}

/** Of one owner. Whoever sends more is told to come again. */
const MOST_WAITING = 10_000
/** Seconds. */
const RETRY_AFTER = 2

interface Waiting {
  readonly rows: readonly NewRow[]
  /** How many of them are stored. */
  stored: number
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

/**
 * Has events that wait share a transaction: one costs the same round trips as many. Each owner gets its part of it, so that
 * one who sends much keeps nobody waiting for longer than one transaction.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>()
  #isRunning = false

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /**
   * Resolves when all rows are committed.
   * @throws BrokerError RateLimitedError where too many of this owner wait already
   */
  add(owner: string, rows: readonly NewRow[]): Promise<void> {
    const queue = this.#waiting.get(owner) ?? []
    const length = queue.reduce((sum, one) => sum + one.rows.length - one.stored, 0)
    if (length > 0 && length + rows.length > MOST_WAITING) throw tooMany()
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<void>()
    queue.push({ rows, stored: 0, done, failed })
    this.#waiting.set(owner, queue)
    if (!this.#isRunning) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.size > 0) {
      // What came in the same moment goes along; and whoever waits for an answer gets it in between.
      await setImmediate()
      await this.#commit(this.#next())
    }
    this.#isRunning = false
  }

  #next(): readonly Part[] {
    const share = Math.max(1, Math.floor(this.#options.most / this.#waiting.size))
    const owners = [...this.#waiting].slice(0, this.#options.most)
    return owners.flatMap(([owner, queue]) => {
      // Behind the others, where it has more.
      this.#waiting.delete(owner)
      const parts = takeFrom(queue, share)
      if (queue.length > 0) this.#waiting.set(owner, queue)
      return parts
    })
  }

  async #commit(parts: readonly Part[]): Promise<void> {
    try {
      await this.#options.store(parts.flatMap(({ rows }) => rows))
      for (const { of, isLast } of parts) if (isLast) of.done()
    } catch (error) {
      if (error instanceof BrokerError) this.#refuseAll(parts, error)
      else await this.#oneByOne(parts)
    }
  }

  /** An outage: all who wait would find the same. */
  #refuseAll(parts: readonly Part[], error: BrokerError): void {
    const waiting = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    for (const one of new Set([...parts.map(({ of }) => of), ...waiting])) one.failed(error)
  }

  /** A mistake in one must not cost the others theirs. */
  async #oneByOne(parts: readonly Part[]): Promise<void> {
    for (const { of, rows, isLast } of parts) {
      try {
        await this.#options.store(rows)
        if (isLast) of.done()
      } catch (error) {
        of.failed(error)
      }
    }
  }
}

interface Part {
  readonly of: Waiting
  readonly rows: readonly NewRow[]
  readonly isLast: boolean
}

/** Takes rows off a queue, in order. */
function takeFrom(queue: Waiting[], most: number): readonly Part[] {
  const parts: Part[] = []
  let room = most
  while (room > 0 && queue[0] !== undefined) {
    const [of] = queue
    const rows = of.rows.slice(of.stored, of.stored + room)
    of.stored += rows.length
    room -= rows.length
    const isLast = of.stored === of.rows.length
    if (isLast) queue.shift()
    parts.push({ of, rows, isLast })
  }
  return parts
}

function tooMany(): BrokerError {
  return new BrokerError('RateLimitedError', `More than ${MOST_WAITING} events of one principal wait to be stored`, {
    hint: 'Send them again in a moment: what is stored already is left out.',
    retryAfter: RETRY_AFTER,
  })
}
