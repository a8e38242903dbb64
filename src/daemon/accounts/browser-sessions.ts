import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Actor, BrowserActor, Secret } from '../../protocol/index.ts'
import type { BrowserSession } from '../../schemas/index.ts'
import { type Evidence, LISTS, type Rights } from '../rights/index.ts'
import {
  type BrowserSessionRow,
  type Db,
  type PrincipalRow,
  preparedQuery,
  type Store,
  ThrottledWrites,
} from '../store/index.ts'
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
  /** Of the principal. */
  readonly epoch: number
  /** The agent whose link did it: its session ends with it. Null where somebody typed a password. */
  readonly identityId: string | null
}

/** What events name as the identity of a person at a browser. */
export const BROWSER_IDENTITY = '(browser)'

const LIFETIME_MS = 12 * 60 * 60 * 1000
const IDLE_MS = 2 * 60 * 60 * 1000
/** Of one principal; the oldest give way. */
const MOST_OPEN = 100

/** Browsers that are signed in. They are in the store, so that one can be ended from any daemon at once. */
export class BrowserSessions {
  readonly #store: Store
  readonly #rights: Rights
  readonly #now: () => number
  readonly #lastSeen: ThrottledWrites

  constructor(store: Store, rights: Rights, now: () => number) {
    this.#store = store
    this.#rights = rights
    this.#now = now
    this.#lastSeen = new ThrottledWrites(now)
  }

  async open(
    tx: Db,
    { principalId, role, epoch, identityId }: NewSession,
    { userAgent, session }: Pick<Caller, 'userAgent' | 'session'>,
  ): Promise<OpenedSession> {
    const now = this.#now()
    const [token, csrfToken] = [randomText(), randomText()]
    const expiresAt = now + LIFETIME_MS
    await tx.deleteFrom('browser_sessions').where('expires_at', '<', isoTime(now)).execute()
    if (session) await tx.deleteFrom('browser_sessions').where('token_hash', '=', digest(session.reveal())).execute()
    await makeRoom(tx, principalId)
    const row = this.#rights.seal('browser_sessions', {
      id: randomUUID(),
      token_hash: digest(token),
      csrf_hash: digest(csrfToken),
      principal_id: principalId,
      identity_id: identityId,
      browser: browserName(userAgent),
      epoch,
      created_at: isoTime(now),
      last_seen_at: isoTime(now),
      expires_at: isoTime(expiresAt),
    })
    await tx.insertInto('browser_sessions').values(row).execute()
    return { token, csrfToken, expiresAt, principalId, role }
  }

  /** Undefined where the session is over, or never was. */
  async actorOf(token: string): Promise<BrowserActor | undefined> {
    const row = await this.#believed((db) => sessionByToken(db, { token_hash: digest(token) }))
    if (!row) return undefined
    this.#lastSeen.note(row.id, (last_seen_at) =>
      this.#store.db.updateTable('browser_sessions').set({ last_seen_at }).where('id', '=', row.id).execute(),
    )
    const account = (await this.#rights.listed(row.principal_id, row.generation)).account()
    return {
      kind: 'browser',
      identity: BROWSER_IDENTITY,
      principalId: row.principal_id,
      vaultId: row.vault_id,
      role: row.role,
      browser: { sessionId: row.id, ...(account && { email: account.email }) },
    }
  }

  async #believed(read: (db: Db) => Promise<SessionRow | undefined>): Promise<SessionRow | undefined> {
    const row = await this.#rights.believe(read, evidenceOf)
    return row && row.epoch === row.principal_epoch && this.#isLive(row) ? row : undefined
  }

  #isLive({ expires_at, last_seen_at }: { readonly expires_at: string; readonly last_seen_at: string }): boolean {
    const now = this.#now()
    return now < Date.parse(expires_at) && now < Date.parse(last_seen_at) + IDLE_MS
  }

  async isOpen({ browser: { sessionId: id } }: BrowserActor): Promise<boolean> {
    return (await this.#believed((db) => sessionById(db, { id }))) !== undefined
  }

  /** Returns whether this is the token that the session was given for its changes. */
  async mayChange({ browser: { sessionId: id } }: BrowserActor, csrfToken: string): Promise<boolean> {
    const row = await this.#believed((db) => sessionById(db, { id }))
    return row !== undefined && timingSafeEqual(Buffer.from(row.csrf_hash), Buffer.from(digest(csrfToken)))
  }

  async list(actor: Actor): Promise<readonly BrowserSession[]> {
    const rows = await this.#store.db
      .selectFrom('browser_sessions')
      .innerJoin('principals', 'principals.id', 'browser_sessions.principal_id')
      .selectAll('browser_sessions')
      .select('principals.epoch as principal_epoch')
      .where('principal_id', '=', actor.principalId)
      .orderBy('browser_sessions.created_at', 'desc')
      .orderBy('browser_sessions.id')
      .execute()
    return rows
      .filter((row) => this.#isLive(row) && row.epoch === row.principal_epoch)
      .filter((row) => this.#rights.isGenuine({ table: 'browser_sessions', row }))
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

  /** All but the one at hand, which goes on in the new epoch. */
  async endOthers(tx: Db, { principalId, browser }: BrowserActor, epoch: number): Promise<void> {
    await tx
      .deleteFrom('browser_sessions')
      .where('principal_id', '=', principalId)
      .where('id', '!=', browser.sessionId)
      .execute()
    const own = await tx
      .selectFrom('browser_sessions')
      .selectAll()
      .where('id', '=', browser.sessionId)
      .executeTakeFirst()
    if (!own || !this.#rights.isGenuine({ table: 'browser_sessions', row: own })) return
    const { mac } = this.#rights.seal('browser_sessions', { ...own, epoch })
    await tx.updateTable('browser_sessions').set({ epoch, mac }).where('id', '=', own.id).execute()
  }
}

type SessionRow = BrowserSessionRow & {
  readonly role: PrincipalRow['role']
  readonly vault_id: string
  readonly local_owner: number
  readonly principal_epoch: number
  readonly principal_created_at: string
  readonly principal_mac: string | null
  readonly generation: number | null
}

function evidenceOf(row: SessionRow): Evidence {
  const { principal_id: id, role, vault_id, local_owner, principal_epoch: epoch } = row
  const principal = { id, role, vault_id, local_owner, epoch }
  return {
    principalId: id,
    generation: row.generation,
    rows: [
      { table: 'browser_sessions', row },
      {
        table: 'principals',
        row: { ...principal, created_at: row.principal_created_at, mac: row.principal_mac },
      },
    ],
    identityId: row.identity_id,
  }
}

const sessionByToken = preparedQuery(['token_hash'], (db, { token_hash }: Pick<BrowserSessionRow, 'token_hash'>) =>
  sessionsWithPrincipals(db).where('browser_sessions.token_hash', '=', token_hash),
)

const sessionById = preparedQuery(['id'], (db, { id }: Pick<BrowserSessionRow, 'id'>) =>
  sessionsWithPrincipals(db).where('browser_sessions.id', '=', id),
)

function sessionsWithPrincipals(db: Db) {
  return db
    .selectFrom('browser_sessions')
    .innerJoin('principals', 'principals.id', 'browser_sessions.principal_id')
    .leftJoin('manifests', (join) =>
      join.on('manifests.vault_id', '=', sql<string>`${sql.lit(LISTS)} || browser_sessions.principal_id`),
    )
    .selectAll('browser_sessions')
    .select([
      'principals.role',
      'principals.vault_id',
      'principals.local_owner',
      'principals.epoch as principal_epoch',
      'principals.created_at as principal_created_at',
      'principals.mac as principal_mac',
      'manifests.generation',
    ])
}

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
