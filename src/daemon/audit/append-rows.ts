import { CompiledQuery, sql } from 'kysely'
import { type AuditEventRow, type ColumnTypes, type Db, jsonRows, type Store } from '../store/index.ts'
import { countHours } from './audit-hours.ts'
import { chainedHash } from './chain.ts'

/** An event that has no place in the log yet. */
export type NewRow = Omit<AuditEventRow, 'seq' | 'hash'>

export type Dialect = Store['dialect']

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
  hash: 'text',
}

const NAMES = Object.keys(COLUMNS) as readonly (keyof AuditEventRow)[]

/** Numbers and chains events, stores them and counts their hours. Those that were stored before are left out. */
export async function appendRows(tx: Db, dialect: Dialect, rows: readonly NewRow[]): Promise<void> {
  // Counting up takes the head's lock: no other writer can number events until this transaction ends.
  const { seq, hash } = await tx
    .updateTable('audit_head')
    .set((eb) => ({ seq: eb('seq', '+', 0) }))
    .where('id', '=', 1)
    .returningAll()
    .executeTakeFirstOrThrow()
  const fresh = await withoutStored(tx, dialect, rows.map(storable))
  const chained = chain(fresh, { seq, hash })
  const last = chained.at(-1)
  if (!last) return
  await insertEvents(tx, dialect, chained)
  await countHours(tx, dialect, chained)
  await tx.updateTable('audit_head').set({ seq: last.seq, hash: last.hash }).where('id', '=', 1).execute()
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

async function withoutStored(tx: Db, dialect: Dialect, rows: readonly NewRow[]): Promise<readonly NewRow[]> {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const ids = [...byId.values()].filter(mayComeAgain).map(({ id }) => ({ id }))
  if (ids.length === 0) return rows
  const { rows: stored } = await sql<{ id: string }>`select id from audit_events
    where id in (select id from ${jsonRows(dialect, { id: 'text' }, ids)} as given)`.execute(tx)
  for (const { id } of stored) byId.delete(id)
  return [...byId.values()]
}

/** From a proxy, or from a journal after a kill. All other ids are of this moment. */
function mayComeAgain({ source, event }: NewRow): boolean {
  return source === 'external' || WRITTEN_AHEAD.has(event)
}

const WRITTEN_AHEAD: ReadonlySet<string> = new Set(['credential.released', 'audit.gap'])

function chain(rows: readonly NewRow[], head: { seq: number; hash: string }): AuditEventRow[] {
  let { seq, hash } = head
  return rows.map((row) => {
    seq += 1
    hash = chainedHash(hash, { ...row, seq })
    return { ...row, seq, hash }
  })
}
