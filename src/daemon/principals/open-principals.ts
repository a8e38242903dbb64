import { hash, randomUUID } from 'node:crypto'
import type { Proof } from '../../identity/index.ts'
import { type Actor, BrokerError, type Secret } from '../../protocol/index.ts'
import type { Identity, Registration, Run, StartRun } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Rights } from '../rights/index.ts'
import { type Db, type IdentityRow, LastUses, type Store } from '../store/index.ts'
import type { Vault } from '../vault/index.ts'
import { type ActingRow, actorOf, evidenceOf, identityByDid, writeLastUses } from './acting-rows.ts'
import { Claims, type ClaimView } from './claims.ts'
import { Registrations } from './registrations.ts'
import { RemovedAgents } from './removed-agents.ts'
import { endLostRuns, noteChannels } from './run-channels.ts'
import { carryRunsOver, endRun, runActor, startRun } from './runs.ts'

export interface Principals {
  /**
   * Returns who signed, once the proof is known to be used for the first time.
   * @throws BrokerError AuthenticationFailedError, or IdentityNotClaimedError with the claim's URL
   */
  authenticate(proof: Proof): Promise<Actor>
  /**
   * The same where the answer may also be that nothing can be believed now: the vault is sealed, or another hand wrote
   * what belongs to the signer's principal.
   */
  authenticateOrSuspend(proof: Proof): Promise<Actor | Suspended>
  /**
   * Registers the key that signed the proof. The local owner's bootstrap secret claims it at once.
   * @throws BrokerError ConflictError where the key is another's, or the owner has the handle; RateLimitedError where too
   *   many of the same source wait to be claimed
   */
  register(proof: Proof, wanted: { handle: string; did: string }, from: Registrant): Promise<Registered>
  /** Makes a principal with an empty vault for an account, and returns its id. The first is an admin. */
  create(tx: Db): Promise<{ readonly principalId: string; readonly role: Actor['role'] }>
  /** Ends every browser session and link of the principal, and no run; the epoch that new ones belong to. */
  beginEpoch(tx: Db, principalId: string): Promise<number>
  /** Returns what a claim's link leads to. Undefined where it was used, is too old, or never was. */
  claim(token: string): Promise<ClaimView | undefined>
  /**
   * Attaches the claimed identity to the actor's principal, once.
   * @param code what the person saw, where the caller has it: another one is refused, and a few of them end the claim
   * @throws BrokerError NotFoundError where the claim is over, OperationNotAllowedError for another code, ConflictError
   *   where the principal has an identity of this handle
   */
  confirmClaim(actor: Actor, token: string, code?: string): Promise<ClaimView>
  /**
   * Puts back the rows that another hand changed, and takes lists that a restored backup made older: all for an admin and
   * for whoever has the bootstrap secret, without which nobody who is suspended may.
   * @throws BrokerError AuthenticationFailedError, OperationNotAllowedError
   */
  restore(who: Actor | Suspended, bootstrap?: Secret): Promise<Restored>
  /** One's own identity, claimed or not. */
  identityOf(proof: Proof): Promise<Identity>
  list(actor: Actor): Promise<readonly Identity[]>
  /** Returns what people see beside its handle; undefined for none. @throws BrokerError NotFoundError as {@link remove} */
  setLabel(actor: Actor, handle: string, label: string | undefined): Promise<void>
  /** @throws BrokerError NotFoundError where it is none of the actor's principal. */
  remove(actor: Actor, handle: string): Promise<void>
  startRun(actor: Actor, wanted: StartRun): Promise<Run>
  endRun(actor: Actor, runId: string, exitCode: number | undefined): Promise<void>
  /**
   * The actor of a run as it is by now: for a run that signed once and goes on asking.
   * @throws BrokerError AuthenticationFailedError where it has ended, or its agent was removed
   */
  ofRun(actor: Actor): Promise<Actor>
  /** Notes that this daemon has the channels of these runs: each lives for 30 s more. */
  noteChannels(runIds: readonly string[]): Promise<void>
  /** Ends the runs whose channel no daemon has had for 30 s. @param held those that this daemon has */
  endLostRuns(held: ReadonlySet<string>): Promise<void>
}

/** Who signed with a key that was registered, while the store cannot be believed. */
export interface Suspended {
  /** Why, one sentence. */
  readonly suspended: string
  readonly isSealed: boolean
  readonly signer: Pick<Proof, 'handle' | 'issuer'>
  /** Of the signer's principal, as the store says and nobody can know; absent where the identity is not claimed. */
  readonly vaultId?: string
}

interface Restored {
  readonly actor: Actor
  /** What was done, as sentences. */
  readonly done: readonly string[]
}

interface Registrant {
  /** Where the request comes from. */
  readonly source: string
  readonly bootstrap?: Secret
}

interface Registered {
  readonly registration: Registration
  /** False where the same handle and key were registered before. */
  readonly isNew: boolean
}

export interface PrincipalsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly vault: Vault
  readonly rights: Rights
  /** Undefined where the daemon is hosted: nobody is the owner of its machine. */
  readonly bootstrapSecret?: Secret
  /** `{base_url}` for claim URLs. */
  readonly baseUrl: string
  /** Whether runs may trust roots, and dial addresses, that are not their machine's own; they may where absent. */
  readonly overrides?: 'allow' | 'forbid'
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
  readonly #removed: RemovedAgents
  readonly #lastUses: LastUses<{ readonly id: string }>

  constructor(options: PrincipalsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#claims = new Claims({ ...options, now: this.#now })
    this.#registrations = new Registrations({ ...options, now: this.#now, owner: (tx) => this.#owner(tx) })
    this.#removed = new RemovedAgents({ ...options, now: this.#now })
    const { db, dialect } = options.store
    this.#lastUses = new LastUses({ dialect, now: this.#now, write: (rows) => writeLastUses(db, dialect, rows) })
  }

  async authenticate(proof: Proof): Promise<Actor> {
    await this.#options.rights.open()
    await this.#claimProof(proof)
    return this.#authenticated(proof)
  }

  async #authenticated({ handle, issuer }: Pick<Proof, 'handle' | 'issuer'>): Promise<Actor> {
    const { rights } = this.#options
    const row = await rights.believe((db) => identityByDid(db, { did: issuer }), evidenceOf)
    if (!row) return this.#ofRun({ handle, issuer })
    if (row.handle !== handle) throw unknownSigner()
    const actor = actorOf(row)
    if (!actor) throw await this.#notClaimed(row)
    this.#noteUse(actor)
    return actor
  }

  async #ofRun({ handle, issuer }: Pick<Proof, 'handle' | 'issuer'>): Promise<Actor> {
    const actor = await runActor(this.#options, { handle, issuer, now: this.#now() })
    if (!actor) {
      await this.#removed.noteTry(handle, issuer)
      throw unknownSigner()
    }
    this.#noteUse(actor)
    return actor
  }

  ofRun({ identity: handle, did: issuer = '' }: Actor): Promise<Actor> {
    return this.#ofRun({ handle, issuer })
  }

  noteChannels(runIds: readonly string[]): Promise<void> {
    return noteChannels({ ...this.#options, now: this.#now }, runIds)
  }

  endLostRuns(held: ReadonlySet<string>): Promise<void> {
    return endLostRuns({ ...this.#options, now: this.#now }, held)
  }

  #noteUse({ identityId }: Actor): void {
    if (identityId !== undefined) this.#lastUses.note(identityId, { id: identityId })
  }

  async authenticateOrSuspend(proof: Proof): Promise<Actor | Suspended> {
    await this.#claimProof(proof)
    const { store, vault } = this.#options
    const status = await vault.unlock()
    const row = await identityByDid(store.db, { did: proof.issuer })
    const isKnown = row !== undefined && row.handle === proof.handle
    if (status.kind === 'sealed') {
      if (!isKnown) throw unknownSigner()
      return {
        suspended: `The vault is sealed: ${status.cause}.`,
        isSealed: true,
        signer: proof,
        ...(row.vault_id !== null && { vaultId: row.vault_id }),
      }
    }
    const cause = isKnown ? await this.#whySuspended(row) : undefined
    return cause === undefined ? this.#authenticated(proof) : { suspended: cause, isSealed: false, signer: proof }
  }

  async #whySuspended(row: ActingRow): Promise<string | undefined> {
    const { rights } = this.#options
    try {
      await rights.open()
    } catch (error) {
      if (error instanceof BrokerError) return `${error.message}.`
      throw error
    }
    const isOwn = row.principal_id !== null && rights.isGenuine({ table: 'identities', row })
    return isOwn ? rights.whyNot(row.principal_id) : undefined
  }

  async #claimProof(proof: Proof): Promise<void> {
    const key = hash('sha256', `${proof.issuer} ${proof.jti}`, 'base64url')
    if (!(await this.#options.store.replay.claim({ key, issuedAt: proof.issuedAt, deadUntil: proof.deadUntil }))) {
      throw new BrokerError('AuthenticationFailedError', 'The proof of possession is refused: it was used before')
    }
  }

  async #notClaimed({ id, handle }: ActingRow): Promise<BrokerError> {
    const { url } = await this.#claims.open(id)
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
    await this.#options.rights.open()
    await this.#claimProof(proof)
    const by = this.#isOwner(bootstrap) ? 'owner' : { source }
    const isNew = await this.#options.store.transaction((tx) => this.#registrations.add(tx, wanted, by))
    return { registration: await this.#registration(wanted), isNew }
  }

  #isOwner(bootstrap: Secret | undefined): boolean {
    if (bootstrap === undefined) return false
    const { bootstrapSecret } = this.#options
    if (!bootstrapSecret || !bootstrap.equals(bootstrapSecret)) {
      throw new BrokerError('AuthenticationFailedError', 'The bootstrap secret is not the one of this daemon')
    }
    return true
  }

  /** Made the first time somebody proves to be it. */
  async #owner(tx: Db): Promise<string> {
    const { localOwner } = await this.#options.rights.principals(tx)
    return localOwner ?? this.#create(tx, { role: 'admin', local_owner: 1 })
  }

  async create(tx: Db): Promise<{ readonly principalId: string; readonly role: Actor['role'] }> {
    const role = (await this.#options.rights.principals(tx)).hasOthers ? 'user' : 'admin'
    return { principalId: await this.#create(tx, { role, local_owner: 0 }), role }
  }

  async #create(tx: Db, kind: { readonly role: Actor['role']; readonly local_owner: 0 | 1 }): Promise<string> {
    const { rights, vault } = this.#options
    const created_at = new Date(this.#now()).toISOString()
    const principal = { id: randomUUID(), vault_id: randomUUID(), created_at, epoch: 0, ...kind }
    await tx
      .insertInto('principals')
      .values(await rights.found(tx, principal))
      .execute()
    await vault.create(tx, principal.vault_id)
    return principal.id
  }

  async beginEpoch(tx: Db, principalId: string): Promise<number> {
    const { rights } = this.#options
    const before = await tx.selectFrom('principals').selectAll().where('id', '=', principalId).executeTakeFirstOrThrow()
    const evidence = { principalId, generation: null, rows: [{ table: 'principals' as const, row: before }] }
    if (!(await rights.speaksFor(tx, evidence))) throw unknownSigner()
    const epoch = before.epoch + 1
    const { mac } = await rights.enter(tx, principalId, { table: 'principals', row: { ...before, epoch } })
    await tx.updateTable('principals').set({ epoch, mac }).where('id', '=', principalId).execute()
    await carryRunsOver(tx, rights, { principalId, epoch, now: this.#now() })
    return epoch
  }

  claim(token: string): Promise<ClaimView | undefined> {
    return this.#claims.view(token)
  }

  confirmClaim(actor: Actor, token: string, code?: string): Promise<ClaimView> {
    return this.#claims.confirm(actor, token, code)
  }

  async #registration({ handle, did }: { handle: string; did: string }): Promise<Registration> {
    const row = await this.#identity(did)
    if (!row) throw noSuchIdentity(handle)
    if (row.principal_id !== null) return { identity: handle, did, status: 'claimed', principal_id: row.principal_id }
    const { url, expiresAt } = await this.#claims.open(row.id)
    return { identity: handle, did, status: 'claim_required', claim_url: url, expires_at: expiresAt }
  }

  #identity(did: string): Promise<ActingRow | undefined> {
    return this.#options.rights.believe((db) => identityByDid(db, { did }), evidenceOf)
  }

  async identityOf(proof: Proof): Promise<Identity> {
    await this.#options.rights.open()
    await this.#claimProof(proof)
    const believed = await this.#identity(proof.issuer)
    if (believed?.handle !== proof.handle) throw unknownSigner()
    const row = await this.#options.store.db
      .selectFrom('identities')
      .selectAll()
      .where('id', '=', believed.id)
      .executeTakeFirst()
    if (!row) throw unknownSigner()
    return identityOf(row)
  }

  async list(actor: Actor): Promise<readonly Identity[]> {
    const rows = await this.#options.store.db
      .selectFrom('identities')
      .selectAll()
      .where('principal_id', '=', actor.principalId)
      .orderBy('handle')
      .execute()
    // After the rows: an agent that was removed meanwhile is not shown.
    const listed = await this.#options.rights.listed(actor.principalId)
    return rows.filter((row) => listed.has({ table: 'identities', row })).map(identityOf)
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
      const row = await tx
        .selectFrom('identities')
        .select(['id', 'handle', 'did'])
        .where('handle', '=', handle)
        .where('principal_id', '=', actor.principalId)
        .executeTakeFirst()
      if (!row) throw noSuchIdentity(handle)
      // They go with it.
      const runs = await this.#removed.runsOf(tx, row.id)
      const { numDeletedRows } = await tx.deleteFrom('identities').where('id', '=', row.id).executeTakeFirstOrThrow()
      if (numDeletedRows === 0n) throw noSuchIdentity(handle)
      await this.#removed.record(tx, actor, { ...row, runs })
      await this.#options.rights.withdraw(tx, actor.principalId, 'identities', row.id)
    })
  }

  async restore(who: Actor | Suspended, bootstrap?: Secret): Promise<Restored> {
    const { store, rights, audit } = this.#options
    const isOwner = this.#isOwner(bootstrap)
    await rights.open()
    if ('suspended' in who && !isOwner) throw notYours(who)
    const of = 'suspended' in who || isOwner || who.role === 'admin' ? undefined : who.principalId
    // A hosted daemon has no owner of its machine who could say so.
    const isHosted = this.#options.bootstrapSecret === undefined
    const may = isOwner || isHosted ? 'take older lists' : 'put rows back'
    const done = await store.transaction((tx) => rights.restore(tx, of, may))
    const actor = 'suspended' in who ? await this.#authenticated(who.signer) : who
    if (done.length > 0) {
      const reason = `rows put right: ${done.length}`
      await audit.recordAll([{ actor, event: { event: 'vault.restored', status: 'success', reason } }], 'flushed')
    }
    return { actor, done }
  }

  startRun(actor: Actor, wanted: StartRun): Promise<Run> {
    return startRun(this.#options, actor, wanted, this.#now())
  }

  endRun(actor: Actor, runId: string, exitCode: number | undefined): Promise<void> {
    return endRun(this.#options, actor, runId, { exitCode, now: this.#now() })
  }
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

// One message for a handle nobody has, one that was removed and one of another key: none of them can be told apart.
function unknownSigner(): BrokerError {
  return new BrokerError('AuthenticationFailedError', 'The signer is not a registered identity', {
    hint: 'Run `broker onboard`.',
  })
}

function notYours({ suspended }: Suspended): BrokerError {
  return new BrokerError(
    'OperationNotAllowedError',
    `Only the owner of the daemon's machine can put this right: ${suspended}`,
    {
      hint: 'Run `broker doctor --accept-restore` on the machine of the daemon, as its user.',
    },
  )
}

function noSuchIdentity(handle: string): BrokerError {
  return new BrokerError('NotFoundError', `There is no identity "${handle}"`)
}
