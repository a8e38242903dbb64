import { createHmac, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Db, Store } from '../store/index.ts'
import type { Anchor } from './anchor.ts'
import { type KeyHierarchy, makeDataKey, unwrapDataKey } from './key-hierarchy.ts'
import { type Manifest, openManifest, sealManifest } from './manifest.ts'

/** MACs of rows that say who is who. */
export interface RowKey {
  readonly deploymentId: string
  /** HMAC-SHA256, hex. */
  mac(text: string): string
  /** As it is stored. */
  readonly wrapped: Uint8Array
}

/** What a list of rows holds: the columns of each, as text, by its name. */
export interface RowList {
  readonly rows: Readonly<Record<string, string>>
  /** When rows of before were taken as they were found, ISO-8601; absent where there were none. */
  readonly takenAt?: string
}

/** A list as it was found in the store. `older`: it was whole once, and the last one seen was a newer one. */
export type FoundList =
  | { readonly kind: 'whole' | 'older'; readonly generation: number; readonly list: RowList }
  | { readonly kind: 'missing' | 'changed' }

/** What the vault's keys do for the rows that say who is who: a key for their MACs, and lists of them under its anchor. */
export interface RightsSeals {
  /** The key of rows, as the store has it. @throws BrokerError DaemonUnavailableError where the vault is sealed */
  key(db: Db): Promise<RowKey | 'missing' | 'changed'>
  /** Makes that key. */
  makeKey(tx: Db): Promise<RowKey>
  /** Stores it again where another hand removed or changed it. */
  putKeyBack(tx: Db, key: RowKey): Promise<void>
  /**
   * Returns whether rows may be taken as they are found: nothing says that this store had sealed ones before. Neither the anchor
   * nor any vault's manifest may say so, so that rows planted by a thief of the store are not taken in once more.
   */
  isFirstTime(tx: Db): Promise<boolean>
  /** Has every vault's manifest say it from now on. */
  markVaults(tx: Db): Promise<void>

  /** How far the list has come. */
  floor(name: string): number
  /** @param floor asked for before the reading transaction began: who reads just before a change must not find a thief */
  find(db: Db, name: string, floor: number): Promise<FoundList>
  /** Remembers that the list had come so far. Not for what a transaction has not committed. */
  saw(name: string, generation: number): void
  /** Writes the list anew, one step further. */
  replace(tx: Db, name: string, list: RowList): Promise<void>
  /** Writes the list anew after it was damaged or taken back: further than any that was ever written. */
  restore(tx: Db, name: string, list: RowList): Promise<void>
}

export interface RightsSealsOptions {
  readonly store: Store
  /** @throws BrokerError DaemonUnavailableError where the vault is sealed */
  readonly unsealed: () => { readonly keys: KeyHierarchy; readonly anchor: Anchor }
  /** Told of each list that came further; `seen` where it is known how far. */
  readonly changed: (name: string, seen?: number) => void
  /** @throws BrokerError DaemonUnavailableError where another daemon has brought the vault under another key */
  readonly requireCurrent: (db: Db) => Promise<void>
  readonly now: () => number
}

/** In the column of vaults. No vault is called so: theirs are random. */
const KEY_NAME = 'rights'
const TERM = 1
const MOST_REMEMBERED = 50_000

export function openRightsSeals(options: RightsSealsOptions): RightsSeals {
  return new SealsOfVault(options)
}

class SealsOfVault implements RightsSeals {
  readonly #options: RightsSealsOptions
  /** The newest generation of each list that was seen here: none ever becomes older. */
  readonly #newest = new LRUCache<string, number>({ max: MOST_REMEMBERED })

  constructor(options: RightsSealsOptions) {
    this.#options = options
  }

  async key(db: Db): Promise<RowKey | 'missing' | 'changed'> {
    const { keys } = this.#options.unsealed()
    const row = await db.selectFrom('data_keys').select('wrapped').where('vault_id', '=', KEY_NAME).executeTakeFirst()
    if (!row) return 'missing'
    try {
      return rowKey(keys, unwrapDataKey(keys, KEY_NAME, TERM, row.wrapped).key, row.wrapped)
    } catch {
      return 'changed'
    }
  }

  async makeKey(tx: Db): Promise<RowKey> {
    const { keys } = this.#options.unsealed()
    const { dataKey, wrapped } = makeDataKey(keys, KEY_NAME, TERM)
    await this.#storeKey(tx, wrapped)
    return rowKey(keys, dataKey.key, wrapped)
  }

  async putKeyBack(tx: Db, { wrapped }: RowKey): Promise<void> {
    if (typeof (await this.key(tx)) === 'object') return
    await tx.deleteFrom('data_keys').where('vault_id', '=', KEY_NAME).execute()
    await this.#storeKey(tx, wrapped)
  }

  async #storeKey(tx: Db, wrapped: Uint8Array): Promise<void> {
    const created_at = new Date(this.#options.now()).toISOString()
    await tx.insertInto('data_keys').values({ vault_id: KEY_NAME, term: TERM, wrapped, created_at }).execute()
  }

  async isFirstTime(tx: Db): Promise<boolean> {
    const { anchor } = this.#options.unsealed()
    if (anchor.damaged || anchor.reached(KEY_NAME) > 0) return false
    const vaults = await this.#vaults(tx)
    if (vaults.some(({ vault_id, manifest }) => manifest?.rights || anchor.isRolledBack(vault_id))) return false
    if (vaults.some(({ manifest }) => manifest !== undefined)) return true
    // No manifest can say so any more: what is left is a home that is new, or whose own anchor has never heard of it.
    const isEmpty = (await tx.selectFrom('principals').select('id').executeTakeFirst()) === undefined
    return isEmpty || (this.#options.store.dialect === 'sqlite' && anchor.isUsed())
  }

  async markVaults(tx: Db): Promise<void> {
    const { keys } = this.#options.unsealed()
    for (const { vault_id, generation: before, manifest } of await this.#vaults(tx)) {
      if (manifest === undefined) continue
      const generation = before + 1
      const sealed = sealManifest(keys, vault_id, generation, { ...manifest, rights: true })
      await tx.updateTable('manifests').set({ generation, sealed }).where('vault_id', '=', vault_id).execute()
      this.#options.changed(vault_id)
    }
  }

  async #vaults(tx: Db) {
    const { keys } = this.#options.unsealed()
    const rows = await tx.selectFrom('manifests').selectAll().execute()
    return rows
      .filter(({ vault_id }) => !isListName(vault_id))
      .map(({ vault_id, generation, sealed }) => {
        const manifest = attempt(() => openManifest<Manifest>(keys, vault_id, generation, sealed))
        return { vault_id, generation, manifest }
      })
  }

  floor(name: string): number {
    return Math.max(this.#newest.get(name) ?? 0, this.#options.unsealed().anchor.reached(name))
  }

  async find(db: Db, name: string, floor: number): Promise<FoundList> {
    const { keys } = this.#options.unsealed()
    const row = await db.selectFrom('manifests').selectAll().where('vault_id', '=', name).executeTakeFirst()
    if (!row) return { kind: 'missing' }
    const { generation, sealed } = row
    const list = attempt(() => openManifest<RowList>(keys, name, generation, sealed))
    if (list === undefined) {
      await this.#options.requireCurrent(db)
      return { kind: 'changed' }
    }
    return { kind: generation < floor ? 'older' : 'whole', generation, list }
  }

  saw(name: string, generation: number): void {
    if (generation <= (this.#newest.get(name) ?? 0)) return
    this.#newest.set(name, generation)
    this.#options.changed(name, generation)
  }

  replace(tx: Db, name: string, list: RowList): Promise<void> {
    return this.#write(tx, name, list, 0)
  }

  restore(tx: Db, name: string, list: RowList): Promise<void> {
    // No list changes once a second for ever: whatever generation a thief has kept, this is above it.
    return this.#write(tx, name, list, Math.floor(this.#options.now() / 1000))
  }

  async #write(tx: Db, name: string, list: RowList, above: number): Promise<void> {
    const { keys } = this.#options.unsealed()
    const row = await tx.deleteFrom('manifests').where('vault_id', '=', name).returning('generation').executeTakeFirst()
    const generation = Math.max(row?.generation ?? 0, this.floor(name), above) + 1
    const sealed = sealManifest(keys, name, generation, list)
    await tx.insertInto('manifests').values({ vault_id: name, generation, sealed }).execute()
    this.#options.changed(name)
  }
}

/** Returns whether it stands for a list of rows, in the column of vaults. */
export function isListName(name: string): boolean {
  return name === KEY_NAME || name.startsWith(`${KEY_NAME}/`)
}

function rowKey({ deploymentId }: KeyHierarchy, key: KeyObject, wrapped: Uint8Array): RowKey {
  return { deploymentId, wrapped, mac: (text) => createHmac('sha256', key).update(text).digest('hex') }
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
