import type { Audit } from '../audit/index.ts'
import type { Db, Tables } from '../store/index.ts'
import type { RightsSeals, RowKey } from '../vault/index.ts'
import { listedFor } from './find-wrong-rows.ts'
import { readRows } from './read-rows.ts'
import {
  type AnyRow,
  DEPLOYMENT,
  keyColumnOf,
  keyOf,
  type ListedTable,
  listName,
  nameOf,
  sealedTables,
  textOf,
} from './sealed-rows.ts'

interface TakeOptions {
  readonly seals: RightsSeals
  readonly audit: Audit
  readonly now: number
}

/** Seals every row that is there, makes the lists, and says so; once in the life of a store. The key that did it. */
export async function takeRows(tx: Db, { seals, audit, now }: TakeOptions): Promise<RowKey> {
  const key = await seals.makeKey(tx)
  const rows = await readRows(tx, now)
  for (const row of rows) await writeMac(tx, key, row)
  const principals = rows.filter((row) => row.table === 'principals')
  for (const { row } of principals) {
    const own = rows.filter((one) => listedFor(one) === row.id)
    const texts = own.map((one) => [
      nameOf(one.table as ListedTable, keyOf(one.table, one.row)),
      textOf(key, one.table, one.row),
    ])
    await seals.replace(tx, listName(row.id), { rows: Object.fromEntries(texts) })
  }
  const kinds = principals.map(({ row }) => [
    nameOf('principals', row.id),
    row.local_owner === 1 ? 'local owner' : 'account',
  ])
  const takenAt = new Date(now).toISOString()
  await seals.replace(tx, DEPLOYMENT, { rows: Object.fromEntries(kinds), ...(rows.length > 0 && { takenAt }) })
  await seals.markVaults(tx)
  if (rows.length > 0) {
    const actor = { identity: '(daemon)', principalId: '(nobody)' }
    await audit.record(tx, actor, { event: 'rights.sealed', status: 'success', reason: countsOf(rows) })
  }
  return key
}

async function writeMac(tx: Db, key: RowKey, { table, row }: AnyRow): Promise<void> {
  await tx
    .updateTable(table as keyof Tables)
    .set({ mac: key.mac(textOf(key, table, row)) } as never)
    .where(keyColumnOf(table) as never, '=', keyOf(table, row) as never)
    .execute()
}

/** `3 identities, 1 principals, …`: of each table that had rows. */
function countsOf(rows: readonly AnyRow[]): string {
  return sealedTables
    .map((table) => [table.replace('_', ' '), rows.filter((row) => row.table === table).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ')
}
