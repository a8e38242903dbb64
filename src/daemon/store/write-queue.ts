import { isOutageForAll } from './postgres-failure.ts'
import { unusable } from './store-failure.ts'
import type { WriteLock } from './write-lock.ts'

const LONGEST_WAIT_MS = 4500

interface Waiting {
  readonly lock: WriteLock
  readonly begin: () => void
  readonly refuse: (why: unknown) => void
}

/**
 * Transactions of one daemon that wait for their turn. Whoever waits holds no connection, so that a lock which does not come
 * free takes one of the pool and not all; and of one vault there is one at a time, so that many changes of it hold up no
 * other. An outage that ends one turn is told to all who wait: they would find the same, one after the other.
 */
export class WriteQueue {
  readonly #atOnce: number
  readonly #waiting = new Set<Waiting>()
  readonly #running = new Set<WriteLock>()

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /** @throws BrokerError DaemonUnavailableError where the turn does not come */
  async run<Result>(lock: WriteLock, work: () => Promise<Result>): Promise<Result> {
    await this.#turn(lock)
    try {
      return await work()
    } catch (error) {
      if (isOutageForAll(error)) this.#refuseAll(error)
      throw error
    } finally {
      this.#running.delete(lock)
      this.#beginNext()
    }
  }

  async #turn(lock: WriteLock): Promise<void> {
    const { promise, resolve: begin, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = {
      lock,
      begin,
      refuse: (why) => {
        this.#waiting.delete(waiting)
        reject(why)
      },
    }
    this.#waiting.add(waiting)
    const tooLate = () => waiting.refuse(unusable('too many changes wait for their turn', {}))
    const timer = setTimeout(tooLate, LONGEST_WAIT_MS)
    this.#beginNext()
    try {
      await promise
    } finally {
      clearTimeout(timer)
    }
  }

  #refuseAll(why: unknown): void {
    for (const { refuse } of this.#waiting) refuse(why)
  }

  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (this.#running.size >= this.#atOnce) return
      if (this.#mayBegin(waiting.lock)) {
        this.#waiting.delete(waiting)
        this.#running.add(waiting.lock)
        waiting.begin()
      } else if (waiting.lock.kind === 'all') return // Nobody overtakes it, or its turn might never come.
    }
  }

  #mayBegin(lock: WriteLock): boolean {
    const running = [...this.#running]
    if (lock.kind === 'all') return running.length === 0
    return running.every((one) => one.kind !== 'all' && !isSameVault(one, lock))
  }
}

function isSameVault(one: WriteLock, other: WriteLock): boolean {
  return one.kind === 'vault' && other.kind === 'vault' && one.vaultId === other.vaultId
}
