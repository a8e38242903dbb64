const WITHIN_MS = 50

/** Has the disk keep what was committed without waiting for it: one flush for all who wait, and one soon where nobody does. */
export class Flushes {
  readonly #flush: () => Promise<unknown>
  #running: Promise<unknown> | undefined
  #next: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(flush: () => Promise<unknown>) {
    this.#flush = flush
  }

  /** Within so many milliseconds: so much may be lost by a power cut, and no more. */
  soon(): void {
    // A disk that fails tells so whoever waits for it; nobody waits here.
    this.#timer ??= setTimeout(() => this.now().catch(() => undefined), WITHIN_MS).unref()
  }

  /** Returns once all is kept that was committed until now. @throws BrokerError DaemonUnavailableError */
  now(): Promise<void> {
    // One that has begun may have begun too early.
    this.#next ??= this.#afterRunning()
    return this.#next
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  async #afterRunning(): Promise<void> {
    await this.#running?.catch(() => undefined)
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#next = undefined
    const running = this.#flush()
    this.#running = running
    await running
  }
}
