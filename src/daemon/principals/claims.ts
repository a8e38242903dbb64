import { createHash, randomBytes } from 'node:crypto'
import { claimCode } from '../../identity/index.ts'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Rights } from '../rights/index.ts'
import type { Db, IdentityRow, Store } from '../store/index.ts'
import { attach, IDENTITY_REGISTERED } from './registrations.ts'

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
  readonly rights: Rights
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
  async open(identityId: string): Promise<OpenClaim> {
    for (const [id, { expiresAt }] of this.#open)
      if (Date.parse(expiresAt) <= this.#options.now()) this.#open.delete(id)
    const known = this.#open.get(identityId)
    if (known && (await this.view(known.token))) return known
    const token = randomBytes(20).toString('base64url')
    const expiresAt = new Date(this.#options.now() + LIFETIME_MS).toISOString()
    await this.#insert(identityId, token, expiresAt)
    const claim = { token, url: `${this.#options.baseUrl}/api/claim/${token}`, expiresAt }
    this.#open.set(identityId, claim)
    return claim
  }

  async #insert(identity_id: string, token: string, expires_at: string): Promise<void> {
    const { store, rights, now } = this.#options
    await rights.open()
    await store.transaction(async (tx) => {
      await tx.deleteFrom('claims').where('expires_at', '<=', new Date(now()).toISOString()).execute()
      const row = rights.seal('claims', { token_hash: digest(token), identity_id, expires_at })
      await tx
        .insertInto('claims')
        .values({ ...row, wrong_codes: 0 })
        .execute()
    })
  }

  async view(token: string): Promise<ClaimView | undefined> {
    const found = await this.#find(token)
    if (!found) return undefined
    const { identity, claim } = found
    return {
      handle: identity.handle,
      did: identity.did,
      code: claimCode(token, identity.did),
      expiresAt: claim.expires_at,
    }
  }

  async #find(token: string) {
    const { rights, now } = this.#options
    const token_hash = digest(token)
    const found = await rights.believe(
      (db) => claimedRows(db, token_hash),
      ({ claim, identity }) => ({
        principalId: identity.principal_id,
        generation: null,
        rows: [
          { table: 'claims', row: claim },
          { table: 'identities', row: identity },
        ],
      }),
    )
    return found && Date.parse(found.claim.expires_at) > now() ? found : undefined
  }

  /** As {@link Principals.confirmClaim}. */
  async confirm(actor: Actor, token: string, code?: string): Promise<ClaimView> {
    const claim = await this.view(token)
    if (!claim) throw claimIsOver()
    if (code !== undefined && code !== claim.code) {
      await this.#countWrongCode(token)
      throw wrongCode()
    }
    const { store, audit, rights } = this.#options
    const identity = await store.transaction(async (tx) => {
      const identity = await this.#takeIn(tx, token)
      await attach(tx, rights, identity, actor.principalId)
      const claimant = { identity: identity.handle, principalId: actor.principalId }
      await audit.record(tx, claimant, IDENTITY_REGISTERED)
      const reason = `identity ${identity.handle}`
      await audit.record(tx, actor, { event: 'identity.claimed', status: 'success', reason })
      return identity
    })
    this.#open.delete(identity.id)
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

  /** Returns what is claimed, for one caller alone, by whichever of the identity's claims. @throws BrokerError NotFoundError */
  async #takeIn(tx: Db, token: string): Promise<IdentityRow> {
    const { rights } = this.#options
    const claim = await tx
      .deleteFrom('claims')
      .where('token_hash', '=', digest(token))
      .returningAll()
      .executeTakeFirst()
    const identity =
      claim && (await tx.selectFrom('identities').selectAll().where('id', '=', claim.identity_id).executeTakeFirst())
    if (!identity || identity.principal_id !== null) throw claimIsOver()
    const isWhole = [{ table: 'claims', row: claim } as const, { table: 'identities', row: identity } as const]
    if (!isWhole.every((row) => rights.isGenuine(row))) throw claimIsOver()
    await tx.deleteFrom('claims').where('identity_id', '=', identity.id).execute()
    return identity
  }
}

/** A claim with the identity that it is for, while that is nobody's. */
async function claimedRows(db: Db, token_hash: string) {
  const claim = await db.selectFrom('claims').selectAll().where('token_hash', '=', token_hash).executeTakeFirst()
  const identity =
    claim &&
    (await db
      .selectFrom('identities')
      .selectAll()
      .where('id', '=', claim.identity_id)
      .where('principal_id', 'is', null)
      .executeTakeFirst())
  return identity && { claim, identity }
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
