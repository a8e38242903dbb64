import { generateSigningKey, type SigningKey, signingKeyFromPem } from '../../identity/index.ts'
import { type Actor, BrokerError, Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import {
  type CatalogueStore,
  type CustomDefinitions,
  type DefinitionFile,
  definitionFileName,
  definitionText,
} from '../providers/index.ts'
import type { Db, Store } from '../store/index.ts'
import type { RecordRef, Vault } from '../vault/index.ts'
import type { Deployment } from './deployment.ts'
import { JoinedAsking } from './joined-asking.ts'

export interface DeploymentOfStoreOptions {
  readonly store: Store
  readonly vault: Vault
  readonly audit: Audit
  /** Has the rows that say who is who sealed first: the vault that is made here must not pass for one from before that. */
  readonly sealRights: () => Promise<void>
  /** What this home has, to be taken where the store has nothing yet. */
  readonly home: {
    /** PKCS#8 PEM; undefined where there is none. */
    key(): Secret | undefined
    definitions(): readonly DefinitionFile[]
    catalogue(): string | undefined
  }
  /** Told once, as soon as the key is there: its did:key. */
  readonly onOpened?: (did: string) => void
  /** Told once others have something to read that this daemon has changed. */
  readonly onChanged?: () => void
  /** Told, in a sentence of ours, what the operator may want to know. */
  readonly note: (what: string) => void
  readonly now?: () => number
}

/** The vault that no principal has. */
const VAULT_ID = 'deployment'
const BINDING = 'deployment'
const KEY: RecordRef = { vaultId: VAULT_ID, kind: 'daemon_key', id: 'daemon.key' }
const CATALOGUE: RecordRef = { vaultId: VAULT_ID, kind: 'catalogue', id: 'catalogue.json' }
const DEFINITIONS = { vaultId: VAULT_ID, kind: 'definition' } as const
/** After one that failed, until the next attempt to open it, in milliseconds: anybody may ask for the key. */
const TRY_AGAIN_MS = 1000

const MISSING = 'The key by which clients know the daemons is missing from the store'

interface Contents {
  readonly files: readonly DefinitionFile[]
  readonly catalogue: string | undefined
}

const NOTHING: Contents = { files: [], catalogue: undefined }

/** That of a store which several daemons share. It opens once the vault is open, now or later. */
export async function deploymentOfStore(options: DeploymentOfStoreOptions): Promise<Deployment> {
  const deployment = new SealedDeployment(options)
  await deployment.key().catch((error: unknown) => {
    if (!(error instanceof BrokerError)) throw error
    options.note(error.message)
  })
  return deployment
}

class SealedDeployment implements Deployment {
  readonly #options: DeploymentOfStoreOptions
  readonly #refreshing = new JoinedAsking(() => this.#openAndLook())
  #key: SigningKey | undefined
  #opening: Promise<SigningKey> | undefined
  #failed: { readonly error: unknown; readonly at: number } | undefined
  #contents = NOTHING
  /** Of the vault when its contents were read; undefined before. */
  #generation: number | undefined
  #problem: string | undefined
  /** Whether this daemon has written since it looked last. */
  #hasWritten = false

  readonly definitions: CustomDefinitions = {
    refresh: (tx) => (tx === undefined ? this.#refreshing.answer() : this.#look(tx)),
    version: () => `${this.#generation} ${this.#problem}`,
    files: () => this.#contents.files,
    problem: () => this.#problem,
    write: async (definition, tx) => this.#write(within(tx), definition),
    remove: async (name, tx) => {
      this.#beginChange()
      return this.#options.vault.remove(within(tx), { ...DEFINITIONS, id: definitionFileName(name) })
    },
  }

  readonly catalogue: CatalogueStore = {
    read: () => this.#contents.catalogue,
    write: async (text, tx) => {
      await this.#put(within(tx), CATALOGUE, new Secret(text))
    },
  }

  constructor(options: DeploymentOfStoreOptions) {
    this.#options = options
  }

  async key(): Promise<SigningKey> {
    if (this.#key !== undefined) return this.#key
    const now = (this.#options.now ?? Date.now)()
    if (this.#failed !== undefined && Math.abs(now - this.#failed.at) < TRY_AGAIN_MS) throw this.#failed.error
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    try {
      this.#key = await this.#opening
      return this.#key
    } catch (error) {
      this.#failed = { error, at: now }
      throw error
    }
  }

  async #open(): Promise<SigningKey> {
    const { store, vault, sealRights, onOpened } = this.#options
    const status = await vault.unlock()
    if (status.kind === 'sealed') throw unavailable(`The vault is sealed: ${status.cause}`)
    await sealRights()
    const imported = await store.transaction((tx) => this.#import(tx))
    const key = await this.#storedKey(store.db).catch(toUnavailable)
    if (imported === 'no') this.#noteOwnFiles(key)
    onOpened?.(key.did)
    return key
  }

  /** All of it in one transaction: who is killed has taken nothing, and of two at the same moment one finds it taken. */
  async #import(tx: Db): Promise<'yes' | 'no'> {
    const { store, vault, home } = this.#options
    if ((await vault.generation(tx, VAULT_ID)) !== undefined) return 'no'
    const own = home.key()
    // Whoever registered knows a key by now. It is in another home, or another hand has removed it here.
    if ((await vault.wasThere(tx, VAULT_ID)) || (own === undefined && (await store.isInUse()))) throw keyMissing()
    const key = own === undefined ? generateSigningKey() : signingKeyFromPem(own, 'server/daemon.key')
    await vault.create(tx, VAULT_ID)
    await vault.put(tx, KEY, BINDING, key.toPem())
    for (const file of home.definitions()) await this.#importDefinition(tx, file)
    const catalogue = home.catalogue()
    if (catalogue) await vault.put(tx, CATALOGUE, BINDING, new Secret(catalogue))
    return 'yes'
  }

  async #importDefinition(tx: Db, file: DefinitionFile): Promise<void> {
    const { vault, note } = this.#options
    if ('text' in file) await vault.put(tx, { ...DEFINITIONS, id: file.name }, BINDING, new Secret(file.text))
    else note(`the provider file ${JSON.stringify(file.name)} was not taken over: it ${file.distrust}`)
  }

  #noteOwnFiles({ did }: SigningKey): void {
    const { home, note } = this.#options
    const own = home.key()
    if (own !== undefined && signingKeyFromPem(own, 'server/daemon.key').did !== did)
      note('server/daemon.key of this home is not used: the store has the key of its daemons')
  }

  async #storedKey(db: Db): Promise<SigningKey> {
    const record = await this.#options.vault.get(db, KEY, BINDING)
    if (record === undefined) throw keyMissing()
    return signingKeyFromPem(record.plaintext, 'of the daemons')
  }

  async #openAndLook(): Promise<void> {
    if (this.#key !== undefined || (await this.#isOpen())) await this.#look(this.#options.store.db)
  }

  /** Reads everything again where the vault has come further, or was taken back. */
  async #look(db: Db): Promise<void> {
    const { vault } = this.#options
    for (;;) {
      const generation = await vault.generation(db, VAULT_ID)
      if (generation === this.#generation && generation !== undefined) return
      const contents = await this.#whole(db, generation)
      // It changed once more meanwhile: what was read may not be what was found whole.
      if ((await vault.generation(db, VAULT_ID)) !== generation) continue
      this.#contents = contents ?? NOTHING
      this.#generation = generation
      if (this.#hasWritten) this.#options.onChanged?.()
      this.#hasWritten = false
      return
    }
  }

  async #isOpen(): Promise<boolean> {
    try {
      await this.key()
      return true
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      this.#problem = `Custom definitions cannot be read: ${error.message}.`
      return false
    }
  }

  /** Returns what the vault holds; undefined where it does not hold what it last did. */
  async #whole(db: Db, generation: number | undefined): Promise<Contents | undefined> {
    const { vault } = this.#options
    const breach = generation === undefined ? `${MISSING}.` : (await vault.integrity(VAULT_ID)).breach
    this.#problem = breach === undefined ? undefined : `Custom definitions are not used: ${breach}`
    if (breach !== undefined) return undefined
    const texts = await vault.all(db, DEFINITIONS, BINDING)
    const catalogue = await vault.get(db, CATALOGUE, BINDING)
    return {
      files: [...texts].map(([name, text]) => ({ name, text: text.reveal() })),
      catalogue: catalogue?.plaintext.reveal(),
    }
  }

  #write(tx: Db, definition: ProviderDefinition): Promise<void> {
    const id = definitionFileName(definition.name)
    return this.#put(tx, { ...DEFINITIONS, id }, new Secret(definitionText(definition)))
  }

  async #put(tx: Db, ref: RecordRef, text: Secret): Promise<void> {
    this.#beginChange()
    await this.#options.vault.put(tx, ref, BINDING, text)
  }

  /** Not opened here: that is a transaction of its own, which would wait for the one that asks. */
  #beginChange(): void {
    if (this.#key === undefined) throw unavailable('The definitions of the deployment cannot be changed now')
    this.#hasWritten = true
  }

  async issues(): Promise<readonly string[]> {
    const { store, vault } = this.#options
    if (vault.status().kind === 'sealed') return []
    try {
      await this.key()
      if ((await vault.generation(store.db, VAULT_ID)) === undefined) return [`${MISSING}.`]
      const { issues } = await vault.integrity(VAULT_ID)
      const key = await vault.get(store.db, KEY, BINDING)
      return [...issues, ...(key === undefined ? [`${MISSING}.`] : [])]
    } catch (error) {
      if (error instanceof BrokerError) return [`${error.message}.`]
      throw error
    }
  }

  async restore(actor: Actor): Promise<void> {
    const { store, vault, audit } = this.#options
    if ((await this.issues()).length === 0) return
    const key = await this.key()
    await store.transaction(async (tx) => {
      const lost = await vault.restore(tx, VAULT_ID)
      // Clients know it, and this daemon still has it.
      if ((await vault.get(tx, KEY, BINDING)) === undefined) await vault.put(tx, KEY, BINDING, key.toPem())
      const reason = `the deployment's definitions lost: ${lost.filter(({ kind }) => kind === 'definition').length}`
      await audit.record(tx, actor, { event: 'vault.restored', status: 'success', reason })
    })
    this.#generation = undefined
  }
}

/** A change that is not in its act's transaction would be kept without its event, or the event without the change. */
function within(tx: Db | undefined): Db {
  if (tx === undefined) throw new Error('A change of the deployment needs the transaction of its act')
  return tx
}

/** Whoever asks who we are is told that we cannot say. */
function toUnavailable(error: unknown): never {
  throw error instanceof BrokerError && error.name !== 'DaemonUnavailableError' ? unavailable(error.message) : error
}

function keyMissing(): BrokerError {
  return unavailable(MISSING, {
    hint: 'Restore the database from a backup; or put server/daemon.key of a home that clients know into this one. See docs/team.md.',
  })
}

function unavailable(message: string, { hint = 'The daemon log and `broker doctor` say more.' } = {}): BrokerError {
  return new BrokerError('DaemonUnavailableError', message, { hint, retryAfter: 2 })
}
