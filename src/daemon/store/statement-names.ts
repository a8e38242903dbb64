/** What Postgres says where a statement that was prepared is not there, is there already, or fits its tables no more. */
const REFUSALS: ReadonlySet<unknown> = new Set(['26000', '42P05', '0A000'])

/** Beyond that many, and for longer ones, a name costs the server more than it saves. */
const MOST = 250
const LONGEST = 8_000

/**
 * Names of statements, by which a connection of Postgres keeps them parsed and planned. Where something stands between that
 * gives each transaction another connection, names may lead nowhere: from the first refusal on nothing has one.
 */
export class StatementNames {
  readonly #names = new Map<string, string>()
  #areRefused = false

  /** Returns the name of a statement; undefined where it is to go without. */
  of(sql: string): string | undefined {
    if (this.#areRefused || sql.length > LONGEST) return undefined
    const known = this.#names.get(sql)
    if (known !== undefined || this.#names.size >= MOST) return known
    const name = `broker_${this.#names.size}`
    this.#names.set(sql, name)
    return name
  }

  /** Returns whether `error` is about a name, as one of ours may be; there are none then any more. */
  refusedBy(error: unknown): boolean {
    if (!(error instanceof Error && 'code' in error && REFUSALS.has(error.code))) return false
    this.#areRefused = true
    return true
  }
}
