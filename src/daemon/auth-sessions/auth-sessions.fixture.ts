import assert from 'node:assert/strict'
import { setImmediate as settled } from 'node:timers/promises'
import type { AuthSession } from '../../schemas/index.ts'

/** Of a login whose browser is at the provider. */
export function stateOf({ next_action: next }: AuthSession): string {
  assert.equal(next.type, 'open_url')
  return new URL(next.url).searchParams.get('state') ?? ''
}

/** Time that passes when it is told to. */
export class ManualClock {
  #now = Date.parse('2026-11-21T12:00:00.000Z')
  readonly #alarms = new Set<{ at: number; readonly task: () => void }>()

  readonly now = () => this.#now

  wake(delay: number, task: () => void): () => void {
    const alarm = { at: this.#now + delay, task }
    this.#alarms.add(alarm)
    return () => this.#alarms.delete(alarm)
  }

  /** Somebody sets the clock; who sleeps sleeps as long as before. */
  turn(milliseconds: number): void {
    this.#now += milliseconds
    for (const alarm of this.#alarms) alarm.at += milliseconds
  }

  /** Without waking anybody up. */
  sleep(milliseconds: number): void {
    this.#now += milliseconds
  }

  /** Wakes up whoever is due, in order, and lets each do what it does at once. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    for (;;) {
      const [next] = [...this.#alarms].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
      if (!next) break
      this.#now = Math.max(this.#now, next.at)
      this.#alarms.delete(next)
      next.task()
      await settled()
    }
    this.#now = end
  }
}
