import { hash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Secret } from '../../protocol/index.ts'
import type { SharedCache } from '../shared-cache/index.ts'
import type { Store } from '../store/index.ts'
import type { OutsideSeals } from '../vault/index.ts'
import { pollingOf, type Session } from './session.ts'
import { readSession, type SessionRecord, writeSession } from './session-record.ts'
import {
  type AskedElsewhere,
  type MemoryRegistry,
  openMemoryRegistry,
  type SessionRegistry,
} from './session-registry.ts'

export interface SharedRegistryOptions {
  readonly cache: Pick<SharedCache, 'get' | 'put' | 'remove' | 'problem' | 'pass' | 'hear'>
  /** Undefined while the vault is sealed. */
  readonly seals: () => OutsideSeals | undefined
  readonly replay: Store['replay']
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** How long whoever has taken a step has to say where it led before the session is given up, in milliseconds. */
const PATIENCE_MS = 1500
const LOOK_AGAIN_MS = 50
/** What a message is sealed as. */
const ASKED = 'login asked about'

/**
 * Sessions that all daemons of a deployment find: sealed in the cache, and in the memory of the daemon that moved them last,
 * in case the cache forgets. Who may move one is decided by the store alone.
 */
export function openSharedRegistry(options: SharedRegistryOptions): SessionRegistry {
  return new SessionsOfDeployment(options)
}

class SessionsOfDeployment implements SessionRegistry {
  readonly #options: SharedRegistryOptions
  /** Those that this daemon has begun or moved. */
  readonly #own: MemoryRegistry

  constructor(options: SharedRegistryOptions) {
    this.#options = options
    this.#own = openMemoryRegistry(options.now)
  }

  /** Makes room: where there are too many of one principal at this daemon, its oldest are gone for all. */
  async create(session: Session): Promise<readonly Session[]> {
    const gone = await this.#keep(session)
    await this.#share(session)
    return gone
  }

  async #keep(session: Session): Promise<readonly Session[]> {
    const gone = await this.#own.create(session)
    for (const one of gone) await this.#forget(one)
    return gone
  }

  async find(id: string): Promise<Session | undefined> {
    const [own, shared] = await Promise.all([this.#own.find(id), this.#shared(id)])
    if (own === undefined || shared === undefined) return own ?? shared
    if (shared.revision <= own.revision) return own
    // Should the cache forget it, this daemon is not to go on from where it was.
    await this.#own.move(own, shared)
    return shared
  }

  async findByState(state: string): Promise<Session | undefined> {
    const id = await this.#idOf(state)
    const session = id === undefined ? await this.#own.findByState(state) : await this.find(id)
    // It may have moved on since its browser was sent away.
    return session !== undefined && writeSession(session).browserState === state ? session : undefined
  }

  async move(seen: Session, next: Session): Promise<boolean> {
    if ((await this.find(seen.id))?.revision !== seen.revision) return false
    if (!(await this.#claim(seen))) {
      await this.#whereItLed(seen)
      return false
    }
    if (!(await this.#own.move(seen, next))) await this.#keep(next)
    await this.#share(next)
    return true
  }

  /** Once for each revision of a session, in the store: a cache may forget, and two daemons need not reach the same one. */
  #claim(session: Session): Promise<boolean> {
    const { createdAt, keptUntil } = writeSession(session)
    return this.#options.replay.claim({
      key: hash('sha256', `login ${aboutOf(session)}`, 'base64url'),
      issuedAt: Math.floor(createdAt / 1000),
      deadUntil: Math.ceil(keptUntil / 1000),
    })
  }

  /** Whoever took the step may have been killed before it said where that led. Then nobody can go on from here. */
  async #whereItLed(seen: Session): Promise<void> {
    const end = performance.now() + PATIENCE_MS
    while (performance.now() < end) {
      if ((await this.find(seen.id))?.revision !== seen.revision) return
      await delay(LOOK_AGAIN_MS)
    }
    await this.#forget(seen)
  }

  async #forget(session: Session): Promise<void> {
    const seals = this.#options.seals()
    await this.#own.remove(session)
    if (seals) await this.#options.cache.remove(seals.name(`login ${session.id}`), session.revision)
  }

  async #share(session: Session): Promise<void> {
    const { cache, now } = this.#options
    const seals = this.#options.seals()
    if (seals === undefined) return
    const record = writeSession(session)
    const keepMs = record.keptUntil - now()
    const value = seals.seal(`login ${aboutOf(record)}`, record.content)
    await cache.put(seals.name(`login ${record.id}`), { revision: record.revision, value }, keepMs)
    const polling = pollingOf(session)
    if (polling !== undefined) this.#tell(seals, session, polling.nextAt)
    if (record.browserState === undefined) return
    const id = seals.seal(`state ${record.browserState}`, new Secret(record.id))
    await cache.put(seals.name(`state ${record.browserState}`), { revision: 0, value: id }, keepMs)
  }

  /** Each time anew: a daemon that was not there the last time hears of it, too. */
  #tell(seals: OutsideSeals, { id, revision }: Session, nextAt: number): void {
    const { cache, now } = this.#options
    const asked: AskedElsewhere = { id, revision, dueInMs: Math.max(0, nextAt - now()) }
    cache.pass(seals.seal(ASKED, new Secret(JSON.stringify(asked))))
  }

  hear(listener: (asked: AskedElsewhere) => void): void {
    this.#options.cache.hear((message) => {
      const asked = this.#options.seals()?.open(ASKED, message)
      if (asked !== undefined) listener(JSON.parse(asked.reveal()))
    })
  }

  async #shared(id: string): Promise<Session | undefined> {
    const seals = this.#options.seals()
    const entry = seals && (await this.#options.cache.get(seals.name(`login ${id}`)))
    const content = entry && seals.open(`login ${aboutOf({ id, ...entry })}`, entry.value)
    return content && readSession(content)
  }

  async #idOf(state: string): Promise<string | undefined> {
    const seals = this.#options.seals()
    const entry = seals && (await this.#options.cache.get(seals.name(`state ${state}`)))
    return entry && seals.open(`state ${state}`, entry.value)?.reveal()
  }

  async close(): Promise<readonly Session[]> {
    const open = await this.#own.close()
    return (await this.#options.cache.problem()) === undefined ? [] : open
  }
}

function aboutOf({ id, revision }: Pick<SessionRecord, 'id' | 'revision'>): string {
  return `${id} ${revision}`
}
