import type { Session } from './session.ts'
import { readSession, type SessionRecord, writeSession } from './session-record.ts'

/** Where the sessions are that a daemon can find. */
export interface SessionRegistry {
  /**
   * Keeps a new one. Nobody's logins push out another's: of those of one principal the oldest has to go where there are
   * too many. Those are returned.
   */
  create(session: Session): Promise<readonly Session[]>
  find(id: string): Promise<Session | undefined>
  /** The one that waits for a browser which comes back with this `state`. */
  findByState(state: string): Promise<Session | undefined>
  /**
   * Compare-and-set: keeps `next` in the place of `seen`, unless somebody was quicker or it is gone. So a step is taken
   * once: of several who try at one moment, in whichever daemon, one alone is told `true`.
   */
  move(seen: Session, next: Session): Promise<boolean>
  /**
   * Hears of each session whose provider another daemon has asked, or is to ask: in case that daemon is gone by then.
   * Absent where there is no other.
   */
  hear?(listener: (asked: AskedElsewhere) => void): void
  /** Called when the daemon ends. The open sessions that nobody will find any more; none where others go on with them. */
  close(): Promise<readonly Session[]>
}

/** A session whose provider is asked by another daemon. */
export interface AskedElsewhere {
  readonly id: string
  readonly revision: number
  /** Milliseconds until that daemon moves it on. */
  readonly dueInMs: number
}

/** One that can let a session go before its time. */
export interface MemoryRegistry extends SessionRegistry {
  /** Removes it, unless there is one that is newer. */
  remove(session: Session): Promise<void>
}

const MOST_OF_ONE = 100

/** In the memory of this daemon: they end with it. @param now milliseconds since 1970 */
export function openMemoryRegistry(now: () => number): MemoryRegistry {
  return new SessionsInMemory(now)
}

/** It keeps records, as any other registry would: a session that cannot be written down does not get far. */
class SessionsInMemory implements MemoryRegistry {
  readonly #now: () => number
  /** Oldest first. */
  readonly #records = new Map<string, SessionRecord>()
  readonly #byState = new Map<string, string>()

  constructor(now: () => number) {
    this.#now = now
  }

  async create(session: Session): Promise<readonly Session[]> {
    const own: SessionRecord[] = []
    for (const record of this.#records.values()) {
      if (record.keptUntil <= this.#now()) this.#remove(record)
      else if (record.principalId === session.actor.principalId) own.push(record)
    }
    const gone = own.slice(0, Math.max(0, own.length - MOST_OF_ONE + 1))
    for (const record of gone) this.#remove(record)
    this.#keep(session)
    return gone.flatMap(sessionOf)
  }

  async find(id: string): Promise<Session | undefined> {
    const record = this.#records.get(id)
    return record && readSession(record.content)
  }

  async findByState(state: string): Promise<Session | undefined> {
    const id = this.#byState.get(state)
    return id === undefined ? undefined : this.find(id)
  }

  async move(seen: Session, next: Session): Promise<boolean> {
    const record = this.#records.get(seen.id)
    if (record?.revision !== seen.revision) return false
    if (record.browserState !== undefined) this.#byState.delete(record.browserState)
    this.#keep(next)
    return true
  }

  async remove({ id, revision }: Session): Promise<void> {
    const record = this.#records.get(id)
    if (record !== undefined && record.revision <= revision) this.#remove(record)
  }

  async close(): Promise<readonly Session[]> {
    const open = [...this.#records.values()].filter(({ isOpen }) => isOpen)
    this.#records.clear()
    this.#byState.clear()
    return open.flatMap(sessionOf)
  }

  #keep(session: Session): void {
    const record = writeSession(session)
    this.#records.set(record.id, record)
    if (record.browserState !== undefined) this.#byState.set(record.browserState, record.id)
  }

  #remove({ id, browserState }: SessionRecord): void {
    this.#records.delete(id)
    if (browserState !== undefined) this.#byState.delete(browserState)
  }
}

function sessionOf({ content }: SessionRecord): readonly Session[] {
  const session = readSession(content)
  return session ? [session] : []
}
