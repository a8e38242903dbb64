import { createHash, hash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Proof } from '../../identity/index.ts'
import { type Actor, BrokerError, type Secret } from '../../protocol/index.ts'
import type { Identity, Registration, Run, StartRun } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import { type Db, type IdentityRow, preparedQuery, SparseWrites, type Store } from '../store/index.ts'
import type { Vault } from '../vault/index.ts'
import { Claims, type ClaimView } from './claims.ts'
import { Registrations } from './registrations.ts'
import { endRun, runActor, startRun } from './runs.ts'

export interface Principals {
  /**
   * Who signed, once the proof is known to be used for the first time.
   * @throws BrokerError AuthenticationFailedError, or IdentityNotClaimedError with the claim's URL
   */
  authenticate(proof: Proof): Promise<Actor>
  /**
   * Registers the key that signed the proof. The local owner's bootstrap secret claims it at once.
   * @throws BrokerError OperationNotAllowedError (409) where handle or key is another's; RateLimitedError where too many
   *   of the same source wait to be claimed
   */
  register(proof: Proof, wanted: { handle: string; did: string }, from: Registrant): Promise<Registered>
  /** Makes a principal with an empty vault, and returns its id. */
  create(tx: Db, role: Actor['role']): Promise<string>
  /** What a claim's link leads to. Undefined where it was used, is too old, or never was. */
  claim(token: string): Promise<ClaimView | undefined>
  /**
   * Attaches the claimed identity to the actor's principal, once.
   * @param code what the person saw, where the caller has it: another one is refused, and a few of them end the claim
   * @throws BrokerError NotFoundError where the claim is over, OperationNotAllowedError for another code
   */
  confirmClaim(actor: Actor, token: string, code?: string): Promise<ClaimView>
  /** One's own identity, claimed or not. */
  identityOf(proof: Proof): Promise<Identity>
  list(actor: Actor): Promise<readonly Identity[]>
  /** What people see beside its handle; undefined for none. @throws BrokerError NotFoundError as {@link remove} */
  setLabel(actor: Actor, handle: string, label: string | undefined): Promise<void>
  /** @throws BrokerError NotFoundError where it is none of the actor's principal. */
  remove(actor: Actor, handle: string): Promise<void>
  startRun(actor: Actor, wanted: StartRun): Promise<Run>
  endRun(actor: Actor, runId: string, exitCode: number | undefined): Promise<void>
}

export interface Registrant {
  /** Where the request comes from. */
  readonly source: string
  readonly bootstrap?: Secret
}

export interface Registered {
  readonly registration: Registration
  /** False where the same handle and key were registered before. */
  readonly isNew: boolean
}

export interface PrincipalsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly vault: Vault
  /** Undefined where the daemon is hosted: nobody is the owner of its machine. */
  readonly bootstrapSecret?: Secret
  /** `{base_url}` for claim URLs. */
  readonly baseUrl: string
  readonly now?: () => number
}

export function openPrincipals(options: PrincipalsOptions): Principals {
  return new PrincipalsOfStore(options)
}

class PrincipalsOfStore implements Principals {
  readonly #options: PrincipalsOptions
  readonly #now: () => number
  readonly #claims: Claims
  readonly #registrations: Registrations
  readonly #lastUse: SparseWrites

  constructor(options: PrincipalsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#claims = new Claims({ ...options, now: this.#now })
    this.#registrations = new Registrations({ audit: options.audit, now: this.#now, owner: (tx) => this.#owner(tx) })
    this.#lastUse = new SparseWrites(this.#now)
  }

  async authenticate(proof: Proof): Promise<Actor> {
    await this.#claimProof(proof)
    const { db } = this.#options.store
    const row = await actingIdentity(db, { handle: proof.handle })
    if (!row) throw unknownSigner()
    if (row.principal_id === null || row.vault_id === null || row.role === null) {
      if (row.did !== proof.issuer) throw unknownSigner()
      throw await this.#notClaimed(row.handle)
    }
    const identity: Actor = {
      identity: row.handle,
      did: row.did,
      principalId: row.principal_id,
      vaultId: row.vault_id,
      role: row.role,
    }
    const actor = row.did === proof.issuer ? identity : await runActor(db, identity, proof.issuer, this.#now())
    this.#lastUse.note(row.handle, (last_used_at) =>
      db.updateTable('identities').set({ last_used_at }).where('handle', '=', row.handle).execute(),
    )
    return actor
  }

  async #claimProof(proof: Proof): Promise<void> {
    const key = hash('sha256', `${proof.issuer} ${proof.jti}`, 'base64url')
    if (!(await this.#options.store.replay.claim({ key, issuedAt: proof.issuedAt, deadUntil: proof.deadUntil }))) {
      throw new BrokerError('AuthenticationFailedError', 'The proof of possession is refused: it was used before')
    }
  }

  async #notClaimed(handle: string): Promise<BrokerError> {
    const { url } = await this.#claims.open(handle)
    return new BrokerError('IdentityNotClaimedError', `The identity "${handle}" is not claimed yet`, {
      hint: `Its owner claims it at ${url}`,
      claimUrl: url,
    })
  }

  async register(
    proof: Proof,
    wanted: { handle: string; did: string },
    { source, bootstrap }: Registrant,
  ): Promise<Registered> {
    if (proof.issuer !== wanted.did || proof.handle !== wanted.handle) {
      throw new BrokerError('AuthenticationFailedError', 'A registration must be signed by the key it registers')
    }
    await this.#claimProof(proof)
    const by = this.#isOwner(bootstrap) ? 'owner' : { source }
    const isNew = await this.#options.store.transaction((tx) => this.#registrations.add(tx, wanted, by))
    return { registration: await this.#registration(wanted.handle), isNew }
  }

  #isOwner(bootstrap: Secret | undefined): boolean {
    if (bootstrap === undefined) return false
    const { bootstrapSecret } = this.#options
    if (!bootstrapSecret || !sameSecret(bootstrap, bootstrapSecret)) {
      throw new BrokerError('AuthenticationFailedError', 'The bootstrap secret is not the one of this daemon')
    }
    return true
  }

  /** The local owner has no account: nobody else is without one. Made the first time somebody proves to be it. */
  async #owner(tx: Db): Promise<string> {
    const owner = await tx
      .selectFrom('principals')
      .leftJoin('accounts', 'accounts.principal_id', 'principals.id')
      .select('principals.id')
      .where('accounts.principal_id', 'is', null)
      .executeTakeFirst()
    return owner?.id ?? this.create(tx, 'admin')
  }

  async create(tx: Db, role: Actor['role']): Promise<string> {
    const created_at = new Date(this.#now()).toISOString()
    const principal = { id: randomUUID(), role, vault_id: randomUUID(), created_at }
    await tx.insertInto('principals').values(principal).execute()
    await this.#options.vault.create(tx, principal.vault_id)
    return principal.id
  }

  claim(token: string): Promise<ClaimView | undefined> {
    return this.#claims.view(token)
  }

  confirmClaim(actor: Actor, token: string, code?: string): Promise<ClaimView> {
    return this.#claims.confirm(actor, token, code)
  }

  async #registration(handle: string): Promise<Registration> {
    const row = await identityRow(this.#options.store.db, handle)
    if (row.principal_id !== null) {
      return { identity: handle, did: row.did, status: 'claimed', principal_id: row.principal_id }
    }
    const { url, expiresAt } = await this.#claims.open(handle)
    return { identity: handle, did: row.did, status: 'claim_required', claim_url: url, expires_at: expiresAt }
  }

  async identityOf(proof: Proof): Promise<Identity> {
    await this.#claimProof(proof)
    const row = await findIdentity(this.#options.store.db, proof.handle)
    if (row?.did !== proof.issuer) throw unknownSigner()
    return identityOf(row)
  }

  async list(actor: Actor): Promise<readonly Identity[]> {
    const rows = await this.#options.store.db
      .selectFrom('identities')
      .selectAll()
      .where('principal_id', '=', actor.principalId)
      .orderBy('handle')
      .execute()
    return rows.map(identityOf)
  }

  async setLabel(actor: Actor, handle: string, label: string | undefined): Promise<void> {
    const { numUpdatedRows } = await this.#options.store.db
      .updateTable('identities')
      .set({ label: label ?? null })
      .where('handle', '=', handle)
      .where('principal_id', '=', actor.principalId)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw noSuchIdentity(handle)
  }

  async remove(actor: Actor, handle: string): Promise<void> {
    await this.#options.store.transaction(async (tx) => {
      const { numDeletedRows } = await tx
        .deleteFrom('identities')
        .where('handle', '=', handle)
        .where('principal_id', '=', actor.principalId)
        .executeTakeFirstOrThrow()
      if (numDeletedRows === 0n) throw noSuchIdentity(handle)
      await this.#options.audit.record(tx, actor, {
        event: 'identity.removed',
        status: 'success',
        reason: `identity ${handle}`,
      })
    })
  }

  startRun(actor: Actor, wanted: StartRun): Promise<Run> {
    return startRun(this.#options, actor, wanted, this.#now())
  }

  endRun(actor: Actor, runId: string, exitCode: number | undefined): Promise<void> {
    return endRun(this.#options, actor, runId, { exitCode, now: this.#now() })
  }
}

const actingIdentity = preparedQuery(['handle'], (db, { handle }: Pick<IdentityRow, 'handle'>) =>
  db
    .selectFrom('identities')
    .leftJoin('principals', 'principals.id', 'identities.principal_id')
    .select([
      'identities.handle',
      'identities.did',
      'identities.principal_id',
      'principals.vault_id',
      'principals.role',
    ])
    .where('identities.handle', '=', handle),
)

function findIdentity(db: Db, handle: string): Promise<IdentityRow | undefined> {
  return db.selectFrom('identities').selectAll().where('handle', '=', handle).executeTakeFirst()
}

async function identityRow(db: Db, handle: string): Promise<IdentityRow> {
  const row = await findIdentity(db, handle)
  if (!row) throw noSuchIdentity(handle)
  return row
}

function identityOf(row: IdentityRow): Identity {
  return {
    identity: row.handle,
    did: row.did,
    status: row.principal_id === null ? 'claim_required' : 'claimed',
    created_at: row.created_at,
    ...(row.last_used_at !== null && { last_used_at: row.last_used_at }),
    ...(row.label !== null && { label: row.label }),
  }
}

// Compared as hashes, so that neither content nor length can be measured.
function sameSecret(one: Secret, other: Secret): boolean {
  const digest = (secret: Secret) => createHash('sha256').update(secret.reveal()).digest()
  return timingSafeEqual(digest(one), digest(other))
}

// One message for a handle nobody has, one that was removed and one of another key: none of them can be told apart.
function unknownSigner(): BrokerError {
  return new BrokerError('AuthenticationFailedError', 'The signer is not a registered identity', {
    hint: 'Run `broker onboard`.',
  })
}

function noSuchIdentity(handle: string): BrokerError {
  return new BrokerError('NotFoundError', `There is no identity "${handle}"`)
}
