import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Db, Store } from '../store/index.ts'
import type { FoundList, RightsSeals, RowKey, RowList, Vault } from '../vault/index.ts'
import { findWrongRows } from './find-wrong-rows.ts'
import { listIssue } from './list-issue.ts'
import { restoreRows } from './restore-rows.ts'
import {
  type AnyRow,
  DEPLOYMENT,
  keyOf,
  type ListedTable,
  listName,
  nameOf,
  rowOf,
  type Sealable,
  type SealedTable,
  textOf,
} from './sealed-rows.ts'
import { takeRows } from './take-rows.ts'

/** What speaks for a row that was read: the rows that belong to it, and how far the list was that they are on. */
export interface Evidence {
  /** Whose it is; null where it is nobody's yet. */
  readonly principalId: string | null
  /** Of the principal's list, as it was read with the rows. */
  readonly generation: number | null
  /** Rows that carry a MAC. Of them, those of a principal must be on its list. */
  readonly rows: readonly AnyRow[]
  /** An identity of the principal that must be there still. */
  readonly identityId?: string | null
}

export interface Rights {
  /**
   * Makes sure that rows can be told from planted ones; before a transaction, not in it. The first time, takes those of a
   * store from before as they are.
   * @throws BrokerError DaemonUnavailableError where the vault is sealed, or the key of rows was taken away
   */
  open(): Promise<void>
  /** Lets go of the key and of all that was made with it: the vault was locked. */
  forget(): void
  /**
   * Returns what was read, unless another hand wrote it.
   * @param read one statement, which may be asked twice
   */
  believe<Row>(read: (db: Db) => Promise<Row | undefined>, evidence: (row: Row) => Evidence): Promise<Row | undefined>
  /** The same of what a transaction has read. */
  speaksFor(tx: Db, evidence: Evidence): Promise<boolean>
  /** @throws BrokerError DaemonUnavailableError where the principal's list is not what it should be */
  requireList(tx: Db, principalId: string): Promise<void>
  /**
   * The principal's rows that are to be believed now: on its list.
   * @param generation of the list where that is known: it need not be read again then
   */
  listed(principalId: string, generation?: number | null): Promise<Listed>
  /** Why nothing of the principal's can be believed, one sentence; undefined where its list and its own row are whole. */
  whyNot(principalId: string): Promise<string | undefined>

  /** The row as it is to be stored, with its MAC. */
  seal<Table extends SealedTable, Row extends Sealable<Table>>(table: Table, row: Row): Row & { readonly mac: string }
  /** Returns whether the row carries its own MAC. */
  isGenuine(row: AnyRow): boolean
  /** Seals a row that lives long, and puts it on the list of its principal in the place of its last version. */
  enter<Table extends ListedTable, Row extends Sealable<Table>>(
    tx: Db,
    principalId: string,
    row: { readonly table: Table; readonly row: Row },
  ): Promise<Row & { readonly mac: string }>
  /** Takes a row off its principal's list. */
  withdraw(tx: Db, principalId: string, table: ListedTable, key: string): Promise<void>
  /** Begins the list of a new principal. */
  found<Row extends Sealable<'principals'>>(tx: Db, row: Row): Promise<Row & { readonly mac: string }>
  /** Returns which principal the home's bootstrap secret stands for, and whether there are others. */
  principals(tx: Db): Promise<{ readonly localOwner: string | undefined; readonly hasOthers: boolean }>

  /** Returns what is wrong among the rows that the actor may know of, as sentences. */
  issues(actor: Pick<Actor, 'principalId' | 'role'>): Promise<readonly string[]>
  /** Returns what the principal should look at once, as sentences. */
  notices(principalId: string): Promise<readonly string[]>
  /**
   * Puts back what the lists say, and removes the rows that they do not know. A list that is damaged, or older than the
   * last one seen, is taken as it is, with the rows that carry their MAC.
   * @param of a principal; all where absent
   * @returns what was done, as sentences
   */
  restore(tx: Db, of?: string, may?: RestoreRight): Promise<readonly string[]>
}

/** Whether lists that are older than the last ones seen may be taken: whoever may has the daemon's machine. */
type RestoreRight = 'take older lists' | 'put rows back'

interface Listed {
  has(row: AnyRow<ListedTable>): boolean
  account(): Sealable<'accounts'> | undefined
}

export interface RightsOptions {
  readonly store: Store
  readonly vault: Pick<Vault, 'rights'>
  readonly audit: Audit
  /** Told, in a sentence without a secret, of each row that was not believed. */
  readonly onFinding?: (what: string) => void
  readonly now?: () => number
}

export function openRights(options: RightsOptions): Rights {
  return new RightsOfStore(options)
}

const MOST_LISTS = 10_000
const MOST_ROWS = 50_000
const MOST_TOLD = 1000
/** How long people are asked to look at what was taken as it was found. */
const NOTICE_MS = 7 * 24 * 60 * 60 * 1000

interface CachedList {
  readonly generation: number
  readonly rows: RowList['rows']
}

class RightsOfStore implements Rights {
  readonly #options: RightsOptions
  readonly #seals: RightsSeals
  readonly #now: () => number
  #key: RowKey | undefined
  #opening: Promise<void> | undefined
  /** The MAC of each text that was computed lately. */
  readonly #macs = new LRUCache<string, string>({ max: MOST_ROWS })
  readonly #lists = new LRUCache<string, CachedList>({ max: MOST_LISTS })
  readonly #told = new LRUCache<string, true>({ max: MOST_TOLD })

  constructor(options: RightsOptions) {
    this.#options = options
    this.#seals = options.vault.rights
    this.#now = options.now ?? Date.now
  }

  async open(): Promise<void> {
    if (this.#key) return
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    await this.#opening
  }

  forget(): void {
    this.#key = undefined
    this.#macs.clear()
    this.#lists.clear()
  }

  async #open(): Promise<void> {
    const { store, audit } = this.#options
    const stored = await this.#seals.key(store.db)
    this.#key =
      typeof stored === 'object'
        ? stored
        : await store.transaction(async (tx) => {
            const found = await this.#seals.key(tx)
            if (typeof found === 'object') return found
            if (found === 'changed' || !(await this.#seals.isFirstTime(tx))) throw withoutKey()
            return takeRows(tx, { seals: this.#seals, audit, now: this.#now() })
          })
  }

  #requireKey(): RowKey {
    if (this.#key) return this.#key
    throw new Error('Rows cannot be sealed before their key is there')
  }

  async believe<Row>(
    read: (db: Db) => Promise<Row | undefined>,
    evidence: (row: Row) => Evidence,
  ): Promise<Row | undefined> {
    await this.open()
    const { db } = this.#options.store
    const row = await read(db)
    if (row === undefined) return undefined
    const given = evidence(row)
    if (this.#isKnownGood(given)) return row
    return this.#lookCloser(read, evidence, given.principalId)
  }

  #isKnownGood(given: Evidence): boolean {
    if (given.principalId === null) return this.#isSpokenFor(given, undefined)
    const list = this.#lists.get(given.principalId)
    return list !== undefined && list.generation === given.generation && this.#isSpokenFor(given, list.rows)
  }

  /** Reads the rows and their list in one state of the store: what was read before may have been just ahead of a change. */
  async #lookCloser<Row>(
    read: (db: Db) => Promise<Row | undefined>,
    evidence: (row: Row) => Evidence,
    principalId: string | null,
  ): Promise<Row | undefined> {
    const floor = principalId === null ? 0 : this.#seals.floor(listName(principalId))
    const { row, list } = await this.#options.store.snapshot(async (tx) => ({
      row: await read(tx),
      list: principalId === null ? undefined : await this.#seals.find(tx, listName(principalId), floor),
    }))
    if (row === undefined) return undefined
    const given = evidence(row)
    // Claimed in this very moment: whoever asks next finds it so.
    if (given.principalId !== principalId) return undefined
    if (principalId !== null && list) this.#remember(principalId, list)
    if (this.#isSpokenFor(given, rowsOf(list))) return row
    this.#tell(given)
    return undefined
  }

  #remember(principalId: string, list: FoundList): void {
    if (list.kind !== 'whole') return
    this.#lists.set(principalId, { generation: list.generation, rows: list.list.rows })
    this.#seals.saw(listName(principalId), list.generation)
  }

  /** @param listed the rows of the principal's list; undefined where none is whole */
  #isSpokenFor({ principalId, rows, identityId }: Evidence, listed: RowList['rows'] | undefined): boolean {
    if (principalId !== null && listed === undefined) return false
    if (identityId && !(listed && Object.hasOwn(listed, nameOf('identities', identityId)))) return false
    return rows.every((one) => {
      const text = textOf(this.#requireKey(), one.table, one.row)
      if (!isMac(one.row.mac, this.#macOf(text))) return false
      return listed === undefined || !isListed(one) || listed[nameOf(one.table, keyOf(one.table, one.row))] === text
    })
  }

  #tell({ rows }: Evidence): void {
    const [first] = rows
    if (!first) return
    const name = `${first.table} ${keyOf(first.table, first.row)}`
    if (this.#told.has(name)) return
    this.#told.set(name, true)
    this.#options.onFinding?.(`a row that was changed outside of Broker is not believed: ${name}`)
  }

  async speaksFor(tx: Db, given: Evidence): Promise<boolean> {
    const list = given.principalId === null ? undefined : await this.#found(tx, given.principalId)
    if (this.#isSpokenFor(given, rowsOf(list))) return true
    this.#tell(given)
    return false
  }

  async requireList(tx: Db, principalId: string): Promise<void> {
    const { kind } = await this.#found(tx, principalId)
    if (kind !== 'whole') throw notWhole(listIssue(kind, 'this principal'))
  }

  #found(tx: Db, principalId: string): Promise<FoundList> {
    const name = listName(principalId)
    return this.#seals.find(tx, name, this.#seals.floor(name))
  }

  async listed(principalId: string, generation: number | null = null): Promise<Listed> {
    await this.open()
    const rows = await this.#listedRows(principalId, generation)
    const account = rows[nameOf('accounts', principalId)]
    return {
      has: (row) => this.isGenuine(row) && isRowOnList(this.#requireKey(), rows, row),
      account: () => (account === undefined ? undefined : rowOf('accounts', account)),
    }
  }

  async #listedRows(principalId: string, generation: number | null): Promise<RowList['rows']> {
    const cached = this.#lists.get(principalId)
    if (cached && cached.generation === generation) return cached.rows
    const found = await this.#found(this.#options.store.db, principalId)
    this.#remember(principalId, found)
    return found.kind === 'whole' ? found.list.rows : {}
  }

  async whyNot(principalId: string): Promise<string | undefined> {
    await this.open()
    const name = listName(principalId)
    const floor = this.#seals.floor(name)
    const { row, list } = await this.#options.store.snapshot(async (tx) => ({
      row: await tx.selectFrom('principals').selectAll().where('id', '=', principalId).executeTakeFirst(),
      list: await this.#seals.find(tx, name, floor),
    }))
    if (list.kind !== 'whole') return listIssue(list.kind, 'this principal')
    const given = row && { principalId, generation: null, rows: [{ table: 'principals' as const, row }] }
    const isWhole = given && this.#isSpokenFor(given, rowsOf(list))
    return isWhole ? undefined : `The stored principal "${principalId}" was changed outside of Broker.`
  }

  seal<Table extends SealedTable, Row extends Sealable<Table>>(table: Table, row: Row): Row & { readonly mac: string } {
    return { ...row, mac: this.#macOf(textOf(this.#requireKey(), table, row)) }
  }

  isGenuine({ table, row }: AnyRow): boolean {
    return isMac(row.mac, this.#macOf(textOf(this.#requireKey(), table, row)))
  }

  #macOf(text: string): string {
    const known = this.#macs.get(text)
    if (known !== undefined) return known
    const mac = this.#requireKey().mac(text)
    this.#macs.set(text, mac)
    return mac
  }

  async enter<Table extends ListedTable, Row extends Sealable<Table>>(
    tx: Db,
    principalId: string,
    { table, row }: { readonly table: Table; readonly row: Row },
  ): Promise<Row & { readonly mac: string }> {
    const key = this.#requireKey()
    const name = nameOf(table, keyOf(table, row))
    await this.#change(tx, principalId, (rows) => ({ ...rows, [name]: textOf(key, table, row) }))
    return this.seal(table, row)
  }

  withdraw(tx: Db, principalId: string, table: ListedTable, key: string): Promise<void> {
    const name = nameOf(table, key)
    return this.#change(tx, principalId, (rows) =>
      Object.fromEntries(Object.entries(rows).filter(([other]) => other !== name)),
    )
  }

  async #change(tx: Db, principalId: string, change: (rows: RowList['rows']) => RowList['rows']): Promise<void> {
    const found = await this.#found(tx, principalId)
    if (found.kind !== 'whole') throw notWhole(listIssue(found.kind, 'this principal'))
    await this.#seals.replace(tx, listName(principalId), { ...found.list, rows: change(found.list.rows) })
  }

  async found<Row extends Sealable<'principals'>>(tx: Db, row: Row): Promise<Row & { readonly mac: string }> {
    const deployment = await this.#deployment(tx)
    const name = nameOf('principals', row.id)
    const rows = { ...deployment.rows, [name]: row.local_owner === 1 ? 'local owner' : 'account' }
    await this.#seals.replace(tx, DEPLOYMENT, { ...deployment, rows })
    const text = textOf(this.#requireKey(), 'principals', row)
    await this.#seals.replace(tx, listName(row.id), { rows: { [name]: text } })
    return this.seal('principals', row)
  }

  async principals(tx: Db): Promise<{ readonly localOwner: string | undefined; readonly hasOthers: boolean }> {
    const entries = Object.entries((await this.#deployment(tx)).rows)
    const owner = entries.find(([, kind]) => kind === 'local owner')
    return { localOwner: owner?.[0].split('/')[1], hasOthers: entries.length > (owner ? 1 : 0) }
  }

  async #deployment(tx: Db): Promise<RowList> {
    const found = await this.#seals.find(tx, DEPLOYMENT, this.#seals.floor(DEPLOYMENT))
    if (found.kind !== 'whole') throw notWhole(listIssue(found.kind, 'this deployment'))
    return found.list
  }

  async issues(actor: Pick<Actor, 'principalId' | 'role'>): Promise<readonly string[]> {
    await this.open()
    const isGenuine = (row: AnyRow) => this.isGenuine(row)
    const { store } = this.#options
    return findWrongRows({ store, seals: this.#seals, key: this.#requireKey(), isGenuine, now: this.#now() }, actor)
  }

  async notices(principalId: string): Promise<readonly string[]> {
    await this.open()
    const found = await this.#seals.find(this.#options.store.db, DEPLOYMENT, 0)
    const takenAt = found.kind === 'whole' ? found.list.takenAt : undefined
    if (takenAt === undefined || this.#now() - Date.parse(takenAt) > NOTICE_MS) return []
    const handles = Object.entries(await this.#listedRows(principalId, null))
      .filter(([name]) => name.startsWith('identities/'))
      .map(([, text]) => rowOf('identities', text).handle)
    if (handles.length === 0) return []
    return [
      'Rows that say who is who are sealed since the last upgrade; those of before were taken as they were found. ' +
        `Are these all your agents: ${handles.sort().join(', ')}? \`broker dashboard\` removes others.`,
    ]
  }

  async restore(tx: Db, of?: string, may: RestoreRight = 'take older lists'): Promise<readonly string[]> {
    const isGenuine = (row: AnyRow) => this.isGenuine(row)
    this.#lists.clear()
    this.#told.clear()
    const options = { seals: this.#seals, key: this.#requireKey(), isGenuine, now: this.#now() }
    return restoreRows(tx, { ...options, mayTakeOlder: may === 'take older lists' }, of)
  }
}

function isMac(given: string | null, expected: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function rowsOf(list: FoundList | undefined): RowList['rows'] | undefined {
  return list?.kind === 'whole' ? list.list.rows : undefined
}

function isListed(row: AnyRow): row is AnyRow<ListedTable> {
  return row.table === 'principals' || row.table === 'accounts' || row.table === 'identities'
}

function isRowOnList(key: RowKey, rows: RowList['rows'], { table, row }: AnyRow<ListedTable>): boolean {
  return rows[nameOf(table, keyOf(table, row))] === textOf(key, table, row)
}

function notWhole(issue: string): BrokerError {
  return new BrokerError('DaemonUnavailableError', issue.replace(/\..*$/s, ''), {
    hint: 'See `broker doctor`. `broker doctor --accept-restore` puts back what Broker wrote.',
  })
}

function withoutKey(): BrokerError {
  return new BrokerError(
    'DaemonUnavailableError',
    'Nobody can be told from a planted one: the key of the rows that say who is who was removed or changed outside of Broker',
    {
      hint: 'Did you put back a store of before the upgrade that made that key? Then stop the daemon, remove server/vault-anchor.json, and start it again. Otherwise put back a backup.',
    },
  )
}
