import type { Store } from '../store/index.ts'

const EVERY_MS = 60_000

/** When identities last signed, written at most once a minute each: a durable write for every request costs too much. */
export class LastUse {
  readonly #store: Store
  readonly #now: () => number
  readonly #written = new Map<string, number>()

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  note(handle: string): void {
    const now = this.#now()
    if (now - (this.#written.get(handle) ?? 0) < EVERY_MS) return
    this.#written.set(handle, now)
    this.#write(handle, now).catch(() => this.#written.delete(handle))
  }

  async #write(handle: string, now: number): Promise<void> {
    const last_used_at = new Date(now).toISOString()
    await this.#store.db.updateTable('identities').set({ last_used_at }).where('handle', '=', handle).execute()
  }
}
