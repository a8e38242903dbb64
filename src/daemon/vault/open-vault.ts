import { createHmac, randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { BrokerError, type EncryptionMode, type EncryptionSource, Secret } from '../../protocol/index.ts'
import { type Db, preparedQuery, type RecordRow, type Store } from '../store/index.ts'
import { open, seal, wiped } from './aead.ts'
import { type Anchor, type AnchorFile, openAnchor } from './anchor.ts'
import { Inspections } from './inspections.ts'
import { checkIntegrity, DATA_KEY_MISSING, type Integrity, opens } from './integrity.ts'
import {
  type DataKey,
  deriveKeys,
  type KeyHierarchy,
  keyIdOf,
  makeDataKey,
  unwrapDataKey,
  wrapDataKey,
} from './key-hierarchy.ts'
import { formerKey, isVault, standingOf, storeFormer, storeWrapped, wrappedMasterKey } from './key-rows.ts'
import { emptyManifest, type Manifest, openManifest, sealManifest, withoutRecord, withRecord } from './manifest.ts'
import { type MasterKey, MasterKeyError, type MasterKeySettings, newMasterKey } from './master-key-source.ts'
import { type OutsideSeals, outsideSeals } from './outside-seals.ts'
import { recordContext } from './record-context.ts'
import { recordedMasterKey } from './recorded-key.ts'
import { auditKeysOfBefore, keepAuditKey, sealUnder } from './rekey.ts'
import { isListName, openRightsSeals, type RightsSeals } from './rights-seals.ts'
import { beginRotation, leftToSeal, type RotationParts, sealSomeAnew, unfinishedRotations } from './rotation.ts'
import { forgetStaged, type GivenKey, removeFormer, settledLate, stageKey } from './staged-key.ts'

/** A record as the store has it. */
export type SealedRecord = Pick<RecordRow, 'version' | 'term' | 'sealed'>

/** What a record holds, and which version of it that is: none is ever used twice. */
export interface OpenedRecord {
  readonly plaintext: Secret
  readonly version: number
}

/** What the vault of a deployment holds. */
type DeploymentKind = 'daemon_key' | 'definition' | 'catalogue'

/** One sealed record: in one vault, of one kind, bound to where its secret may go. */
export interface RecordRef {
  readonly vaultId: string
  readonly kind: 'connection' | 'client' | 'probe' | DeploymentKind
  readonly id: string
}

type VaultStatus =
  | {
      readonly kind: 'open'
      readonly source: EncryptionSource
      readonly backend: string
      readonly warnings: readonly string[]
    }
  /** No key, or not the right one: nothing can be read or written. `cause` is one sentence for people. */
  | { readonly kind: 'sealed'; readonly cause: string; readonly waits: Waiting }

/**
 * What opens a sealed vault: the key it was made with, a passphrase, the first passphrase of one that is not made yet, or,
 * where somebody has locked it, somebody who unlocks it.
 */
type Waiting = 'key' | 'passphrase' | 'first passphrase' | 'unlocking'

/** How a vault stands, as the store says without its key. */
interface VaultStanding {
  readonly sealed: boolean
  readonly source: EncryptionSource
  /** Which data key of the vault is the newest. 0 where there is no vault. */
  readonly term: number
  readonly generation: number
  readonly records: number
}

export interface Vault {
  readonly mode: EncryptionMode
  /** For the rows that say who is who. */
  readonly rights: RightsSeals
  status(): VaultStatus
  /** Tries again to open a sealed vault: a keyring may have been unlocked since. Not one that somebody has locked. */
  unlock(): Promise<VaultStatus>
  /**
   * Opens it for somebody who wants that.
   * @param passphrase where the key is under one, or is to be
   * @throws BrokerError AuthenticationFailedError for another passphrase
   */
  unlockFor(passphrase: Secret | undefined): Promise<VaultStatus>
  /** Forgets every key, until somebody unlocks it. */
  lock(): Promise<void>
  standing(vaultId: string | undefined): Promise<VaultStanding>
  /** Has what is sealed in the vault from now on sealed under a new data key, and returns its term. */
  rotate(tx: Db, vaultId: string): Promise<number>
  /** Seals some records of the vault anew; without any left the older keys go, and `done` happens with that. */
  sealSomeAnew(vaultId: string, done: (tx: Db) => Promise<void>): Promise<'more' | 'done' | 'none'>
  /** Returns every vault of the deployment. */
  ids(): Promise<readonly string[]>
  /** Returns whose vault it is; undefined for the deployment's own. */
  principalOf(db: Db, vaultId: string): Promise<string | undefined>
  /** Returns the vaults that are not all under their newest data key. */
  unfinishedRotations(): Promise<readonly string[]>
  /** Returns how many records are not sealed under the newest data key of the vault. */
  leftToSeal(vaultId: string): Promise<number>
  /**
   * Brings everything under another master key, which is read back from where it is before the store is changed, and
   * removes the one of before then, where the daemon had it.
   * @param also happens in the transaction that changes the store; returns the newest root that the audit log was signed by
   * @throws BrokerError InvalidRequestError where the other key cannot be had; the vault is as it was
   */
  rekey(to: EncryptionSource, given: GivenKey, also: Also): Promise<void>
  /** Takes up keys that another daemon has brought the vault under. Returns whether it did. */
  follow(): Promise<boolean>
  /** Returns whether the vault is under the keys that this daemon has. */
  isCurrent(db: Db): Promise<boolean>
  /** @throws BrokerError DaemonUnavailableError while it is sealed */
  requireOpen(): void
  /** A MAC by the key that is for known browsers and for nothing else; undefined while the vault is sealed. */
  knownBrowserMac(text: string): Buffer | undefined
  /**
   * A MAC by the key that is for the audit log and for nothing else, hex; undefined while the vault is sealed.
   * @param root number of the root that it is of: those of before a change of the master key keep theirs
   */
  auditMac(text: string, root: number): string | undefined
  /** For what daemons keep for each other outside the store; undefined while the vault is sealed. */
  outside(): OutsideSeals | undefined
  /** Makes the keys of a new, empty vault. */
  create(tx: Db, vaultId: string): Promise<void>
  /** Seals `plaintext` as the record's only version, and returns that; `binding` is what it is bound to besides its name. */
  put(tx: Db, ref: RecordRef, binding: string, plaintext: Secret): Promise<number>
  /**
   * Undefined where there is none.
   * @throws BrokerError CredentialMissingError where it does not open: it was swapped, moved, edited, or bound elsewhere.
   */
  get(db: Db, ref: RecordRef, binding: string): Promise<OpenedRecord | undefined>
  /** Opens one that was read already. @throws as {@link Vault.get} */
  unseal(db: Db, ref: RecordRef, binding: string, record: SealedRecord): Promise<OpenedRecord>
  /** All of a kind, by their ids in order. @throws as {@link Vault.get} */
  all(db: Db, of: Omit<RecordRef, 'id'>, binding: string): Promise<ReadonlyMap<string, Secret>>
  /** Returns how many changes the vault has come through, by one short question; undefined where there is no such vault. */
  generation(db: Db, vaultId: string): Promise<number | undefined>
  /** Returns whether there ever was such a vault, as far as this machine and the rest of the store know. */
  wasThere(db: Db, vaultId: string): Promise<boolean>
  /** Returns whether there was one. */
  remove(tx: Db, ref: RecordRef): Promise<boolean>
  /**
   * Takes the vault as it is, after damage or a restored backup: removes records that do not open, and makes the manifest
   * anew from those that do. The removed ones, as `kind` and `id`.
   */
  restore(tx: Db, vaultId: string): Promise<readonly Pick<RecordRef, 'kind' | 'id'>[]>
  /**
   * Makes sure that the vault holds what it last did, before something of it is given out. Not within a transaction.
   * @throws BrokerError CredentialMissingError where it does not
   */
  requireWhole(vaultId: string): Promise<void>
  /** Opens every record of the vault and holds them against its manifest. */
  integrity(vaultId: string): Promise<Integrity>
  /** Writes down how far the changed vaults have come. It happens by itself soon after a change, and before a stop. */
  anchorChanges(): Promise<void>
  /** Puts, gets and deletes a record. @throws BrokerError DaemonUnavailableError */
  roundtrip(vaultId: string): Promise<void>
}

type Also = (tx: Db) => Promise<{ readonly newestRoot: number }>

export interface VaultOptions {
  readonly store: Store
  readonly masterKey: MasterKeySettings
  readonly anchorFile: AnchorFile
  /** Told when something secret is not needed any more. */
  readonly onDropped?: () => void
  /** Told when the vault has come under another master key: what was made with its keys is to be made anew. */
  readonly onRekeyed?: () => void
  readonly now?: () => number
}

const ANCHOR_DELAY_MS = 50
/** After a read that failed. */
const ANCHOR_RETRY_MS = 1_000
const MOST_REMEMBERED = 50_000
/** Some kilobyte each. */
const MOST_DATA_KEYS = 20_000

/** Opens the vault, or leaves it sealed with the cause. An existing vault never gets a new key. */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const vault = new SealedRecords(options)
  await vault.unlock()
  return vault
}

interface Sealed {
  readonly cause: string
  readonly waits: Waiting
}

interface Unsealed {
  readonly keys: KeyHierarchy
  /** Of the master key. */
  readonly keyId: string
  readonly masterKey: Omit<MasterKey, 'bytes'>
  readonly anchor: Anchor
  /** By which the audit log was signed once: each up to the root that is its term. */
  readonly auditKeys: readonly DataKey[]
}

/** What somebody can do who finds the vault sealed. */
export const UNLOCK_HINT: Readonly<Record<Waiting, string>> = {
  key: 'Give the daemon the key it was made with, then `broker unlock`; `broker doctor` says more.',
  passphrase: 'Open it with `broker unlock`.',
  'first passphrase': 'Choose its passphrase with `broker unlock`.',
  unlocking: 'Open it with `broker unlock`.',
}

class SealedRecords implements Vault {
  readonly mode: EncryptionMode
  readonly rights: RightsSeals
  readonly #options: VaultOptions
  readonly #dataKeys = new LRUCache<string, DataKey>({ max: MOST_DATA_KEYS })
  /** What has come further, and how far it was seen to be; 0 where only the store can tell. */
  /** What is to be written down, by name: a new object with each change. */
  readonly #changed = new Map<string, { readonly seen: number }>()
  readonly #inspections: Inspections
  /** The newest version of each record that was opened here: none ever becomes older. */
  readonly #newest = new LRUCache<string, number>({ max: MOST_REMEMBERED })
  #anchorTimer: NodeJS.Timeout | undefined
  #state: Unsealed | Sealed = { cause: 'it was not opened yet', waits: 'key' }
  #opening: Promise<Unsealed | Sealed> | undefined

  constructor(options: VaultOptions) {
    this.#options = options
    this.mode = options.masterKey.mode
    this.#inspections = new Inspections(
      async (vaultId) => (await this.integrity(vaultId)).breach,
      options.now ?? Date.now,
    )
    this.rights = openRightsSeals({
      store: options.store,
      unsealed: () => this.#unsealed(),
      changed: (name, generation) => this.#anchorSoon(name, generation),
      requireCurrent: async (db) => {
        if (await this.isCurrent(db)) return
        this.follow().catch(() => undefined)
        throw changedMeanwhile()
      },
      now: options.now ?? Date.now,
    })
  }

  status(): VaultStatus {
    if ('cause' in this.#state) return { kind: 'sealed', ...this.#state }
    const { source, backend, warnings } = this.#state.masterKey
    return { kind: 'open', source, backend, warnings }
  }

  async unlock(): Promise<VaultStatus> {
    if ('cause' in this.#state && this.#state.waits !== 'unlocking') await this.#openOnce(undefined)
    return this.status()
  }

  async unlockFor(passphrase: Secret | undefined): Promise<VaultStatus> {
    if (!('cause' in this.#state)) return this.status()
    const before = this.#state
    const found = await this.#openOnce(passphrase)
    if (!('cause' in found)) return this.status()
    // Who locked it did not mean it to open by itself where this try has failed.
    if (before.waits === 'unlocking') this.#state = before
    if (passphrase === undefined || found.waits === 'key') return { kind: 'sealed', ...found }
    throw new BrokerError('AuthenticationFailedError', 'The vault does not open with this passphrase')
  }

  /** Those who come at once are served by one attempt: it may cost a person a touch, or a core half a second. */
  async #openOnce(passphrase: Secret | undefined): Promise<Unsealed | Sealed> {
    if (this.#opening !== undefined) await this.#opening
    if (!('cause' in this.#state)) return this.#state
    this.#opening = this.#open(passphrase).finally(() => {
      this.#opening = undefined
    })
    this.#state = await this.#opening
    return this.#state
  }

  requireOpen(): void {
    this.#unsealed()
  }

  rotate(tx: Db, vaultId: string): Promise<number> {
    return beginRotation(this.#rotation(), tx, vaultId)
  }

  async sealSomeAnew(vaultId: string, done: (tx: Db) => Promise<void>): Promise<'more' | 'done' | 'none'> {
    const ended = await sealSomeAnew(this.#rotation(), vaultId, done)
    if (ended === 'done') this.#dropDataKeys(vaultId)
    return ended
  }

  /** They are read again from the store: those that are gone there are to be gone here. */
  #dropDataKeys(vaultId: string): void {
    for (const name of [...this.#dataKeys.keys()]) if (name.startsWith(`${vaultId}/`)) this.#dataKeys.delete(name)
    this.#options.onDropped?.()
  }

  #rotation(): RotationParts {
    return {
      store: this.#options.store,
      keys: this.#unsealed().keys,
      dataKey: (db, vaultId, term) => this.#dataKey(db, vaultId, term),
      beginChange: (tx, vaultId) => this.#countUp(tx, vaultId),
      endChange: (tx, vaultId, generation, manifest) => this.#endChange(tx, vaultId, generation, manifest),
      time: () => this.#time(),
    }
  }

  async ids(): Promise<readonly string[]> {
    const rows = await this.#options.store.db.selectFrom('data_keys').select('vault_id').distinct().execute()
    return rows.map(({ vault_id }) => vault_id).filter(isVault)
  }

  async principalOf(db: Db, vaultId: string): Promise<string | undefined> {
    const row = await db.selectFrom('principals').select('id').where('vault_id', '=', vaultId).executeTakeFirst()
    return row?.id
  }

  async unfinishedRotations(): Promise<readonly string[]> {
    return 'cause' in this.#state ? [] : unfinishedRotations(this.#options.store.db)
  }

  leftToSeal(vaultId: string): Promise<number> {
    return leftToSeal(this.#options.store.db, vaultId)
  }

  async rekey(to: EncryptionSource, given: GivenKey, also: Also): Promise<void> {
    const { store, masterKey: settings } = this.#options
    const before = this.#unsealed()
    const { deploymentId } = before.keys
    if (before.anchor.damaged) throw integrityError('The key stays as it is: the anchor was changed outside of Broker')
    await this.anchorChanges()
    // The one of now may still stand where the next is to be.
    await settledLate(settings, before.masterKey.source, { deploymentId, keyId: before.keyId })
    const { bytes, wrapped, settle, ...masterKey } = await stageKey(settings, to, deploymentId, given)
    const keyId = keyIdOf(bytes)
    if (keyId === before.keyId) throw new BrokerError('InvalidRequestError', 'The vault is under this very key')
    const keys = wiped(bytes, (one) => deriveKeys(one, deploymentId))
    const former = { source: before.masterKey.source, keyId: before.keyId }
    before.anchor.announce(keys)
    const auditKeys = await store.transaction(async (tx) => {
      if ((await sourceOf(tx))?.key_id !== before.keyId) throw changedMeanwhile()
      await sealUnder(tx, { before: before.keys, after: keys })
      await storeWrapped(tx, wrapped, this.#time())
      await storeFormer(tx, former.source === to ? undefined : former, this.#time())
      await tx.updateTable('vault_sources').set({ source: to, key_id: keyId }).execute()
      const change = { before: before.keys, after: keys }
      await keepAuditKey(tx, change, { ...(await also(tx)), created_at: this.#time() })
      return auditKeysOfBefore(tx, keys)
    })
    this.#state = { keys, keyId, masterKey, auditKeys, anchor: before.anchor.under(keys) }
    this.#options.onRekeyed?.()
    this.#options.onDropped?.()
    await this.#tidy(settle, deploymentId)
  }

  /** The store is under the new key, which is on the disk: what cannot be put in order now is by the next start. */
  async #tidy(settle: () => Promise<void>, deploymentId: string): Promise<void> {
    try {
      await settle()
      await this.#removeFormer(deploymentId)
    } catch {
      if ('cause' in this.#state) return
      const { masterKey } = this.#state
      const notice = 'The key of before is still where it was: the disk, or the keyring, would not let it go. Restart.'
      this.#state = { ...this.#state, masterKey: { ...masterKey, warnings: [...masterKey.warnings, notice] } }
    }
  }

  async isCurrent(db: Db): Promise<boolean> {
    return !('cause' in this.#state) && (await sourceOf(db))?.key_id === this.#state.keyId
  }

  async follow(): Promise<boolean> {
    const before = this.#state
    if ('cause' in before || (await this.isCurrent(this.#options.store.db))) return false
    const found = await this.#open(undefined, before.anchor)
    // Somebody may have locked it, or followed, meanwhile.
    if (this.#state !== before) return false
    this.#state = found
    this.#options.onRekeyed?.()
    return true
  }

  async lock(): Promise<void> {
    if ('cause' in this.#state) return
    await this.anchorChanges()
    clearTimeout(this.#anchorTimer)
    this.#anchorTimer = undefined
    this.#state = { cause: 'it was locked', waits: 'unlocking' }
    this.#dataKeys.clear()
    this.#options.onDropped?.()
  }

  async standing(vaultId: string | undefined): Promise<VaultStanding> {
    const { store, masterKey } = this.#options
    const found = await standingOf(store.db, vaultId)
    const source = (found?.source ?? (masterKey.mode === 'auto' ? 'local_key' : masterKey.mode)) as EncryptionSource
    const { term = 0, generation = 0, records = 0 } = found ?? {}
    return { sealed: 'cause' in this.#state, source, term: term ?? 0, generation: generation ?? 0, records }
  }

  /** @param known the anchor that this daemon had by keys of before */
  async #open(passphrase: Secret | undefined, known?: Anchor): Promise<Unsealed | Sealed> {
    try {
      const { masterKey, deploymentId } = await this.#masterKey(passphrase)
      const keys = deriveKeys(masterKey.bytes, deploymentId)
      const keyId = keyIdOf(masterKey.bytes)
      masterKey.bytes.fill(0)
      this.#options.masterKey.masterKey?.forget()
      this.#options.onDropped?.()
      const anchor = known?.under(keys) ?? openAnchor(keys, this.#options.anchorFile, await this.#generations())
      const auditKeys = await auditKeysOfBefore(this.#options.store.db, keys)
      return { keys, keyId, masterKey, anchor, auditKeys }
    } catch (error) {
      if (error instanceof MasterKeyError) return { cause: error.message, waits: await this.#waits(error) }
      if (error instanceof BrokerError && error.name !== 'InvalidRequestError') {
        return { cause: error.message, waits: 'key' }
      }
      throw error
    }
  }

  async #waits({ awaitsPassphrase }: MasterKeyError): Promise<Waiting> {
    if (!awaitsPassphrase) return 'key'
    return (await sourceOf(this.#options.store.db)) ? 'passphrase' : 'first passphrase'
  }

  async #generations(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#options.store.db.selectFrom('manifests').select(['vault_id', 'generation']).execute()
    // A list of rows that is older does not change any more, and needs no mark that outlasts its changes.
    return new Map(
      rows.filter(({ vault_id }) => !isListName(vault_id)).map(({ vault_id, generation }) => [vault_id, generation]),
    )
  }

  async #masterKey(passphrase: Secret | undefined): Promise<{ masterKey: MasterKey; deploymentId: string }> {
    const { store, masterKey: settings } = this.#options
    const recorded = await sourceOf(store.db)
    if (!recorded) {
      // Another daemon may have made it meanwhile.
      const made = await store.transaction(async (tx) =>
        (await sourceOf(tx)) ? undefined : this.#newDeployment(tx, passphrase),
      )
      return made ?? this.#masterKey(passphrase)
    }
    const { deployment_id: deploymentId } = recorded
    const source = recorded.source as EncryptionSource
    const wrapped = await wrappedMasterKey(store.db)
    const masterKey = await recordedMasterKey(settings, { source, deploymentId, wrapped, passphrase }, recorded.key_id)
    await this.#removeFormer(deploymentId)
    // One that nothing came under.
    forgetStaged(settings, recorded.key_id)
    return { masterKey, deploymentId }
  }

  /** A key of before that could not be removed when the vault was brought under another. */
  async #removeFormer(deploymentId: string): Promise<void> {
    const { store, masterKey: settings } = this.#options
    const former = await formerKey(store.db)
    if (former === undefined) return
    await removeFormer(settings, former, deploymentId)
    await store.transaction((tx) => storeFormer(tx, undefined, this.#time()))
  }

  async #newDeployment(
    tx: Db,
    passphrase: Secret | undefined,
  ): Promise<{ masterKey: MasterKey; deploymentId: string }> {
    const { masterKey: settings } = this.#options
    const orphan = await tx.selectFrom('data_keys').select('vault_id').executeTakeFirst()
    if (orphan) throw new MasterKeyError('the store has vaults, but no record of which key they were made with')
    const deploymentId = randomUUID()
    const masterKey = await newMasterKey(settings, deploymentId, passphrase)
    const created_at = this.#time()
    const { source, bytes, wrapped } = masterKey
    const row = { id: 1, deployment_id: deploymentId, source, key_id: keyIdOf(bytes), created_at }
    await tx.insertInto('vault_sources').values(row).execute()
    if (wrapped) await storeWrapped(tx, wrapped, created_at)
    return { masterKey, deploymentId }
  }

  #time(): string {
    return new Date((this.#options.now ?? Date.now)()).toISOString()
  }

  knownBrowserMac(text: string): Buffer | undefined {
    if ('cause' in this.#state) return undefined
    return createHmac('sha256', this.#state.keys.knownBrowser).update(text).digest()
  }

  auditMac(text: string, root: number): string | undefined {
    if ('cause' in this.#state) return undefined
    const { keys, auditKeys } = this.#state
    const key = auditKeys.find(({ term }) => root <= term)?.key ?? keys.auditRoots
    return createHmac('sha256', key).update(text).digest('hex')
  }

  outside(): OutsideSeals | undefined {
    return 'cause' in this.#state ? undefined : outsideSeals(this.#state.keys)
  }

  #unsealed(): Unsealed {
    if ('cause' in this.#state) {
      throw new BrokerError('DaemonUnavailableError', `The vault is sealed: ${this.#state.cause}`, {
        hint: UNLOCK_HINT[this.#state.waits],
      })
    }
    return this.#state
  }

  async create(tx: Db, vaultId: string): Promise<void> {
    const { keys } = this.#unsealed()
    // Nothing that is opened here says that the key is still the one.
    if (!(await this.isCurrent(tx))) throw changedMeanwhile()
    const { wrapped } = makeDataKey(keys, vaultId, 1)
    const created_at = this.#time()
    await tx.insertInto('data_keys').values({ vault_id: vaultId, term: 1, wrapped, created_at }).execute()
    const sealed = sealManifest(keys, vaultId, 0, emptyManifest())
    await tx.insertInto('manifests').values({ vault_id: vaultId, generation: 0, sealed }).execute()
  }

  async put(tx: Db, ref: RecordRef, binding: string, plaintext: Secret): Promise<number> {
    const { keys } = this.#unsealed()
    const change = await this.#beginChange(tx, ref)
    const { term, key } = await this.#newestDataKey(tx, ref.vaultId)
    // Generations are never used twice, so neither is a version: an old ciphertext fits no later record.
    const version = change.generation
    const context = recordContext(keys, ref, { version, binding, term })
    const sealed = wiped(Buffer.from(plaintext.reveal()), (bytes) => seal(key, bytes, context))
    const row = { vault_id: ref.vaultId, kind: ref.kind, id: ref.id, version, binding, term, sealed }
    await tx.insertInto('records').values(row).execute()
    await this.#endChange(tx, ref.vaultId, change.generation, withRecord(keys, change.manifest, row))
    return version
  }

  async remove(tx: Db, ref: RecordRef): Promise<boolean> {
    this.#unsealed()
    const { generation, manifest, removed } = await this.#beginChange(tx, ref)
    await this.#endChange(tx, ref.vaultId, generation, manifest)
    if (removed && ref.kind !== 'probe') this.#options.onDropped?.()
    return removed
  }

  /** Takes the vault's lock by counting its generation up, and takes the record's present version out. */
  async #beginChange(tx: Db, ref: RecordRef): Promise<{ generation: number; manifest: Manifest; removed: boolean }> {
    const { keys } = this.#unsealed()
    const { generation, manifest } = await this.#countUp(tx, ref.vaultId)
    const previous = await tx
      .deleteFrom('records')
      .where('vault_id', '=', ref.vaultId)
      .where('kind', '=', ref.kind)
      .where('id', '=', ref.id)
      .returningAll()
      .executeTakeFirst()
    return {
      generation,
      manifest: previous ? withoutRecord(keys, manifest, previous) : manifest,
      removed: previous !== undefined,
    }
  }

  async #countUp(tx: Db, vaultId: string): Promise<{ generation: number; manifest: Manifest }> {
    const { keys, anchor } = this.#unsealed()
    // Asked for first: another change may be read while this one waits.
    const floor = anchor.isRolledBack(vaultId) ? 0 : anchor.reached(vaultId)
    const row = await tx
      .updateTable('manifests')
      .set((eb) => ({ generation: eb('generation', '+', 1) }))
      .where('vault_id', '=', vaultId)
      .returningAll()
      .executeTakeFirst()
    if (!row) throw integrityError('The vault has no manifest')
    if (row.generation - 1 < floor) this.#noteRollback(vaultId)
    try {
      return { generation: row.generation, manifest: openManifest(keys, vaultId, row.generation - 1, row.sealed) }
    } catch (cause) {
      if (!(await this.isCurrent(tx))) throw changedMeanwhile()
      throw fails('The manifest', cause)
    }
  }

  /** Changes would bring the store as far as it was before, and nobody would see it any more. */
  #noteRollback(vaultId: string): void {
    this.#unsealed().anchor.noteRollback(vaultId)
    this.#inspections.forget(vaultId)
  }

  async #endChange(tx: Db, vaultId: string, generation: number, manifest: Manifest): Promise<void> {
    const { keys } = this.#unsealed()
    const sealed = sealManifest(keys, vaultId, generation, manifest)
    await tx.updateTable('manifests').set({ sealed }).where('vault_id', '=', vaultId).execute()
    this.#anchorSoon(vaultId)
  }

  #anchorSoon(name: string, seen = 0): void {
    this.#changed.set(name, { seen: Math.max(seen, this.#changed.get(name)?.seen ?? 0) })
    this.#scheduleAnchor(ANCHOR_DELAY_MS)
  }

  #scheduleAnchor(delay: number): void {
    this.#anchorTimer ??= setTimeout(() => void this.anchorChanges(), delay).unref()
  }

  async anchorChanges(): Promise<void> {
    clearTimeout(this.#anchorTimer)
    this.#anchorTimer = undefined
    const changed = new Map(this.#changed)
    if (changed.size === 0) return
    const { anchor } = this.#unsealed()
    // What was seen stays seen, though somebody puts back an older one before it is written down.
    anchor.advance([...changed].map(([name, { seen }]) => [name, seen]))
    // Read anew: the transaction that made the change may have been rolled back.
    const rows = await this.#options.store.db
      .selectFrom('manifests')
      .select(['vault_id', 'generation'])
      .where('vault_id', 'in', [...changed.keys()])
      .execute()
      .catch(() => undefined)
    if (rows === undefined) {
      this.#scheduleAnchor(ANCHOR_RETRY_MS)
      return
    }
    anchor.advance(rows.map(({ vault_id, generation }) => [vault_id, generation]))
    // One that changed again meanwhile waits for the next time.
    for (const [name, one] of changed) if (this.#changed.get(name) === one) this.#changed.delete(name)
  }

  async get(db: Db, ref: RecordRef, binding: string): Promise<OpenedRecord | undefined> {
    this.#unsealed()
    const record = await sealedRecord(db, ref)
    return record && this.unseal(db, ref, binding, record)
  }

  async unseal(db: Db, ref: RecordRef, binding: string, record: SealedRecord): Promise<OpenedRecord> {
    const { keys } = this.#unsealed()
    const { version, term, sealed, key } = await this.#withDataKey(db, ref, record)
    const context = recordContext(keys, ref, { version, binding, term })
    const bytes = opened(() => open(key, sealed, context), 'The stored credential')
    const plaintext = new Secret(wiped(bytes, String))
    await this.#refuseOlder(db, ref, version)
    return { plaintext, version }
  }

  /** Whoever read a record just before it was sealed anew may find its data key gone: then it is read again. */
  async #withDataKey(db: Db, ref: RecordRef, record: SealedRecord): Promise<SealedRecord & Pick<DataKey, 'key'>> {
    try {
      return { ...record, key: (await this.#dataKey(db, ref.vaultId, record.term)).key }
    } catch (error) {
      const now = await sealedRecord(db, ref)
      if (now === undefined || now.term === record.term) throw error
      return { ...now, key: (await this.#dataKey(db, ref.vaultId, now.term)).key }
    }
  }

  async all(db: Db, { vaultId, kind }: Omit<RecordRef, 'id'>, binding: string): Promise<ReadonlyMap<string, Secret>> {
    this.#unsealed()
    const rows = await db
      .selectFrom('records')
      .select(['id', 'version', 'term', 'sealed'])
      .where('vault_id', '=', vaultId)
      .where('kind', '=', kind)
      .orderBy('id')
      .execute()
    const found = new Map<string, Secret>()
    for (const { id, ...record } of rows) {
      found.set(id, (await this.unseal(db, { vaultId, kind, id }, binding, record)).plaintext)
    }
    return found
  }

  async generation(db: Db, vaultId: string): Promise<number | undefined> {
    const row = await generationOf(db, { vaultId })
    // Each request asks this where daemons share a store: so each finds out that another has changed the key.
    if (row && !('cause' in this.#state) && row.key_id !== this.#state.keyId) await this.follow()
    return row?.generation
  }

  async wasThere(db: Db, vaultId: string): Promise<boolean> {
    if (this.#unsealed().anchor.reached(vaultId) > 0) return true
    const key = await db.selectFrom('data_keys').select('term').where('vault_id', '=', vaultId).executeTakeFirst()
    return key !== undefined
  }

  async #refuseOlder(db: Db, ref: RecordRef, version: number): Promise<void> {
    const name = `${ref.vaultId}/${ref.kind}/${ref.id}`
    const newest = this.#newest.get(name) ?? 0
    if (version >= newest) {
      this.#newest.set(name, version)
      return
    }
    // Whoever read before a change may get here after one who read behind it: what the store has now tells them apart.
    const now = await sealedRecord(db, ref)
    if (now === undefined || now.version >= newest) return
    this.#inspections.forget(ref.vaultId)
    throw integrityError('The stored credential was replaced by an older one')
  }

  async requireWhole(vaultId: string): Promise<void> {
    const breach = await this.#inspections.breachOf(vaultId)
    if (breach === undefined) return
    throw integrityError(`Nothing of this vault is given out: ${breach.replace(/\.$/, '')}`)
  }

  async #newestDataKey(db: Db, vaultId: string): Promise<DataKey> {
    const row = await db
      .selectFrom('data_keys')
      .select((eb) => eb.fn.max('term').as('term'))
      .where('vault_id', '=', vaultId)
      .executeTakeFirst()
    // One that is in memory alone opens nothing after the next start: nothing new is sealed with it.
    if (row?.term == null) throw integrityError(DATA_KEY_MISSING)
    return this.#dataKey(db, vaultId, row.term)
  }

  async #dataKey(db: Db, vaultId: string, term: number): Promise<DataKey> {
    const name = `${vaultId}/${term}`
    const known = this.#dataKeys.get(name)
    if (known) return known
    const { keys } = this.#unsealed()
    const row = await db
      .selectFrom('data_keys')
      .select('wrapped')
      .where('vault_id', '=', vaultId)
      .where('term', '=', term)
      .executeTakeFirst()
    if (!row) throw integrityError(DATA_KEY_MISSING)
    const dataKey = opened(() => unwrapDataKey(keys, vaultId, term, row.wrapped), 'The data key of the vault')
    this.#dataKeys.set(name, dataKey)
    return dataKey
  }

  async restore(tx: Db, vaultId: string): Promise<readonly Pick<RecordRef, 'kind' | 'id'>[]> {
    const { keys, anchor } = this.#unsealed()
    await this.#putBackDataKeys(tx, vaultId)
    const dataKeyOf = (db: Db, term: number) => this.#dataKey(db, vaultId, term)
    const rows = await tx.selectFrom('records').selectAll().where('vault_id', '=', vaultId).execute()
    const pass = { db: tx, keys, vaultId, dataKeyOf }
    const lost: RecordRow[] = []
    let manifest = emptyManifest()
    for (const row of rows) {
      if (await opens(pass, row)) manifest = withRecord(keys, manifest, row)
      else lost.push(row)
    }
    for (const { kind, id } of lost) {
      await tx
        .deleteFrom('records')
        .where('vault_id', '=', vaultId)
        .where('kind', '=', kind)
        .where('id', '=', id)
        .execute()
    }
    await this.#replaceManifest(tx, vaultId, manifest)
    // How far it has come now is read once it is committed: whoever looks before that must not find it older.
    anchor.accept(vaultId)
    this.#anchorSoon(vaultId)
    this.#newest.clear()
    this.#inspections.forget(vaultId)
    return lost.map(({ kind, id }) => ({ kind: kind as RecordRef['kind'], id }))
  }

  /** Whoever removed one has not removed it from here. */
  async #putBackDataKeys(tx: Db, vaultId: string): Promise<void> {
    const { keys } = this.#unsealed()
    const rows = await tx.selectFrom('data_keys').select('term').where('vault_id', '=', vaultId).execute()
    const stored = new Set(rows.map(({ term }) => `${vaultId}/${term}`))
    const sealed = await tx.selectFrom('records').select('term').distinct().where('vault_id', '=', vaultId).execute()
    const used = new Set(sealed.map(({ term }) => term))
    const created_at = this.#time()
    for (const [name, dataKey] of this.#dataKeys) {
      if (!name.startsWith(`${vaultId}/`) || stored.has(name)) continue
      // One that a rotation has removed is not wanted back.
      if (stored.size > 0 && !used.has(dataKey.term)) continue
      const row = { vault_id: vaultId, term: dataKey.term, wrapped: wrapDataKey(keys, vaultId, dataKey), created_at }
      await tx.insertInto('data_keys').values(row).execute()
    }
  }

  async #replaceManifest(tx: Db, vaultId: string, manifest: Manifest): Promise<void> {
    const { keys } = this.#unsealed()
    const before = await tx
      .deleteFrom('manifests')
      .where('vault_id', '=', vaultId)
      .returning('generation')
      .executeTakeFirst()
    // Above every version a record of it has: versions are generations, and none is used twice.
    const newest = await tx
      .selectFrom('records')
      .select((eb) => eb.fn.max('version').as('version'))
      .where('vault_id', '=', vaultId)
      .executeTakeFirst()
    const generation = Math.max(before?.generation ?? 0, newest?.version ?? 0) + 1
    const sealed = sealManifest(keys, vaultId, generation, manifest)
    await tx.insertInto('manifests').values({ vault_id: vaultId, generation, sealed }).execute()
  }

  async integrity(vaultId: string): Promise<Integrity> {
    const { keys, anchor } = this.#unsealed()
    const dataKeyOf = (db: Db, term: number) => this.#dataKey(db, vaultId, term)
    const found = await checkIntegrity({ store: this.#options.store, keys, anchor, vaultId, dataKeyOf })
    // Under another key meanwhile, by this daemon or by another.
    const isOld = found.breach !== undefined && ((await this.follow()) || this.#unsealed().keys !== keys)
    if (isOld) return this.integrity(vaultId)
    if (found.breach === undefined) this.#takeVersions(vaultId, found.versions)
    this.#inspections.note(vaultId, found.breach)
    return found
  }

  /** Versions may have gone back where somebody accepted a restored store, here or at another daemon. */
  #takeVersions(vaultId: string, versions: Integrity['versions']): void {
    const prefix = `${vaultId}/`
    for (const name of [...this.#newest.keys()].filter((one) => one.startsWith(prefix))) {
      const version = versions.get(name.slice(prefix.length))
      if (version === undefined) this.#newest.delete(name)
      else this.#newest.set(name, version)
    }
  }

  async roundtrip(vaultId: string): Promise<void> {
    const { store } = this.#options
    const { anchor } = this.#unsealed()
    const ref: RecordRef = { vaultId, kind: 'probe', id: randomUUID() }
    const value = new Secret(ref.id)
    const tried = store.vaultTransaction(vaultId, async (tx) => {
      await this.put(tx, ref, 'probe', value)
      const kept = await this.get(tx, ref, 'probe')
      await this.remove(tx, ref)
      if (!value.equals(kept?.plaintext))
        throw new BrokerError('DaemonUnavailableError', 'The vault lost what it was given')
      // Other daemons are to find it as old as it is.
      if (anchor.isRolledBack(vaultId)) throw new Undone()
    })
    await tried.catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  }
}

function changedMeanwhile(): BrokerError {
  return new BrokerError('DaemonUnavailableError', 'The vault has come under another key at this moment', {
    retryAfter: 1,
    hint: 'Try again.',
  })
}

function sourceOf(db: Db) {
  return db.selectFrom('vault_sources').selectAll().executeTakeFirst()
}

/** Rolls a transaction back that has done its work. */
class Undone extends Error {}

const sealedRecord = preparedQuery(['vaultId', 'kind', 'id'], (db, { vaultId, kind, id }: RecordRef) =>
  db
    .selectFrom('records')
    .select(['version', 'term', 'sealed'])
    .where('vault_id', '=', vaultId)
    .where('kind', '=', kind)
    .where('id', '=', id),
)

const generationOf = preparedQuery(['vaultId'], (db, { vaultId }: { readonly vaultId: string }) =>
  db
    .selectFrom('manifests')
    .select((eb) => ['generation', eb.selectFrom('vault_sources').select('key_id').as('key_id')])
    .where('vault_id', '=', vaultId),
)

function opened<Result>(work: () => Result, what: string): Result {
  try {
    return work()
  } catch (cause) {
    throw fails(what, cause)
  }
}

function fails(what: string, cause: unknown): BrokerError {
  return integrityError(`${what} fails its integrity check: it was changed outside of Broker`, cause)
}

function integrityError(message: string, cause?: unknown): BrokerError {
  return new BrokerError('CredentialMissingError', message, {
    hint: 'See `broker doctor`. `broker doctor --accept-restore` gives up what does not open; then log in again.',
    cause,
  })
}
