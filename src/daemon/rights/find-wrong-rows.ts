import { setImmediate } from 'node:timers/promises'
import type { Actor } from '../../protocol/index.ts'
import type { Db, Store } from '../store/index.ts'
import type { FoundList, RightsSeals, RowKey } from '../vault/index.ts'
import { listIssue } from './list-issue.ts'
import { readRows } from './read-rows.ts'
import { type AnyRow, DEPLOYMENT, keyOf, type ListedTable, listName, nameOf, rowOf, textOf } from './sealed-rows.ts'

export interface SearchOptions {
  readonly store: Store
  readonly seals: RightsSeals
  readonly key: RowKey
  readonly isGenuine: (row: AnyRow) => boolean
  readonly now: number
}

type Reader = Pick<Actor, 'principalId' | 'role'>

/** Rows that are looked at before others get their turn. */
const ROWS_AT_ONCE = 500

/** Holds every row against its MAC and its list. Of other principals only admins are told. */
export async function findWrongRows(options: SearchOptions, reader: Reader): Promise<readonly string[]> {
  const { store, seals } = options
  const names = await listNames(store.db, reader)
  const floors = new Map(names.map((name) => [name, seals.floor(name)]))
  const found = await store.snapshot(async (tx) => {
    const lists = new Map<string, FoundList>()
    for (const name of names) lists.set(name, await seals.find(tx, name, floors.get(name) ?? 0))
    return { rows: await readRows(tx, options.now), lists, hasKey: typeof (await seals.key(tx)) === 'object' }
  })
  const mine = found.rows.filter((row) => reader.role === 'admin' || ownerOf(row, found.rows) === reader.principalId)
  return [
    ...(found.hasKey ? [] : ['The key of the rows that say who is who was removed or changed outside of Broker.']),
    ...listIssues(found.lists),
    ...(await rowIssues(options, mine, found)),
    ...missingRows(mine, found.lists),
  ]
}

async function listNames(db: Db, { principalId, role }: Reader): Promise<readonly string[]> {
  if (role !== 'admin') return [listName(principalId)]
  const principals = await db.selectFrom('principals').select('id').execute()
  const lists = await db
    .selectFrom('manifests')
    .select('vault_id')
    .where('vault_id', 'like', `${DEPLOYMENT}/%`)
    .execute()
  return [...new Set([DEPLOYMENT, ...principals.map(({ id }) => listName(id)), ...lists.map((one) => one.vault_id)])]
}

function listIssues(lists: ReadonlyMap<string, FoundList>): readonly string[] {
  const deployment = lists.get(DEPLOYMENT)
  const known = deployment && 'list' in deployment ? Object.keys(deployment.list.rows) : undefined
  return [...lists].flatMap(([name, { kind }]) => {
    const principal = name.slice(DEPLOYMENT.length + 1)
    // A principal that was planted has no list: its row is told of.
    if (principal !== '' && known && !known.includes(nameOf('principals', principal))) return []
    const whose = name === DEPLOYMENT ? 'this deployment' : `the principal "${principal}"`
    return kind === 'whole' ? [] : [listIssue(kind, whose)]
  })
}

async function rowIssues(
  { key, isGenuine }: SearchOptions,
  rows: readonly AnyRow[],
  { rows: all, lists }: { readonly rows: readonly AnyRow[]; readonly lists: ReadonlyMap<string, FoundList> },
): Promise<readonly string[]> {
  const issues: string[] = []
  for (const [index, one] of rows.entries()) {
    if (index % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await setImmediate()
    if (!isGenuine(one) || !isWhereItBelongs(key, one, lists))
      issues.push(`The stored ${describe(one, all)} was changed outside of Broker.`)
  }
  return issues
}

function isWhereItBelongs(key: RowKey, one: AnyRow, lists: ReadonlyMap<string, FoundList>): boolean {
  const owner = listedFor(one)
  if (owner === undefined) return true
  const found = lists.get(listName(owner))
  if (!found || !('list' in found)) return found !== undefined
  return (
    found.list.rows[nameOf(one.table as ListedTable, keyOf(one.table, one.row))] === textOf(key, one.table, one.row)
  )
}

/** Whose list the row must be on; undefined for one that is on none. */
export function listedFor(one: AnyRow): string | undefined {
  if (one.table === 'principals') return one.row.id
  if (one.table === 'accounts') return one.row.principal_id
  return one.table === 'identities' ? (one.row.principal_id ?? undefined) : undefined
}

/** Whose it is, as far as the rows say. */
export function ownerOf(one: AnyRow, all: readonly AnyRow[]): string | undefined {
  if (one.table === 'browser_sessions' || one.table === 'browser_links') return one.row.principal_id
  if (one.table === 'runs' || one.table === 'claims') {
    const identity = identityOf(one.row.identity_id, all)
    return identity?.principal_id ?? undefined
  }
  return listedFor(one)
}

function identityOf(id: string, all: readonly AnyRow[]) {
  for (const one of all) if (one.table === 'identities' && one.row.id === id) return one.row
  return undefined
}

/** In the words of people; no hash of a token is one. */
export function describe(one: AnyRow, all: readonly AnyRow[]): string {
  switch (one.table) {
    case 'principals':
      return `principal "${one.row.id}"`
    case 'accounts':
      return `account "${one.row.email}"`
    case 'identities':
      return `identity "${one.row.handle}"`
    case 'runs':
      return `run "${one.row.id}"`
    case 'browser_sessions':
      return `browser session "${one.row.id}"`
    case 'claims':
      return `claim of the identity "${identityOf(one.row.identity_id, all)?.handle ?? one.row.identity_id}"`
    case 'browser_links':
      return `sign-in link of the principal "${one.row.principal_id}"`
  }
}

function missingRows(rows: readonly AnyRow[], lists: ReadonlyMap<string, FoundList>): readonly string[] {
  const there = new Set(
    rows
      .filter((one) => listedFor(one))
      .map((one) => `${listName(listedFor(one) ?? '')} ${nameOf(one.table as ListedTable, keyOf(one.table, one.row))}`),
  )
  return [...lists].flatMap(([name, found]) => {
    if (name === DEPLOYMENT || !('list' in found)) return []
    return Object.entries(found.list.rows)
      .filter(([row]) => !there.has(`${name} ${row}`))
      .map(([row, text]) => `The stored ${describe(listedRow(row, text), [])} was removed outside of Broker.`)
  })
}

/** A row as its list has it. */
export function listedRow(name: string, text: string): AnyRow<ListedTable> {
  const table = name.slice(0, name.indexOf('/')) as ListedTable
  return { table, row: { ...rowOf(table, text), mac: null } } as AnyRow<ListedTable>
}
