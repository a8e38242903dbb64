import type { Store } from '../store/index.ts'

const EVERY_MS = 60_000

/** When connections were last used, written at most once a minute each: a durable write a request costs too much. */
export class LastUse {
  readonly #store: Store
  readonly #now: () => number
  readonly #written = new Map<string, number>()

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  note(vaultId: string, { provider, connection }: { provider: string; connection: string }): void {
    const key = `${vaultId}/${provider}/${connection}`
    const now = this.#now()
    if (now - (this.#written.get(key) ?? 0) < EVERY_MS) return
    this.#written.set(key, now)
    this.#store.db
      .updateTable('connections')
      .set({ last_used_at: new Date(now).toISOString() })
      .where('vault_id', '=', vaultId)
      .where('provider', '=', provider)
      .where('connection', '=', connection)
      .execute()
      .catch(() => this.#written.delete(key))
  }
}
