/** How many logins there are to each provider at this moment, also while the first question to it is under way. */
export class LoginsUnderWay {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Map<string, () => void>()

  /** Counts one, until what is returned is called. */
  began(provider: string): () => void {
    this.#counts.set(provider, (this.#counts.get(provider) ?? 0) + 1)
    return () => this.#ended(provider)
  }

  isUnderWay(provider: string): boolean {
    return this.#counts.has(provider)
  }

  /** Calls `task` once there is none; at once where there is none now. Another task of the provider takes its place. */
  whenNone(provider: string, task: () => void): void {
    if (this.isUnderWay(provider)) this.#waiting.set(provider, task)
    else task()
  }

  /** Tasks that still wait are never called. */
  close(): void {
    this.#waiting.clear()
  }

  #ended(provider: string): void {
    const left = (this.#counts.get(provider) ?? 0) - 1
    if (left > 0) {
      this.#counts.set(provider, left)
      return
    }
    this.#counts.delete(provider)
    const task = this.#waiting.get(provider)
    this.#waiting.delete(provider)
    task?.()
  }
}
