interface Inspection {
  readonly at: number
  /** Why nothing of this vault is to be given out; undefined where it is whole. */
  readonly breach: string | undefined
}

/** A vault that was found whole is looked at again after this time, in milliseconds, while it is used. */
const WHOLE_FOR = 10 * 60_000

/** What is known of each vault that this daemon uses: looked at before its first use, and again from time to time. */
export class Inspections {
  readonly #inspect: (vaultId: string) => Promise<string | undefined>
  readonly #now: () => number
  readonly #known = new Map<string, Inspection>()
  readonly #running = new Map<string, Promise<string | undefined>>()

  constructor(inspect: (vaultId: string) => Promise<string | undefined>, now: () => number) {
    this.#inspect = inspect
    this.#now = now
  }

  /** Why nothing of the vault is to be given out, undefined where it is whole; waits only where that is not known. */
  async breachOf(vaultId: string): Promise<string | undefined> {
    const known = this.#known.get(vaultId)
    // One that was not whole may have been accepted as it is since, here or at another daemon.
    if (known?.breach !== undefined || known === undefined) return this.#look(vaultId)
    // An outage of the store is the affair of whoever asks it for something.
    if (Math.abs(this.#now() - known.at) >= WHOLE_FOR) void this.#look(vaultId).catch(() => {})
    return undefined
  }

  /** Takes note of what somebody else found. */
  note(vaultId: string, breach: string | undefined): void {
    this.#known.set(vaultId, { at: this.#now(), breach })
  }

  /** The next use looks anew. */
  forget(vaultId: string): void {
    this.#known.delete(vaultId)
  }

  #look(vaultId: string): Promise<string | undefined> {
    const running = this.#running.get(vaultId)
    if (running !== undefined) return running
    const look = this.#inspect(vaultId).finally(() => this.#running.delete(vaultId))
    this.#running.set(vaultId, look)
    return look
  }
}
