import { type Actor, BrokerError, type EncryptionSource, type Secret } from '../../protocol/index.ts'
import type { VaultState } from '../../schemas/index.ts'
import type { Audit, AuditActor, InternalEvent } from '../audit/index.ts'
import type { Rights } from '../rights/index.ts'
import type { Store } from '../store/index.ts'
import { type GivenKey, UNLOCK_HINT, type Vault } from '../vault/index.ts'
import { Rotations } from './rotations.ts'

export interface Keys {
  /** @throws BrokerError DaemonUnavailableError while the vault is sealed */
  requireOpen(): void
  /** Notes that somebody uses the daemon: it does not lock itself for a while. */
  used(): void
  status(vaultId: string | undefined): Promise<VaultState>
  lock(actor: Actor): Promise<void>
  /**
   * Opens the vault of this daemon.
   * @throws BrokerError AuthenticationFailedError for another passphrase, and where the operator alone may do it;
   *   DaemonUnavailableError where the key cannot be had
   */
  unlock(given: GivenToUnlock): Promise<void>
  /**
   * Begins to seal everything of the actor's vault under a new data key, of every vault where that is an admin; it goes on
   * by itself, also after a restart. Returns the term of the key.
   */
  rotate(actor: Actor): Promise<number>
  /** @throws BrokerError as {@link Vault.rekey} */
  rekey(actor: Actor, to: EncryptionSource, given: GivenKey): Promise<void>
  /** Ends what goes on by itself. */
  close(): Promise<void>
}

/** What whoever unlocks has: the passphrase of the vault, or the secret of the daemon's home. */
interface GivenToUnlock {
  readonly passphrase?: Secret
  readonly operator?: Secret
}

export interface KeysOptions {
  readonly store: Store
  readonly vault: Vault
  readonly rights: Pick<Rights, 'open' | 'forget'>
  readonly audit: Audit
  /** Of the daemon's home: stands for its user. */
  readonly operatorSecret: Secret
  /** After this time without use the vault is locked, in milliseconds; never where absent. */
  readonly autoLockMs?: number
  /** Told of a lock that nobody waited for and that failed. */
  readonly onFailure: (error: unknown) => void
}

/** Whose such events are: no principal can be believed while the vault is sealed. */
const NOBODY = '(nobody)'

export function openKeys(options: KeysOptions): Keys {
  return new KeysOfVault(options)
}

class KeysOfVault implements Keys {
  readonly #options: KeysOptions
  readonly #idle: NodeJS.Timeout | undefined
  readonly #rotations: Rotations

  constructor(options: KeysOptions) {
    this.#options = options
    const { autoLockMs } = options
    this.#rotations = new Rotations(options)
    if (autoLockMs !== undefined) this.#idle = setTimeout(() => this.#lockIdle(), autoLockMs).unref()
  }

  requireOpen(): void {
    this.#options.vault.requireOpen()
  }

  used(): void {
    this.#idle?.refresh()
  }

  async status(vaultId: string | undefined): Promise<VaultState> {
    const { vault } = this.#options
    const standing = await vault.standing(vaultId)
    const rotating = vaultId === undefined ? 0 : await vault.leftToSeal(vaultId)
    return { ...standing, ...(rotating > 0 && { rotating }) }
  }

  rotate(actor: Actor): Promise<number> {
    return this.#rotations.begin(actor)
  }

  async rekey(actor: Actor, to: EncryptionSource, given: GivenKey): Promise<void> {
    const { vault, rights, audit } = this.#options
    await vault.rekey(to, given, async (tx) => {
      await audit.record(tx, actor, { event: 'vault.rekeyed', status: 'success', reason: `the key is in ${to} now` })
      return { newestRoot: await audit.newestRoot(tx) }
    })
    await rights.open()
  }

  lock(actor: Actor): Promise<void> {
    return this.#lock(actor)
  }

  #lockIdle(): void {
    this.#lock({ identity: '(daemon)', principalId: NOBODY }, 'nobody used it').catch(this.#options.onFailure)
  }

  async #lock(actor: AuditActor, reason?: string): Promise<void> {
    const { vault, rights, audit } = this.#options
    if (vault.status().kind === 'sealed') return
    const event = { event: 'vault.locked', status: 'success', ...(reason !== undefined && { reason }) } as const
    await audit.recordAll([{ actor, event }], 'flushed')
    await vault.lock()
    rights.forget()
  }

  async unlock(given: GivenToUnlock): Promise<void> {
    const { vault, rights } = this.#options
    if (vault.status().kind === 'open') return
    const who = await this.#whoUnlocks(given)
    const found = await vault.unlockFor(given.passphrase).catch(async (error: unknown) => {
      if (error instanceof BrokerError && error.name === 'AuthenticationFailedError')
        await this.#tell(who, { status: 'failure', reason: 'another passphrase' })
      throw error
    })
    if (found.kind === 'sealed') throw stillSealed(found)
    this.used()
    await rights.open()
    this.#rotations.goOn()
    await this.#tell(who, { status: 'success' })
  }

  /** @throws BrokerError where nothing that was given proves anything */
  async #whoUnlocks({ passphrase, operator }: GivenToUnlock): Promise<string> {
    const { vault, operatorSecret } = this.#options
    if (operatorSecret.equals(operator)) return '(operator)'
    const status = vault.status()
    const { source } = await vault.standing(undefined)
    // A passphrase is a proof where the key is under one.
    if (source !== 'passphrase' || status.kind === 'open' || status.waits === 'first passphrase') throw onlyOperator()
    if (passphrase === undefined) throw passphraseMissing('passphrase')
    return '(passphrase)'
  }

  #tell(identity: string, about: Pick<InternalEvent, 'status' | 'reason'>): Promise<void> {
    const actor = { identity, principalId: NOBODY }
    return this.#options.audit.recordAll([{ actor, event: { event: 'vault.unlocked', ...about } }], 'flushed')
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#rotations.close()
  }
}

type SealedVault = Extract<ReturnType<Vault['status']>, { readonly kind: 'sealed' }>

function stillSealed({ waits, cause }: SealedVault): BrokerError {
  if (waits !== 'key') return passphraseMissing(waits)
  return new BrokerError('DaemonUnavailableError', `The vault is sealed: ${cause}`, { hint: UNLOCK_HINT.key })
}

function passphraseMissing(waits: keyof typeof UNLOCK_HINT): BrokerError {
  const isFirst = waits === 'first passphrase'
  return new BrokerError('InvalidRequestError', `The vault waits for ${isFirst ? 'its first' : 'its'} passphrase`, {
    hint: UNLOCK_HINT[waits],
    details: [{ path: 'passphrase', message: isFirst ? 'must be chosen' : 'must be given' }],
  })
}

function onlyOperator(): BrokerError {
  return new BrokerError('AuthenticationFailedError', 'This vault is opened by who runs the daemon', {
    hint: 'Run `broker unlock` on its machine, as the user and with the BROKER_HOME that it runs with.',
  })
}
