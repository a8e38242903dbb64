/** What is being done at this moment, by the id of what it is about. */
export class WorkUnderWay {
  readonly #work = new Map<string, Promise<unknown>>()

  has(id: string): boolean {
    return this.#work.has(id)
  }

  /** Does it, after nothing: what is under way goes on beside it. */
  add<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const result = work()
    const all = Promise.allSettled([this.#work.get(id), result]).finally(() => {
      if (this.#work.get(id) === all) this.#work.delete(id)
    })
    this.#work.set(id, all)
    return result
  }

  /** Resolves when that of one is done, also where it failed. */
  async done(id: string): Promise<void> {
    await this.#work.get(id)
  }

  async allDone(): Promise<void> {
    await Promise.all(this.#work.values())
  }
}
