import { BrokerError } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Db } from '../store/index.ts'
import { Unclaimed } from './unclaimed.ts'

interface RegistrationsOptions {
  readonly audit: Audit
  readonly now: () => number
  /** The principal of the local owner. */
  readonly owner: (tx: Db) => Promise<string>
}

/** Who registers: whoever proved to be the local owner, or anybody. */
export type RegisteredBy = 'owner' | { readonly source: string }

/** Written when an identity comes to belong to somebody: before, it is nobody's business. */
export const IDENTITY_REGISTERED = { event: 'identity.registered', status: 'success' } as const

/** Identities as they come in: each handle and key once, and of one source only so many that nobody claimed. */
export class Registrations {
  readonly #options: RegistrationsOptions
  readonly #unclaimed: Unclaimed

  constructor(options: RegistrationsOptions) {
    this.#options = options
    this.#unclaimed = new Unclaimed(options.now)
  }

  /**
   * Takes in an identity, claimed at once for the owner. False where the same handle and key were there before.
   * @throws BrokerError OperationNotAllowedError (409) where either is another's; RateLimitedError
   */
  async add(tx: Db, { handle, did }: { handle: string; did: string }, by: RegisteredBy): Promise<boolean> {
    const taken = await tx
      .selectFrom('identities')
      .selectAll()
      .where((eb) => eb.or([eb('handle', '=', handle), eb('did', '=', did)]))
      .execute()
    const run = await tx.selectFrom('runs').select('id').where('did', '=', did).executeTakeFirst()
    if (run) throw identityTaken(handle)
    const same = taken.find((row) => row.handle === handle && row.did === did)
    if (taken.length > (same ? 1 : 0)) throw identityTaken(handle)
    if (!same && by !== 'owner') await this.#unclaimed.admit(tx, did, by.source)
    if (!same) await this.#insertIdentity(tx, handle, did)
    if (by === 'owner' && !same?.principal_id) await this.#claimForOwner(tx, handle)
    return !same
  }

  async #insertIdentity(tx: Db, handle: string, did: string): Promise<void> {
    const row = {
      handle,
      did,
      principal_id: null,
      created_at: new Date(this.#options.now()).toISOString(),
      last_used_at: null,
      label: null,
    }
    await tx.insertInto('identities').values(row).execute()
  }

  async #claimForOwner(tx: Db, handle: string): Promise<void> {
    const principalId = await this.#options.owner(tx)
    await tx.updateTable('identities').set({ principal_id: principalId }).where('handle', '=', handle).execute()
    const actor = { identity: handle, principalId }
    await this.#options.audit.record(tx, actor, IDENTITY_REGISTERED)
    await this.#options.audit.record(tx, actor, { event: 'identity.claimed', status: 'success' })
  }
}

function identityTaken(handle: string): BrokerError {
  return new BrokerError('OperationNotAllowedError', `Cannot register "${handle}": the handle or the key is taken`, {
    hint: 'Choose another handle: `broker agent create <handle>`.',
    httpStatus: 409,
  })
}
