/**
 * One asking for all who want an answer at the same moment. An answer is never older than the question: who comes while one
 * is asked waits for the next.
 */
export class JoinedAsking {
  readonly #ask: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(ask: () => Promise<void>) {
    this.#ask = ask
  }

  answer(): Promise<void> {
    if (this.#running === undefined) return this.#begin()
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.#begin()
      })
    return this.#next
  }

  #begin(): Promise<void> {
    const running = this.#ask().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
