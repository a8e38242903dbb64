import type { Store } from '../store/index.ts'

/** Taken from the store at once: what a daemon has not used when it ends is never used. */
const BLOCK = 1_000

/** Numbers of releases: each once in a deployment, however many daemons it has. */
export class ReleaseNumbers {
  readonly #store: Store
  #next = 0
  #end = 0
  #taking: Promise<void> | undefined

  constructor(store: Store) {
    this.#store = store
  }

  async take(): Promise<number> {
    while (this.#next === this.#end) {
      this.#taking ??= this.#takeBlock().finally(() => {
        this.#taking = undefined
      })
      await this.#taking
    }
    const number = this.#next
    this.#next += 1
    return number
  }

  async #takeBlock(): Promise<void> {
    const { next } = await this.#store.addition((tx) =>
      tx
        .updateTable('release_numbers')
        .set((eb) => ({ next: eb('next', '+', BLOCK) }))
        .where('id', '=', 1)
        .returning('next')
        .executeTakeFirstOrThrow(),
    )
    // A number is never given twice, whatever is cut off.
    await this.#store.flushed()
    this.#end = Number(next)
    this.#next = this.#end - BLOCK
  }
}
