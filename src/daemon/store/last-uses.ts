import { LRUCache } from 'lru-cache'
import type { Dialect } from './migrations.ts'

interface LastUsesOptions<Row> {
  readonly dialect: Dialect
  readonly now: () => number
  readonly write: (rows: readonly (Row & LastUse)[]) => Promise<unknown>
}

interface LastUse {
  /** ISO-8601. */
  readonly last_used_at: string
}

/**
 * How often a use is written, and how many milliseconds it may wait for others. A team has many that are each used now and
 * then: a write for each would cost as much as the request. On one machine people look, and a write costs little.
 */
const PACE: Readonly<Record<Dialect, { readonly every: number; readonly within: number }>> = {
  sqlite: { every: 60_000, within: 0 },
  postgres: { every: 60 * 60_000, within: 10_000 },
}

const MOST_REMEMBERED = 100_000
const MOST_AT_ONCE = 1_000

/** Writes when something was last used, rarely and many at a time; never waited for. */
export class LastUses<Row extends object> {
  readonly #options: LastUsesOptions<Row>
  readonly #written = new LRUCache<string, number>({ max: MOST_REMEMBERED })
  #waiting = new Map<string, Row & LastUse>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: LastUsesOptions<Row>) {
    this.#options = options
  }

  /** @param key what `row` tells of: another one is written at once */
  note(key: string, row: Row): void {
    const { now, dialect } = this.#options
    const { every, within } = PACE[dialect]
    const time = now()
    if (time - (this.#written.get(key) ?? Number.NEGATIVE_INFINITY) < every) return
    this.#written.set(key, time)
    this.#waiting.set(key, { ...row, last_used_at: new Date(time).toISOString() })
    if (within === 0 || this.#waiting.size >= MOST_AT_ONCE) this.#write()
    else this.#timer ??= setTimeout(() => this.#write(), within).unref()
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = this.#waiting
    this.#waiting = new Map()
    this.#options.write([...rows.values()]).catch(() => {
      for (const key of rows.keys()) this.#written.delete(key)
    })
  }
}
