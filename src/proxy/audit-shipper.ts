import { randomBytes } from 'node:crypto'
import { setTimeout as retryDelay } from 'node:timers/promises'
import type { ShippedEvent } from '../schemas/index.ts'
import type { AuditEntry, AuditTrail } from './exchange/index.ts'

/** An event with its place among those of its run. */
export interface NumberedEvent extends ShippedEvent {
  readonly number: number
}

export interface EventBatch {
  /** Number of the last event that is stored already; 0 where there is none. */
  readonly after: number
  readonly events: readonly NumberedEvent[]
}

interface AuditShipperOptions {
  readonly ship: (batch: EventBatch) => Promise<void>
  readonly runId: string
  readonly log: (event: object) => void
}

/** What was refused: somebody may be looking for why. */
const SHIP_REFUSALS_AFTER = 200
/** A transaction of the log costs the same for one event as for many. */
const SHIP_AFTER = 1_000
const SHIP_AT = 200
const MAX_BATCH = 1_000
const MAX_KEPT = 10_000
const MIN_BACKOFF = 250
const MAX_BACKOFF = 10_000
const FLUSH_LIMIT = 3_000

/**
 * Sends events to the daemon in batches, never in a request's way. What could not be sent is kept and sent again with
 * the same ids, so that the daemon stores it once; beyond 10,000 the oldest are dropped, refusals before requests. Each
 * has a number, so that the daemon knows of those that were.
 */
export class AuditShipper implements AuditTrail {
  readonly #options: AuditShipperOptions
  readonly #idPrefix = randomBytes(9).toString('base64url')
  #kept: NumberedEvent[] = []
  #stored = 0
  #recorded = 0
  #dropped = 0
  #backoff = 0
  #timer: NodeJS.Timeout | undefined
  /** When it fires, by the clock of `performance`. */
  #due = 0
  #shipping: Promise<boolean> | undefined

  constructor(options: AuditShipperOptions) {
    this.#options = options
  }

  record(entry: AuditEntry): void {
    this.#recorded += 1
    const number = this.#recorded
    const id = `${this.#idPrefix}-${number.toString(36)}`
    this.#kept.push({ ...entry, number, id, timestamp: new Date().toISOString(), run_id: this.#options.runId })
    if (this.#kept.length > MAX_KEPT + MAX_BATCH) this.#dropOldest()
    if (this.#kept.length >= SHIP_AT && this.#backoff === 0) this.#schedule(0)
    else this.#schedule(entry.event === 'proxy.denied' ? SHIP_REFUSALS_AFTER : SHIP_AFTER)
  }

  /** Sends what is left, again and again through a short outage; gives up after about 3 s. */
  async flush(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => resolve('late'), FLUSH_LIMIT)
    for (let outcome: boolean | 'late' = true; this.#kept.length > 0 && outcome !== 'late'; ) {
      outcome = await Promise.race([this.#shipOnce(), late])
      if (outcome === false) outcome = await Promise.race([retryDelay(MIN_BACKOFF, true), late])
    }
    clearTimeout(timer)
    if (this.#kept.length === 0) return
    this.#options.log({ event: 'audit_not_flushed', left: this.#kept.length })
    this.#schedule(SHIP_AFTER)
  }

  /** Stops sending; call {@link flush} first. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#kept = []
  }

  #dropOldest(): void {
    const excess = this.#kept.length - MAX_KEPT
    let refusals = excess
    const left = this.#kept.filter(({ event }) => event !== 'proxy.denied' || --refusals < 0)
    this.#kept = left.slice(Math.max(0, left.length - MAX_KEPT))
    this.#dropped += excess
    this.#options.log({ event: 'audit_dropped', total: this.#dropped })
  }

  #schedule(delay: number): void {
    if (this.#shipping !== undefined) return
    const wait = Math.max(delay, this.#backoff)
    const due = performance.now() + wait
    if (this.#timer !== undefined && this.#due <= due) return
    clearTimeout(this.#timer)
    this.#due = due
    this.#timer = setTimeout(() => void this.#shipDue(), wait)
    this.#timer.unref()
  }

  async #shipDue(): Promise<void> {
    await this.#shipOnce()
    if (this.#kept.length > 0) this.#schedule(this.#kept.length >= SHIP_AT ? 0 : SHIP_AFTER)
  }

  /** Sends one batch, or waits for the one under way; false where it was not taken. */
  #shipOnce(): Promise<boolean> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#shipping ??= this.#shipBatch()
    return this.#shipping
  }

  async #shipBatch(): Promise<boolean> {
    const batch = this.#kept.slice(0, MAX_BATCH)
    try {
      await this.#options.ship({ after: this.#stored, events: batch })
      const sent = new Set(batch)
      this.#stored = Math.max(this.#stored, ...batch.map(({ number }) => number))
      this.#kept = this.#kept.filter((event) => !sent.has(event))
      this.#backoff = 0
      return true
    } catch (error) {
      this.#backoff = Math.min(MAX_BACKOFF, Math.max(MIN_BACKOFF, this.#backoff * 2))
      const reason = error instanceof Error ? error.name : 'unknown'
      this.#options.log({ event: 'audit_not_shipped', kept: this.#kept.length, retry_ms: this.#backoff, reason })
      return false
    } finally {
      this.#shipping = undefined
    }
  }
}
