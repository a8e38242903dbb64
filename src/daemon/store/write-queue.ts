import { isOutageForAll } from './postgres-failure.ts'
import { unusable } from './store-failure.ts'

const LONGEST_WAIT_MS = 4500

interface Waiting {
  readonly begin: () => void
  readonly refuse: (why: unknown) => void
}

/**
 * Work that only one at a time can do. Whoever waits for the turn holds no connection, so that a lock which does not come
 * free takes one of the pool and not all. An outage that ends one turn is told to all who wait: they would find the same,
 * one after the other.
 */
export class WriteQueue {
  readonly #waiting = new Set<Waiting>()
  #isTaken = false

  /** @throws BrokerError DaemonUnavailableError where the turn does not come */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isTaken) await this.#turn()
    this.#isTaken = true
    try {
      return await work()
    } catch (error) {
      if (isOutageForAll(error)) this.#refuseAll(error)
      throw error
    } finally {
      this.#passOn()
    }
  }

  async #turn(): Promise<void> {
    const { promise, resolve: begin, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = {
      begin,
      refuse: (why) => {
        this.#waiting.delete(waiting)
        reject(why)
      },
    }
    this.#waiting.add(waiting)
    const tooLate = () => waiting.refuse(unusable('too many changes wait for their turn', {}))
    const timer = setTimeout(tooLate, LONGEST_WAIT_MS)
    try {
      await promise
    } finally {
      clearTimeout(timer)
    }
  }

  #refuseAll(why: unknown): void {
    for (const { refuse } of this.#waiting) refuse(why)
  }

  #passOn(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#isTaken = false
      return
    }
    this.#waiting.delete(next)
    next.begin()
  }
}
