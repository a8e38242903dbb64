const EVERY_MS = 60_000
const MAX_REMEMBERED = 10_000

/**
 * Writes that may lag behind what they tell: at most once a minute for each key, and never waited for. A durable write
 * for every request costs too much.
 */
export class ThrottledWrites {
  readonly #now: () => number
  readonly #written = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Calls `write` with the time, ISO-8601, unless it was called for this key within the last minute. */
  note(key: string, write: (time: string) => Promise<unknown>): void {
    const now = this.#now()
    if (now - (this.#written.get(key) ?? 0) < EVERY_MS) return
    if (this.#written.size >= MAX_REMEMBERED) this.#written.clear()
    this.#written.set(key, now)
    write(new Date(now).toISOString()).catch(() => this.#written.delete(key))
  }
}
