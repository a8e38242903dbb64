import { BrokerError } from '../../protocol/index.ts'
import type { Db, Tables } from '../store/index.ts'
import type { FoundList, RightsSeals, RowKey, RowList } from '../vault/index.ts'
import { describe, listedFor, listedRow, ownerOf } from './find-wrong-rows.ts'
import { readRows } from './read-rows.ts'
import {
  type AnyRow,
  DEPLOYMENT,
  keyColumnOf,
  keyOf,
  type ListedTable,
  listName,
  nameOf,
  rowOf,
  type SealedTable,
  textOf,
} from './sealed-rows.ts'

export interface RestoreOptions {
  readonly seals: RightsSeals
  readonly key: RowKey
  readonly isGenuine: (row: AnyRow) => boolean
  readonly now: number
  readonly mayTakeOlder: boolean
}

/** The texts of rows, by their names on lists. */
type Texts = ReadonlyMap<string, string>

/** As {@link Rights.restore}. */
export async function restoreRows(tx: Db, options: RestoreOptions, of: string | undefined): Promise<readonly string[]> {
  const rows = await readRows(tx, options.now)
  const principals = await principalsOf(tx, options, rows, of)
  const lists = new Map<string, KeptList>()
  for (const id of principals) lists.set(id, await listToKeep(tx, options, id, rows))
  const older = [...lists].filter(([, { isWhole }]) => !isWhole)
  if (older.length > 0 && !options.mayTakeOlder) throw mayNotTakeOlder()
  const kept: Texts = new Map([...lists.values()].flatMap(({ rows: texts }) => Object.entries(texts)))
  const concerned = rows.filter((one) => of === undefined || ownerOf(one, rows) === of)
  const done = [
    ...(await removeStrangers(tx, options, concerned, { kept, principals, all: rows })),
    ...(await putBack(tx, options, kept, rows)),
    ...older.map(([id, list]) => takenAsItIs(id, list)),
  ]
  for (const [id, { rows }] of older) {
    await options.seals.restore(tx, listName(id), { rows })
    // They may have been signed out since.
    await removeSessions(tx, id)
  }
  await options.seals.putKeyBack(tx, options.key)
  if (of === undefined) await restoreDeployment(tx, options, principals, kept)
  return done
}

function takenAsItIs(id: string, { rows }: RowList): string {
  const handles = Object.entries(rows)
    .filter(([name]) => name.startsWith('identities/'))
    .map(([, text]) => rowOf('identities', text).handle)
  const account = rows[nameOf('accounts', id)]
  const whose = account === undefined ? `principal "${id}"` : rowOf('accounts', account).email
  const password = account === undefined ? '' : ' Its password is the one of then, its browsers are signed out.'
  return `Taken as it was: what belongs to ${whose}, with the agents ${handles.toSorted().join(', ') || '(none)'}.${password}`
}

function mayNotTakeOlder(): BrokerError {
  return new BrokerError(
    'OperationNotAllowedError',
    "Only the owner of the daemon's machine can take rows that are older than the last ones seen",
    { hint: 'Run `broker doctor --accept-restore` on the machine of the daemon, as its user.' },
  )
}

function findList(tx: Db, seals: RightsSeals, name: string): Promise<FoundList> {
  return seals.find(tx, name, seals.floor(name))
}

async function principalsOf(
  tx: Db,
  { seals, isGenuine }: RestoreOptions,
  rows: readonly AnyRow[],
  of: string | undefined,
): Promise<readonly string[]> {
  if (of !== undefined) return [of]
  const deployment = await findList(tx, seals, DEPLOYMENT)
  const listed =
    'list' in deployment ? Object.keys(deployment.list.rows).map((name) => name.slice('principals/'.length)) : []
  const genuine = rows.flatMap((one) => (one.table === 'principals' && isGenuine(one) ? [one.row.id] : []))
  // Where the list of all is lost, those that carry their MAC are all that is known.
  return 'list' in deployment ? listed : genuine
}

type KeptList = RowList & { readonly isWhole: boolean }

/** Returns what the principal's list says; where it cannot be read, the rows of the principal that carry their MAC. */
async function listToKeep(
  tx: Db,
  { seals, key, isGenuine }: RestoreOptions,
  principalId: string,
  rows: readonly AnyRow[],
): Promise<KeptList> {
  const found = await findList(tx, seals, listName(principalId))
  if ('list' in found) return { ...found.list, isWhole: found.kind === 'whole' }
  const own = rows.filter((one) => listedFor(one) === principalId && isGenuine(one))
  return {
    isWhole: false,
    rows: Object.fromEntries(
      own.map((one) => [nameOf(one.table as ListedTable, keyOf(one.table, one.row)), textOf(key, one.table, one.row)]),
    ),
  }
}

/** Rows that no list knows, or that carry no MAC of theirs. Accounts and identities before the principals that they name. */
async function removeStrangers(
  tx: Db,
  { isGenuine }: RestoreOptions,
  rows: readonly AnyRow[],
  {
    kept,
    principals,
    all,
  }: { readonly kept: Texts; readonly principals: readonly string[]; readonly all: readonly AnyRow[] },
): Promise<readonly string[]> {
  const strangers = rows.filter((one) => {
    if (listedFor(one) === undefined) return !isGenuine(one)
    // A vault hangs on it: one that is lost stays as it is, and is nobody.
    if (one.table === 'principals' && principals.includes(one.row.id)) return false
    return !kept.has(nameOf(one.table as ListedTable, keyOf(one.table, one.row)))
  })
  for (const one of strangers.toReversed()) {
    if (one.table === 'principals') await removeSessions(tx, one.row.id)
    await remove(tx, one.table, keyOf(one.table, one.row))
  }
  return strangers.map((one) => `Removed: ${describe(one, all)}.`)
}

async function removeSessions(tx: Db, principalId: string): Promise<void> {
  await tx.deleteFrom('browser_sessions').where('principal_id', '=', principalId).execute()
  await tx.deleteFrom('browser_links').where('principal_id', '=', principalId).execute()
}

async function remove(tx: Db, table: SealedTable, key: string): Promise<void> {
  await tx
    .deleteFrom(table as keyof Tables)
    .where(keyColumnOf(table) as never, '=', key as never)
    .execute()
}

/** Rows of the lists that are missing, or say something else. */
async function putBack(
  tx: Db,
  { key, isGenuine }: RestoreOptions,
  kept: Texts,
  rows: readonly AnyRow[],
): Promise<readonly string[]> {
  const there = new Map(rows.map((one) => [`${one.table}/${keyOf(one.table, one.row)}`, one]))
  const wrong = [...kept].filter(([name, text]) => {
    const stored = there.get(name)
    return !(stored && isGenuine(stored) && textOf(key, stored.table, stored.row) === text)
  })
  const listed = wrong.sort(principalsFirst).map(([name, text]) => ({ ...listedRow(name, text), name, text }))
  // What two rows have swapped is free again before either gets its own back.
  for (const { table, row, name } of listed) if (there.has(name)) await giveUpNames(tx, table, keyOf(table, row))
  for (const { table, row, name, text } of listed) {
    // Registered again meanwhile, by the same key.
    if (table === 'identities') await tx.deleteFrom('identities').where('did', '=', row.did).execute()
    const sealed = { ...row, mac: key.mac(text) }
    if (there.has(name)) await update(tx, table, keyOf(table, row), sealed)
    else
      await tx
        .insertInto(table as keyof Tables)
        .values(sealed as never)
        .execute()
  }
  return listed.map((one) => `Put back: ${describe(one, [])}.`)
}

async function giveUpNames(tx: Db, table: ListedTable, key: string): Promise<void> {
  const free = `lost/${key}`
  const names = {
    principals: { vault_id: free, local_owner: 0 },
    accounts: { email: free },
    identities: { did: free, handle: free },
  } as const
  await update(tx, table, key, names[table])
}

async function update(tx: Db, table: ListedTable, key: string, columns: object): Promise<void> {
  await tx
    .updateTable(table as keyof Tables)
    .set(columns as never)
    .where(keyColumnOf(table) as never, '=', key as never)
    .execute()
}

function principalsFirst([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return Number(other.startsWith('principals/')) - Number(one.startsWith('principals/'))
}

async function restoreDeployment(
  tx: Db,
  { seals }: RestoreOptions,
  principals: readonly string[],
  kept: Texts,
): Promise<void> {
  const found = await findList(tx, seals, DEPLOYMENT)
  if (found.kind === 'whole') return
  const kinds = principals.map((id) => {
    const name = nameOf('principals', id)
    const known = 'list' in found ? found.list.rows[name] : undefined
    const row = listedRow(name, kept.get(name) ?? '[]')
    const isOwner = row.table === 'principals' && row.row.local_owner === 1
    return [name, known ?? (isOwner ? 'local owner' : 'account')]
  })
  const rows = Object.fromEntries(kinds)
  await seals.restore(tx, DEPLOYMENT, 'list' in found ? { ...found.list, rows } : { rows })
}
