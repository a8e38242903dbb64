import { randomUUID } from 'node:crypto'
import { BrokerError } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Rights } from '../rights/index.ts'
import type { Db, IdentityRow } from '../store/index.ts'
import { Unclaimed } from './unclaimed.ts'

interface RegistrationsOptions {
  readonly audit: Audit
  readonly rights: Rights
  readonly now: () => number
  /** The principal of the local owner. */
  readonly owner: (tx: Db) => Promise<string>
}

/** Who registers: whoever proved to be the local owner, or anybody. */
export type RegisteredBy = 'owner' | { readonly source: string }

/** Written when an identity comes to belong to somebody: before, it is nobody's business. */
export const IDENTITY_REGISTERED = { event: 'identity.registered', status: 'success' } as const

/** Identities as they come in: each key once, each handle once for a principal, and of one source only so many that nobody claimed. */
export class Registrations {
  readonly #options: RegistrationsOptions
  readonly #unclaimed: Unclaimed

  constructor(options: RegistrationsOptions) {
    this.#options = options
    this.#unclaimed = new Unclaimed(options.now)
  }

  /**
   * Takes in an identity, claimed at once for the owner. False where the same handle and key were there before.
   * @throws BrokerError ConflictError where the key is another's, or the owner has the handle; RateLimitedError
   */
  async add(tx: Db, { handle, did }: { handle: string; did: string }, by: RegisteredBy): Promise<boolean> {
    const run = await tx.selectFrom('runs').select('id').where('did', '=', did).executeTakeFirst()
    if (run) throw identityTaken(handle)
    const same = await this.#believed(tx, did)
    if (same && same.handle !== handle) throw identityTaken(handle)
    if (!same && by !== 'owner') await this.#unclaimed.admit(tx, did, by.source)
    const identity = same ?? this.#newIdentity(handle, did)
    if (by === 'owner' && identity.principal_id === null) await this.#claimForOwner(tx, identity)
    else if (!same)
      await tx.insertInto('identities').values(this.#options.rights.seal('identities', identity)).execute()
    return !same
  }

  /** The identity of the key. A row that another hand wrote goes: its key is here to say who it is. */
  async #believed(tx: Db, did: string): Promise<IdentityRow | undefined> {
    const { rights } = this.#options
    const row = await tx.selectFrom('identities').selectAll().where('did', '=', did).executeTakeFirst()
    if (!row) return undefined
    const { principal_id: principalId } = row
    const evidence = { principalId, generation: null, rows: [{ table: 'identities' as const, row }] }
    if (await rights.speaksFor(tx, evidence)) return row
    // Of a store that was restored, the list may be older than the row: then it is the list that is to be put right.
    if (principalId !== null && rights.isGenuine({ table: 'identities', row }))
      await rights.requireList(tx, principalId)
    await tx.deleteFrom('identities').where('id', '=', row.id).execute()
    return undefined
  }

  #newIdentity(handle: string, did: string): IdentityRow {
    const created_at = new Date(this.#options.now()).toISOString()
    return { id: randomUUID(), handle, did, principal_id: null, created_at, last_used_at: null, label: null, mac: null }
  }

  async #claimForOwner(tx: Db, identity: IdentityRow): Promise<void> {
    const principalId = await this.#options.owner(tx)
    await attach(tx, this.#options.rights, identity, principalId)
    const actor = { identity: identity.handle, principalId }
    await this.#options.audit.record(tx, actor, IDENTITY_REGISTERED)
    await this.#options.audit.record(tx, actor, { event: 'identity.claimed', status: 'success' })
  }
}

/** Makes the identity the principal's. @throws BrokerError ConflictError where the principal has another of its handle */
export async function attach(tx: Db, rights: Rights, identity: IdentityRow, principalId: string): Promise<void> {
  const other = await tx
    .selectFrom('identities')
    .select('id')
    .where('handle', '=', identity.handle)
    .where('principal_id', '=', principalId)
    .executeTakeFirst()
  if (other) throw handleTaken(identity.handle)
  const row = await rights.enter(tx, principalId, {
    table: 'identities',
    row: { ...identity, principal_id: principalId },
  })
  await tx
    .insertInto('identities')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ principal_id: principalId, mac: row.mac }))
    .execute()
}

function handleTaken(handle: string): BrokerError {
  return new BrokerError('ConflictError', `Cannot take "${handle}": there is an agent of that name already`, {
    hint: 'Remove that one, or choose another handle: `broker agent create <handle>`.',
  })
}

function identityTaken(handle: string): BrokerError {
  return new BrokerError('ConflictError', `Cannot register "${handle}": the key is taken`, {
    hint: 'Make an agent with a key of its own: `broker agent create <handle>`.',
  })
}
