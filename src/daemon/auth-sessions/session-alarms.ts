import type { Clock } from './clock.ts'
import { deadlineOf, pollingOf, type Session } from './session.ts'

/** What is to be done about a session at a time, if it is as it was: its provider is asked, or it ends. */
export interface Alarm {
  readonly kind: 'poll' | 'end'
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface SessionAlarmsOptions {
  readonly clock: Clock
  /** Looks at the session again, which may have moved on meanwhile. */
  readonly wake: (id: string, alarm: Alarm) => Promise<void>
  readonly onFailure: (error: unknown) => void
}

const TRY_AGAIN_MS = 10_000

/** Wakes up this daemon for the sessions that it has seen: one alarm each. */
export class SessionAlarms {
  readonly #options: SessionAlarmsOptions
  readonly #off = new Map<string, () => void>()
  #closed = false

  constructor(options: SessionAlarmsOptions) {
    this.#options = options
  }

  /** Sets the alarm of a session, or switches it off where it is over. */
  follow(session: Session): void {
    this.off(session.id)
    const alarm = alarmFor(session)
    if (alarm) this.#set(session.id, alarm, alarm.at - this.#options.clock.now())
  }

  off(id: string): void {
    this.#off.get(id)?.()
    this.#off.delete(id)
  }

  close(): void {
    this.#closed = true
    for (const off of this.#off.values()) off()
    this.#off.clear()
  }

  #set(id: string, alarm: Alarm, delay: number): void {
    if (this.#closed) return
    const { clock, wake, onFailure } = this.#options
    const ring = async () => {
      this.#off.delete(id)
      try {
        await wake(id, alarm)
      } catch (error) {
        onFailure(error)
        // Else nobody would look again.
        if (!this.#off.has(id)) this.#set(id, alarm, TRY_AGAIN_MS)
      }
    }
    this.#off.set(
      id,
      clock.wake(Math.max(0, delay), () => void ring()),
    )
  }
}

function alarmFor(session: Session): Alarm | undefined {
  const polling = pollingOf(session)
  if (polling) return { kind: 'poll', at: polling.nextAt }
  const end = deadlineOf(session)
  return end === undefined ? undefined : { kind: 'end', at: end }
}
