import { createHash, randomBytes } from 'node:crypto'
import { claimCode } from '../../identity/index.ts'
import type { Db, Store } from '../store/index.ts'

interface OpenClaim {
  readonly url: string
  /** ISO-8601. */
  readonly expiresAt: string
}

/** What is to be claimed, as its page shows it. */
export interface ClaimView {
  readonly handle: string
  readonly did: string
  /** What the terminal shows too. */
  readonly code: string
  /** ISO-8601. */
  readonly expiresAt: string
}

const MAX_WRONG_CODES = 5
const LIFETIME_MS = 10 * 60 * 1000

/** Invitations to claim an identity: random, single use, dead after ten minutes (contract section 5). */
export class Claims {
  readonly #store: Store
  readonly #baseUrl: string
  readonly #now: () => number
  // The store keeps hashes alone; whoever asks again within the claim's life is told the same URL.
  readonly #open = new Map<string, OpenClaim>()

  constructor(store: Store, baseUrl: string, now: () => number) {
    this.#store = store
    this.#baseUrl = baseUrl
    this.#now = now
  }

  /** The claim that is open for this identity, or a new one. */
  async open(handle: string): Promise<OpenClaim> {
    for (const [name, { expiresAt }] of this.#open) if (Date.parse(expiresAt) <= this.#now()) this.#open.delete(name)
    const known = this.#open.get(handle)
    if (known && (await this.#isOpen(handle))) return known
    const token = randomBytes(20).toString('base64url')
    const expiresAt = new Date(this.#now() + LIFETIME_MS).toISOString()
    await this.#replace(handle, token, expiresAt)
    const claim = { url: `${this.#baseUrl}/api/claim/${token}`, expiresAt }
    this.#open.set(handle, claim)
    return claim
  }

  /** Wrong codes may have ended it, at any daemon. */
  async #isOpen(handle: string): Promise<boolean> {
    const { db } = this.#store
    const row = await db.selectFrom('claims').select('handle').where('handle', '=', handle).executeTakeFirst()
    return row !== undefined
  }

  async #replace(handle: string, token: string, expires_at: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      await tx.deleteFrom('claims').where('handle', '=', handle).execute()
      const row = { token_hash: digest(token), handle, expires_at, wrong_codes: 0 }
      await tx.insertInto('claims').values(row).execute()
    })
  }

  async view(token: string): Promise<ClaimView | undefined> {
    const row = await this.#store.db
      .selectFrom('claims')
      .innerJoin('identities', 'identities.handle', 'claims.handle')
      .select(['claims.handle', 'claims.expires_at', 'identities.did'])
      .where('token_hash', '=', digest(token))
      .where('identities.principal_id', 'is', null)
      .executeTakeFirst()
    if (!row || Date.parse(row.expires_at) <= this.#now()) return undefined
    return { handle: row.handle, did: row.did, code: claimCode(token, row.did), expiresAt: row.expires_at }
  }

  /** Whoever guesses ends the claim. */
  async countWrongCode(token: string): Promise<void> {
    const { db } = this.#store
    const token_hash = digest(token)
    await db
      .updateTable('claims')
      .set((eb) => ({ wrong_codes: eb('wrong_codes', '+', 1) }))
      .where('token_hash', '=', token_hash)
      .execute()
    await db
      .deleteFrom('claims')
      .where('token_hash', '=', token_hash)
      .where('wrong_codes', '>=', MAX_WRONG_CODES)
      .execute()
  }

  /** True for one caller alone. */
  async takeIn(tx: Db, token: string): Promise<boolean> {
    const { numDeletedRows } = await tx
      .deleteFrom('claims')
      .where('token_hash', '=', digest(token))
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  }

  close(handle: string): void {
    this.#open.delete(handle)
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
