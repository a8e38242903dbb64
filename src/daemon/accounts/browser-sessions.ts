import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Actor, Secret } from '../../protocol/index.ts'
import type { BrowserSession } from '../../schemas/index.ts'
import { type Db, preparedQuery, SparseWrites, type Store } from '../store/index.ts'
import { browserName } from './browser-name.ts'
import type { Marks } from './known-browser.ts'

/** What a browser is given when it is signed in; neither text is stored, nor told again. */
export interface OpenedSession {
  /** For the cookie. */
  readonly token: string
  /** For the header of what changes anything. It is never in a cookie: other ports of this host get to see those. */
  readonly csrfToken: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly principalId: string
  readonly role: Actor['role']
  /** For another cookie, which outlives the session; only where a password was typed. */
  readonly marks?: Marks
}

/** A browser that asks to be signed in, as far as the daemon can know it. */
export interface Caller {
  /** Where it is, as far as can be known. */
  readonly source: string
  readonly userAgent?: string
  /** Its session until now: the next one takes the place of it. */
  readonly session?: Secret
  /** What it keeps of sign-ins before. */
  readonly marks?: Secret
}

/** Whose browser is signed in. */
export type NewSession = Pick<Actor, 'principalId' | 'role'> & {
  /** The agent whose link did it: its session ends with it. Null where somebody typed a password. */
  readonly openedBy: string | null
}

/** Who acts by a browser. */
export type BrowserActor = Actor & { readonly browser: NonNullable<Actor['browser']> }

/** What events name as the identity of a person at a browser. */
export const BROWSER_IDENTITY = '(browser)'

const LIFETIME_MS = 12 * 60 * 60 * 1000
const IDLE_MS = 2 * 60 * 60 * 1000
/** Of one principal; the oldest give way. */
const MOST_OPEN = 100

/** Browsers that are signed in. They are in the store, so that one can be ended from any daemon at once. */
export class BrowserSessions {
  readonly #store: Store
  readonly #now: () => number
  readonly #lastSeen: SparseWrites

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
    this.#lastSeen = new SparseWrites(now)
  }

  async open(
    tx: Db,
    { principalId, role, openedBy }: NewSession,
    { userAgent, session }: Pick<Caller, 'userAgent' | 'session'>,
  ): Promise<OpenedSession> {
    const now = this.#now()
    const [token, csrfToken] = [randomText(), randomText()]
    const expiresAt = now + LIFETIME_MS
    await tx.deleteFrom('browser_sessions').where('expires_at', '<', isoTime(now)).execute()
    if (session) await tx.deleteFrom('browser_sessions').where('token_hash', '=', digest(session.reveal())).execute()
    await makeRoom(tx, principalId)
    await tx
      .insertInto('browser_sessions')
      .values({
        id: randomUUID(),
        token_hash: digest(token),
        csrf_hash: digest(csrfToken),
        principal_id: principalId,
        opened_by: openedBy,
        browser: browserName(userAgent),
        created_at: isoTime(now),
        last_seen_at: isoTime(now),
        expires_at: isoTime(expiresAt),
      })
      .execute()
    return { token, csrfToken, expiresAt, principalId, role }
  }

  /** Undefined where the session is over, or never was. */
  async actorOf(token: string): Promise<BrowserActor | undefined> {
    const row = await sessionWithPrincipal(this.#store.db, { token_hash: digest(token) })
    if (!row || !this.#isLive(row)) return undefined
    this.#lastSeen.note(row.id, (last_seen_at) =>
      this.#store.db.updateTable('browser_sessions').set({ last_seen_at }).where('id', '=', row.id).execute(),
    )
    return {
      identity: BROWSER_IDENTITY,
      principalId: row.principal_id,
      vaultId: row.vault_id,
      role: row.role,
      browser: { sessionId: row.id, ...(row.email !== null && { email: row.email }) },
    }
  }

  #isLive({ expires_at, last_seen_at }: { readonly expires_at: string; readonly last_seen_at: string }): boolean {
    const now = this.#now()
    return now < Date.parse(expires_at) && now < Date.parse(last_seen_at) + IDLE_MS
  }

  async isOpen({ browser }: BrowserActor): Promise<boolean> {
    const row = await this.#store.db
      .selectFrom('browser_sessions')
      .select(['expires_at', 'last_seen_at'])
      .where('id', '=', browser.sessionId)
      .executeTakeFirst()
    return row !== undefined && this.#isLive(row)
  }

  /** Whether this is the token that the session was given for its changes. */
  async mayChange({ browser }: BrowserActor, csrfToken: string): Promise<boolean> {
    const row = await this.#store.db
      .selectFrom('browser_sessions')
      .select('csrf_hash')
      .where('id', '=', browser.sessionId)
      .executeTakeFirst()
    return row !== undefined && timingSafeEqual(Buffer.from(row.csrf_hash), Buffer.from(digest(csrfToken)))
  }

  async list(actor: Actor): Promise<readonly BrowserSession[]> {
    const rows = await this.#store.db
      .selectFrom('browser_sessions')
      .selectAll()
      .where('principal_id', '=', actor.principalId)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .execute()
    return rows
      .filter((row) => this.#isLive(row))
      .map(({ id, browser, created_at, last_seen_at, expires_at }) => ({
        id,
        browser,
        is_current: id === actor.browser?.sessionId,
        created_at,
        last_seen_at,
        expires_at,
      }))
  }

  /** False where the principal has no such session. */
  async end(tx: Db, { principalId }: Pick<Actor, 'principalId'>, id: string): Promise<boolean> {
    const { numDeletedRows } = await tx
      .deleteFrom('browser_sessions')
      .where('id', '=', id)
      .where('principal_id', '=', principalId)
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  }

  async endAll(tx: Db, principalId: string): Promise<void> {
    await tx.deleteFrom('browser_sessions').where('principal_id', '=', principalId).execute()
  }

  /** All but the one at hand. */
  async endOthers(tx: Db, { principalId, browser }: BrowserActor): Promise<void> {
    await tx
      .deleteFrom('browser_sessions')
      .where('principal_id', '=', principalId)
      .where('id', '!=', browser.sessionId)
      .execute()
  }
}

const sessionWithPrincipal = preparedQuery(['token_hash'], (db, { token_hash }: { token_hash: string }) =>
  db
    .selectFrom('browser_sessions')
    .innerJoin('principals', 'principals.id', 'browser_sessions.principal_id')
    .leftJoin('accounts', 'accounts.principal_id', 'browser_sessions.principal_id')
    .select([
      'browser_sessions.id',
      'browser_sessions.principal_id',
      'browser_sessions.expires_at',
      'browser_sessions.last_seen_at',
      'principals.vault_id',
      'principals.role',
      'accounts.email',
    ])
    .where('browser_sessions.token_hash', '=', token_hash),
)

async function makeRoom(tx: Db, principalId: string): Promise<void> {
  await tx
    .deleteFrom('browser_sessions')
    .where('principal_id', '=', principalId)
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('browser_sessions')
        .select('id')
        .where('principal_id', '=', principalId)
        .orderBy('created_at', 'desc')
        .limit(MOST_OPEN - 1),
    )
    .execute()
}

/** 256 bits. */
export function randomText(): string {
  return randomBytes(32).toString('base64url')
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
