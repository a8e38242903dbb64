import { CompiledQuery, sql } from 'kysely'
import { type AuditEventRow, type ColumnTypes, type Db, jsonRows, type Tables } from '../store/index.ts'
import { countHours } from './audit-hours.ts'
import { chainedHash } from './chain.ts'
import { chainIn, chainOf, columnOf, type Dialect } from './chain-of.ts'

/** An event that has no place in the log yet. */
export type NewRow = Omit<AuditEventRow, 'seq' | 'chain' | 'hash'>

type PlacedRow = Omit<AuditEventRow, 'seq' | 'hash'>

const COLUMNS: ColumnTypes<AuditEventRow> = {
  seq: 'bigint',
  id: 'text',
  timestamp: 'text',
  event: 'text',
  source: 'text',
  provider: 'text',
  connection: 'text',
  identity: 'text',
  principal_id: 'text',
  agent_principal_id: 'text',
  status: 'text',
  reason: 'text',
  run_id: 'text',
  request: 'text',
  details: 'text',
  chain: 'bigint',
  hash: 'text',
}

const NAMES = Object.keys(COLUMNS) as readonly (keyof AuditEventRow)[]

/** Numbers and chains events, stores them and counts their hours. Those that were stored before are left out. */
export async function appendRows(tx: Db, dialect: Dialect, rows: readonly NewRow[]): Promise<void> {
  const placed = rows.map((row) => ({ ...storable(row), chain: columnOf(chainOf(dialect, row.principal_id)) }))
  const heads = await lockedHeads(tx, dialect, [...new Set(placed.map(chainIn))])
  const fresh = await withoutStored(tx, dialect, placed)
  if (fresh.length === 0) return
  const chained = chain(fresh, heads, await numbersFor(tx, dialect, heads, fresh.length))
  await insertEvents(tx, dialect, chained)
  await countHours(tx, dialect, chained)
  await sql`update audit_head set seq = given.seq, hash = given.hash
    from ${jsonRows(dialect, HEAD, [...heads.values()])} as given where audit_head.id = given.id`.execute(tx)
}

type Head = Tables['audit_head']
type Heads = Map<number, Head>

const HEAD: ColumnTypes<Head> = { id: 'bigint', seq: 'bigint', hash: 'text' }

/** No other writer can chain to them until this transaction ends. In one order, so that no two wait for each other. */
async function lockedHeads(tx: Db, dialect: Dialect, chains: readonly number[]): Promise<Heads> {
  const select = tx.selectFrom('audit_head').selectAll().orderBy('id')
  // On SQLite there is one; a log that came from Postgres has others, whose numbers are taken.
  const heads = await (dialect === 'postgres' ? select.where('id', 'in', chains).forUpdate() : select).execute()
  if (heads.length < chains.length) throw new Error('a chain of the audit log has no head')
  return new Map(heads.map((head) => [head.id, head]))
}

/** Above all that the chains have: they are taken while their heads are locked. On Postgres some may never be used. */
async function numbersFor(tx: Db, dialect: Dialect, heads: Heads, count: number): Promise<readonly number[]> {
  if (dialect === 'sqlite') {
    const last = Math.max(...[...heads.values()].map(({ seq }) => seq))
    return Array.from({ length: count }, (_, at) => last + 1 + at)
  }
  const { rows } = await sql<{ seq: number }>`
    select nextval('audit_seq') as seq from generate_series(1, ${count}::integer)`.execute(tx)
  return rows.map(({ seq }) => seq)
}

/** SQLite takes values apart more quickly than JSON; on Postgres they would be more than a statement may have. */
async function insertEvents(tx: Db, dialect: Dialect, rows: readonly AuditEventRow[]): Promise<void> {
  if (dialect === 'sqlite') {
    const values = rows.flatMap((row) => NAMES.map((name) => row[name]))
    await tx.executeQuery(CompiledQuery.raw(insertFor(rows.length), values))
    return
  }
  const columns = sql.join(NAMES.map((name) => sql.ref(name)))
  await sql`insert into audit_events (${columns})
    select ${columns} from ${jsonRows(dialect, COLUMNS, rows)} as given`.execute(tx)
}

const inserts = new Map<number, string>()

/** The statement for so many rows: to make it each time costs as much as to run it. */
function insertFor(count: number): string {
  const known = inserts.get(count)
  if (known !== undefined) return known
  const row = `(${NAMES.map(() => '?').join(', ')})`
  const text = `insert into audit_events (${NAMES.join(', ')}) values ${Array(count).fill(row).join(', ')}`
  inserts.set(count, text)
  return text
}

/** With texts that every database gives back as they are: the chain is over what will be read. */
function storable(row: NewRow): NewRow {
  return {
    ...row,
    reason: row.reason && wellFormed(row.reason),
    run_id: row.run_id && wellFormed(row.run_id),
    request: row.request && wellFormed(row.request),
    details: row.details && wellFormed(row.details),
  }
}

/** Half a character is none, and Postgres holds no NUL. */
function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

async function withoutStored(tx: Db, dialect: Dialect, rows: readonly PlacedRow[]): Promise<readonly PlacedRow[]> {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const ids = [...byId.values()].filter(mayComeAgain).map(({ id }) => ({ id }))
  if (ids.length === 0) return rows
  const { rows: stored } = await sql<{ id: string }>`select id from audit_events
    where id in (select id from ${jsonRows(dialect, { id: 'text' }, ids)} as given)`.execute(tx)
  for (const { id } of stored) byId.delete(id)
  return [...byId.values()]
}

/** From a proxy, or from a journal after a kill. All other ids are of this moment. */
function mayComeAgain({ source, event }: PlacedRow): boolean {
  return source === 'external' || WRITTEN_AHEAD.has(event)
}

const WRITTEN_AHEAD: ReadonlySet<string> = new Set(['credential.released', 'audit.gap'])

/** Moves the heads on to the last of their events. */
function chain(rows: readonly PlacedRow[], heads: Heads, numbers: readonly number[]): readonly AuditEventRow[] {
  return rows.map((row, at) => {
    const id = chainIn(row)
    const seq = numbers[at] ?? Number.NaN
    const hash = chainedHash(heads.get(id)?.hash ?? '', { ...row, seq })
    heads.set(id, { id, seq, hash })
    return { ...row, seq, hash }
  })
}
