import { BrokerError } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Db } from '../store/index.ts'

interface RegistrationsOptions {
  readonly audit: Audit
  readonly now: () => number
  /** The principal of the local owner. */
  readonly owner: (tx: Db) => Promise<string>
}

/** As long as six claims in a row. */
const UNCLAIMED_LIFETIME_MS = 60 * 60 * 1000
const MAX_UNCLAIMED = 50

/** Written when an identity comes to belong to somebody: before, it is nobody's business. */
export const IDENTITY_REGISTERED = { event: 'identity.registered', status: 'success' } as const

/** Identities as they come in: each handle and key once, and only so many that nobody claimed. */
export class Registrations {
  readonly #options: RegistrationsOptions

  constructor(options: RegistrationsOptions) {
    this.#options = options
  }

  /**
   * Takes in an identity, claimed at once for the owner. False where the same handle and key were there before.
   * @throws BrokerError OperationNotAllowedError (409) where either is another's; RateLimitedError
   */
  async add(tx: Db, { handle, did }: { handle: string; did: string }, isOwner: boolean): Promise<boolean> {
    const taken = await tx
      .selectFrom('identities')
      .selectAll()
      .where((eb) => eb.or([eb('handle', '=', handle), eb('did', '=', did)]))
      .execute()
    const run = await tx.selectFrom('runs').select('id').where('did', '=', did).executeTakeFirst()
    if (run) throw identityTaken(handle)
    const same = taken.find((row) => row.handle === handle && row.did === did)
    if (taken.length > (same ? 1 : 0)) throw identityTaken(handle)
    if (!same && !isOwner) await this.#makeRoom(tx)
    if (!same) await this.#insertIdentity(tx, handle, did)
    if (isOwner && !same?.principal_id) await this.#claimForOwner(tx, handle)
    return !same
  }

  /** Anyone may ask to be claimed: what nobody claimed goes, and there is an end to how many may wait. */
  async #makeRoom(tx: Db): Promise<void> {
    const abandoned = new Date(this.#options.now() - UNCLAIMED_LIFETIME_MS).toISOString()
    await tx.deleteFrom('identities').where('principal_id', 'is', null).where('created_at', '<', abandoned).execute()
    const { waiting } = await tx
      .selectFrom('identities')
      .select((eb) => eb.fn.countAll<number>().as('waiting'))
      .where('principal_id', 'is', null)
      .executeTakeFirstOrThrow()
    if (Number(waiting) < MAX_UNCLAIMED) return
    throw new BrokerError('RateLimitedError', 'Too many identities wait to be claimed', {
      hint: 'Claim one, or try again later.',
      retryAfter: 60,
    })
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
