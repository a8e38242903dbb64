import type { Actor } from '../../protocol/index.ts'
import type { Audit, AuditActor } from '../audit/index.ts'
import type { Db, Store } from '../store/index.ts'
import type { Vault } from '../vault/index.ts'

export interface RotationsOptions {
  readonly store: Store
  readonly vault: Vault
  readonly audit: Pick<Audit, 'record'>
  /** Told of one that cannot go on now; it is tried again. */
  readonly onFailure: (error: unknown) => void
}

/** How often a daemon looks for what another one, or one before it, has left unfinished. */
const LOOK_EVERY_MS = 60_000

/** Vaults whose records are sealed anew in the background. What is to be done stands in the store alone. */
export class Rotations {
  readonly #options: RotationsOptions
  /** Who asked this daemon, by vault. */
  readonly #askedBy = new Map<string, AuditActor>()
  readonly #timer: NodeJS.Timeout
  #working: Promise<void> | undefined
  #isClosing = false

  constructor(options: RotationsOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.goOn(), LOOK_EVERY_MS).unref()
    this.goOn()
  }

  /** @returns the term of the new key of the actor's own vault */
  async begin(actor: Actor): Promise<number> {
    const { store, vault } = this.#options
    await vault.requireWhole(actor.vaultId)
    const begin = (vaultId: string) => store.vaultTransaction(vaultId, (tx) => vault.rotate(tx, vaultId))
    const term = await begin(actor.vaultId)
    this.#askedBy.set(actor.vaultId, actor)
    if (actor.role === 'admin') {
      for (const vaultId of await vault.ids()) {
        if (vaultId !== actor.vaultId) await begin(vaultId)
        this.#askedBy.set(vaultId, actor)
      }
    }
    this.goOn()
    return term
  }

  /** Takes up what is unfinished, as far as the vault is open. */
  goOn(): void {
    if (this.#isClosing || this.#working !== undefined) return
    this.#working = this.#work()
      .catch(this.#options.onFailure)
      .finally(() => {
        this.#working = undefined
      })
  }

  async #work(): Promise<void> {
    const { vault, onFailure } = this.#options
    // One that holds a damaged record keeps no other waiting.
    for (const vaultId of await vault.unfinishedRotations()) await this.#finish(vaultId).catch(onFailure)
  }

  async #finish(vaultId: string): Promise<void> {
    for (let left = 'more'; left === 'more' && !this.#isClosing; ) {
      left = await this.#options.vault.sealSomeAnew(vaultId, (tx) => this.#tell(tx, vaultId))
    }
  }

  async #tell(tx: Db, vaultId: string): Promise<void> {
    const actor = this.#askedBy.get(vaultId) ?? { identity: '(daemon)', principalId: '(nobody)' }
    const principalId = (await this.#options.vault.principalOf(tx, vaultId)) ?? actor.principalId
    const agent = actor.principalId === principalId ? {} : { agentPrincipalId: actor.principalId }
    const event = {
      event: 'vault.rotated',
      status: 'success',
      reason: 'every record is under the new data key',
    } as const
    await this.#options.audit.record(tx, { ...actor, principalId, ...agent }, event)
    this.#askedBy.delete(vaultId)
  }

  /** Lets go between two batches. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#timer)
    await this.#working
  }
}
