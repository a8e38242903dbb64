import type { Clock } from './clock.ts'
import { deadlineOf, pollingOf, type Session } from './session.ts'
import type { AskedElsewhere } from './session-registry.ts'

/** What is to be done about a session, if it is as it was: its provider is asked, or it ends. */
export type Alarm =
  /** `at`: milliseconds since 1970. */
  | { readonly kind: 'poll' | 'end'; readonly at: number }
  /** Another daemon was to ask, and has not. */
  | { readonly kind: 'take over' }

export interface SessionAlarmsOptions {
  readonly clock: Clock
  /** Looks at the session again, which may have moved on meanwhile. */
  readonly wake: (session: Pick<Session, 'id' | 'revision'>, alarm: Alarm) => Promise<void>
  readonly onFailure: (error: unknown) => void
}

const TRY_AGAIN_MS = 10_000
/** How late another daemon may be before it is taken for gone, in milliseconds. */
const OVERDUE_MS = 10_000

interface SetAlarm {
  /** Of the session, as this daemon knows it. */
  readonly revision: number
  readonly off: () => void
}

/** Wakes up this daemon for the sessions that it has seen: one alarm each. */
export class SessionAlarms {
  readonly #options: SessionAlarmsOptions
  readonly #alarms = new Map<string, SetAlarm>()
  #closed = false

  constructor(options: SessionAlarmsOptions) {
    this.#options = options
  }

  /** Sets the alarm of a session, or switches it off where it is over. */
  follow(session: Session): void {
    this.off(session.id)
    const alarm = alarmFor(session)
    if (alarm) this.#set(session, alarm, alarm.at - this.#options.clock.now())
  }

  /** Sets the alarm of a session that another daemon is at, unless this one knows it as it is or later. */
  watch({ id, revision, dueInMs }: AskedElsewhere): void {
    if ((this.#alarms.get(id)?.revision ?? -1) >= revision) return
    this.off(id)
    this.#set({ id, revision }, { kind: 'take over' }, dueInMs + OVERDUE_MS)
  }

  off(id: string): void {
    this.#alarms.get(id)?.off()
    this.#alarms.delete(id)
  }

  close(): void {
    this.#closed = true
    for (const { off } of this.#alarms.values()) off()
    this.#alarms.clear()
  }

  #set({ id, revision }: Pick<Session, 'id' | 'revision'>, alarm: Alarm, delay: number): void {
    if (this.#closed) return
    const { clock, wake, onFailure } = this.#options
    const ring = async () => {
      this.#alarms.delete(id)
      try {
        await wake({ id, revision }, alarm)
      } catch (error) {
        onFailure(error)
        // Else nobody would look again.
        if (!this.#alarms.has(id)) this.#set({ id, revision }, alarm, TRY_AGAIN_MS)
      }
    }
    const off = clock.wake(Math.max(0, delay), () => void ring())
    this.#alarms.set(id, { revision, off })
  }
}

function alarmFor(session: Session): Exclude<Alarm, { readonly kind: 'take over' }> | undefined {
  const polling = pollingOf(session)
  if (polling) return { kind: 'poll', at: polling.nextAt }
  const end = deadlineOf(session)
  return end === undefined ? undefined : { kind: 'end', at: end }
}
