import { type Kysely, sql } from 'kysely'
import type { Dialect } from './migrations.ts'
import type { Tables } from './tables.ts'

/** A row of any table. Lists and objects are text in the store. */
export type AnyRow = Readonly<Record<string, string | number | null | Uint8Array>>

/** Every table with its key, in an order in which each comes after those that it refers to. */
const KEYS = {
  principals: ['id'],
  identities: ['id'],
  claims: ['token_hash'],
  accounts: ['principal_id'],
  browser_sessions: ['id'],
  browser_links: ['token_hash'],
  sign_in_attempts: ['subject'],
  runs: ['id'],
  run_channels: ['run_id'],
  release_numbers: ['id'],
  vault_sources: ['id'],
  data_keys: ['vault_id', 'term'],
  manifests: ['vault_id'],
  records: ['vault_id', 'kind', 'id'],
  connections: ['vault_id', 'provider', 'connection'],
  refreshes: ['vault_id', 'provider', 'connection'],
  audit_events: ['seq'],
  audit_head: ['id'],
  audit_hours: ['hour', 'principal_id', 'agent_principal_id', 'event', 'provider', 'status'],
  audit_totals: ['hour', 'chain', 'event', 'provider', 'status'],
  audit_roots: ['number'],
} as const satisfies Record<keyof Tables, readonly string[]>

export type TableName = keyof Tables

export const TABLES = Object.keys(KEYS) as readonly TableName[]

export function isTable(name: string): name is TableName {
  return Object.hasOwn(KEYS, name)
}

const ROWS_AT_ONCE = 1000

/** Every row of a table, in the order of its key, some at a time. Those that a table was made with are rows, too. */
export async function* rowsOf(db: Kysely<Tables>, table: TableName): AsyncGenerator<readonly AnyRow[]> {
  const keys = KEYS[table] as readonly string[]
  const order = sql.join(keys.map((key) => sql.ref(key)))
  let last: AnyRow | undefined
  for (;;) {
    const from = last && sql.join(keys.map((key) => sql`${last?.[key]}`))
    const after = from === undefined ? sql`` : sql`where (${order}) > (${from})`
    const { rows } = await sql<AnyRow>`
      select * from ${sql.ref(table)} ${after} order by ${order} limit ${sql.lit(ROWS_AT_ONCE)}`.execute(db)
    if (rows.length > 0) yield rows
    last = rows.at(-1)
    if (rows.length < ROWS_AT_ONCE) return
  }
}

/** Below what SQLite and Postgres take. */
const MOST_VALUES = 30_000

/** Writes rows of a table, as they were read. */
export async function writeRows(
  tx: Kysely<Tables>,
  dialect: Dialect,
  { table, rows }: { readonly table: TableName; readonly rows: readonly AnyRow[] },
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  if (table === 'audit_head' && dialect === 'sqlite' && rows.some(({ id }) => id !== 1)) await makeRoomForHeads(tx)
  const columns = Object.keys(first)
  const names = sql.join(columns.map((name) => sql.ref(name)))
  const most = Math.floor(MOST_VALUES / columns.length)
  for (let at = 0; at < rows.length; at += most) {
    const values = rows.slice(at, at + most).map((row) => sql`(${sql.join(columns.map((name) => row[name] ?? null))})`)
    await sql`insert into ${sql.ref(table)} (${names}) values ${sql.join(values)}`.execute(tx)
  }
}

/** A log that was on Postgres has more chains than SQLite makes. They end there; all that comes goes on the first. */
async function makeRoomForHeads(tx: Kysely<Tables>): Promise<void> {
  await sql`drop table audit_head`.execute(tx)
  await sql`create table audit_head (id integer primary key, seq bigint not null, hash text not null)`.execute(tx)
}

/** Removes the rows that tables are made with, and returns whether others are there: nothing is removed then. */
export async function emptyFresh(tx: Kysely<Tables>): Promise<boolean> {
  for (const table of ['principals', 'vault_sources', 'audit_events'] as const) {
    const { rows } = await sql`select 1 from ${sql.ref(table)} limit 1`.execute(tx)
    if (rows.length > 0) return false
  }
  for (const table of ['audit_head', 'release_numbers', 'data_keys', 'manifests'] as const)
    await sql`delete from ${sql.ref(table)}`.execute(tx)
  return true
}

/** Makes whole what only this kind of store has: the other heads of the log, and where its numbers go on. */
export async function finishRows(tx: Kysely<Tables>, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') return
  await sql`insert into audit_head (id, seq, hash) select id, 0, '' from generate_series(1, 16) as id
    on conflict do nothing`.execute(tx)
  await sql`select setval('audit_seq', (select coalesce(max(seq), 0) + 1 from audit_events), false)`.execute(tx)
}
