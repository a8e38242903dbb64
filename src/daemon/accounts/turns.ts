import { BrokerError } from '../../protocol/index.ts'

/** Work that takes much of the machine, a little of it at a time; whoever would wait behind too many is refused. */
export class Turns {
  readonly #places: number
  readonly #queue: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor({ places, queue }: { readonly places: number; readonly queue: number }) {
    this.#places = places
    this.#queue = queue
  }

  /** @throws BrokerError RateLimitedError before any of the work, where too many wait already */
  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#places) await this.#turn()
    else this.#running += 1
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#queue) {
      throw new BrokerError('RateLimitedError', 'Too many people sign in at this moment', { retryAfter: 5 })
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
