import { createHash, randomBytes } from 'node:crypto'
import { claimCode } from '../../identity/index.ts'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Db, Store } from '../store/index.ts'
import { IDENTITY_REGISTERED } from './registrations.ts'

interface OpenClaim {
  readonly token: string
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

interface ClaimsOptions {
  readonly store: Store
  readonly audit: Audit
  /** `{base_url}` of the claims' URLs. */
  readonly baseUrl: string
  readonly now: () => number
}

const MAX_WRONG_CODES = 5
const LIFETIME_MS = 10 * 60 * 1000

/** Invitations to claim an identity: random, single use, dead after ten minutes (contract section 5). */
export class Claims {
  readonly #options: ClaimsOptions
  // The store keeps hashes alone; whoever asks again within the claim's life is told the same URL.
  readonly #open = new Map<string, OpenClaim>()

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /** The claim that this daemon opened for the identity, or a new one; those of other daemons stay open beside it. */
  async open(handle: string): Promise<OpenClaim> {
    for (const [name, { expiresAt }] of this.#open)
      if (Date.parse(expiresAt) <= this.#options.now()) this.#open.delete(name)
    const known = this.#open.get(handle)
    if (known && (await this.view(known.token))) return known
    const token = randomBytes(20).toString('base64url')
    const expiresAt = new Date(this.#options.now() + LIFETIME_MS).toISOString()
    await this.#insert(handle, token, expiresAt)
    const claim = { token, url: `${this.#options.baseUrl}/api/claim/${token}`, expiresAt }
    this.#open.set(handle, claim)
    return claim
  }

  async #insert(handle: string, token: string, expires_at: string): Promise<void> {
    await this.#options.store.transaction(async (tx) => {
      await tx.deleteFrom('claims').where('expires_at', '<=', new Date(this.#options.now()).toISOString()).execute()
      const row = { token_hash: digest(token), handle, expires_at, wrong_codes: 0 }
      await tx.insertInto('claims').values(row).execute()
    })
  }

  async view(token: string): Promise<ClaimView | undefined> {
    const row = await this.#options.store.db
      .selectFrom('claims')
      .innerJoin('identities', 'identities.handle', 'claims.handle')
      .select(['claims.handle', 'claims.expires_at', 'identities.did'])
      .where('token_hash', '=', digest(token))
      .where('identities.principal_id', 'is', null)
      .executeTakeFirst()
    if (!row || Date.parse(row.expires_at) <= this.#options.now()) return undefined
    return { handle: row.handle, did: row.did, code: claimCode(token, row.did), expiresAt: row.expires_at }
  }

  /** As {@link Principals.confirmClaim}. */
  async confirm(actor: Actor, token: string, code?: string): Promise<ClaimView> {
    const claim = await this.view(token)
    if (!claim) throw claimIsOver()
    if (code !== undefined && code !== claim.code) {
      await this.#countWrongCode(token)
      throw wrongCode()
    }
    await this.#options.store.transaction(async (tx) => {
      if (!(await this.#takeIn(tx, token, claim.handle))) throw claimIsOver()
      const { numUpdatedRows } = await tx
        .updateTable('identities')
        .set({ principal_id: actor.principalId })
        .where('handle', '=', claim.handle)
        .where('did', '=', claim.did)
        .where('principal_id', 'is', null)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) throw claimIsOver()
      const claimant = { identity: claim.handle, principalId: actor.principalId }
      await this.#options.audit.record(tx, claimant, IDENTITY_REGISTERED)
      await this.#options.audit.record(tx, actor, {
        event: 'identity.claimed',
        status: 'success',
        reason: `identity ${claim.handle}`,
      })
    })
    this.#open.delete(claim.handle)
    return claim
  }

  /** Whoever guesses ends the claim. */
  async #countWrongCode(token: string): Promise<void> {
    const { db } = this.#options.store
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

  /** True for one caller alone, by whichever of the identity's claims. */
  async #takeIn(tx: Db, token: string, handle: string): Promise<boolean> {
    const { numDeletedRows } = await tx
      .deleteFrom('claims')
      .where('token_hash', '=', digest(token))
      .executeTakeFirstOrThrow()
    await tx.deleteFrom('claims').where('handle', '=', handle).execute()
    return numDeletedRows > 0n
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function claimIsOver(): BrokerError {
  return new BrokerError('NotFoundError', 'There is no such claim: it was used, or its ten minutes are over', {
    hint: 'Run `broker onboard` again for a new one.',
  })
}

function wrongCode(): BrokerError {
  return new BrokerError('OperationNotAllowedError', 'This is not the code of this claim; nothing was attached', {
    hint: 'Compare it with the one in the terminal that ran `broker onboard`.',
  })
}
