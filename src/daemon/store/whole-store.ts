import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { BrokerError } from '../../protocol/index.ts'
import { inTransaction } from './in-transaction.ts'
import { makeSchema, recordedIn } from './migrate.ts'
import type { Dialect } from './migrations.ts'
import { migratingOn } from './open-postgres.ts'
import type { StoreLocation } from './open-store.ts'
import { refusePlanted } from './planted-files.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { storeFailure } from './store-failure.ts'
import { type AnyRow, emptyFresh, finishRows, rowsOf, TABLES, type TableName, writeRows } from './store-rows.ts'
import type { Tables } from './tables.ts'

/** One state of a whole store, whatever is written meanwhile. */
export interface StoreState {
  readonly db: Kysely<Tables>
  readonly dialect: Dialect
  /** The last migration that it has come to. */
  readonly schema: string
  /** What people know of it by. */
  size(): Promise<StoreSize>
  /** Every row, table by table, in an order in which they can be written. */
  rows(): AsyncGenerator<{ readonly table: TableName; readonly rows: readonly AnyRow[] }>
}

interface StoreSize {
  readonly connections: number
  readonly events: number
  /** How many changes the vault that has come through most of them has seen. */
  readonly generation: number
}

/**
 * Reads a store beside the daemons that use it, and keeps none of them waiting.
 * @throws BrokerError DaemonUnavailableError where it cannot be opened, NotFoundError where there is none
 */
export async function readStore<Result>(
  location: StoreLocation,
  work: (state: StoreState) => Promise<Result>,
): Promise<Result> {
  if (location.kind === 'postgres') {
    return migratingOn(location.url, (db) =>
      inTransaction(db, async (tx) => work(await stateOf(tx, 'postgres')), { isolation: 'repeatable read' }),
    )
  }
  refusePlanted(location.path)
  if (!existsSync(location.path)) throw new BrokerError('NotFoundError', 'There is no store in this home')
  const { database, db } = openSqlite(location.path)
  try {
    // What is read from here on is of one state: the daemon writes on beside it.
    database.exec('begin')
    return await work(await stateOf(db, 'sqlite'))
  } finally {
    await db.destroy()
  }
}

async function stateOf(db: Kysely<Tables>, dialect: Dialect): Promise<StoreState> {
  const schema = (await recordedIn(db)).at(-1)
  if (schema === undefined) throw new BrokerError('NotFoundError', 'There is no store yet')
  return {
    db,
    dialect,
    schema,
    async size() {
      const { rows } = await sql<StoreSize>`select
        (select count(*) from connections) as connections, (select count(*) from audit_events) as events,
        (select coalesce(max(generation), 0) from manifests where vault_id not like 'rights%') as generation`.execute(
        db,
      )
      const { connections = 0, events = 0, generation = 0 } = rows[0] ?? {}
      return { connections: Number(connections), events: Number(events), generation: Number(generation) }
    },
    async *rows() {
      for (const table of TABLES) {
        if (!(await hasTable(db, dialect, table))) continue
        for await (const rows of rowsOf(db, table)) yield { table, rows }
      }
    },
  }
}

/** A store of before has fewer. */
async function hasTable(db: Kysely<Tables>, dialect: Dialect, table: TableName): Promise<boolean> {
  const found =
    dialect === 'sqlite'
      ? sql`select 1 from sqlite_schema where name = ${table}`
      : sql`select 1 where to_regclass(${table}) is not null`
  return (await found.execute(db)).rows.length > 0
}

/** Takes the rows of a store that is being made. */
export interface StoreWriter {
  readonly db: Kysely<Tables>
  readonly dialect: Dialect
  write(table: TableName, rows: readonly AnyRow[]): Promise<void>
  /** What is there now. */
  read(table: TableName): AsyncGenerator<readonly AnyRow[]>
}

/**
 * Makes a store of rows: all of it, durable when this resolves, or nothing. On SQLite it is a file that is not there yet,
 * with the schema that the rows are of; on Postgres a database without anything of a deployment, which has this version's.
 * @throws BrokerError ConflictError where something is there, InvalidRequestError for a schema that this version does not know
 */
export async function makeStore<Result>(
  location: StoreLocation,
  { schema, version }: { readonly schema: string; readonly version: string },
  work: (writer: StoreWriter) => Promise<Result>,
): Promise<Result> {
  if (location.kind === 'sqlite') return makeSqlite(location.path, { schema, version }, work)
  return migratingOn(location.url, async (db) => {
    await makeSchema(db, 'postgres', { schema, version })
    return inTransaction(db, (tx) => filled(tx, 'postgres', work))
  })
}

async function makeSqlite<Result>(
  path: string,
  about: { readonly schema: string; readonly version: string },
  work: (writer: StoreWriter) => Promise<Result>,
): Promise<Result> {
  refusePlanted(path)
  if (existsSync(path)) throw notEmpty()
  const { database, db } = openSqlite(path)
  try {
    // Nobody reads it before it is whole, and it is flushed then.
    database.exec('pragma journal_mode = off; pragma synchronous = off')
    await makeSchema(db, 'sqlite', about)
    const done = await inTransaction(db, (tx) => filled(tx, 'sqlite', work))
    const [row] = database.prepare('pragma foreign_key_check').all()
    if (row !== undefined) throw new Error('rows refer to others that are not there')
    return done
  } finally {
    await db.destroy()
  }
}

/** Leaves one file that needs no other beside it; a damaged one is left as it is. Nobody else may have it open. */
export function settleSqlite(path: string): void {
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma journal_mode = delete')
  } catch {
    // What stands in the log beside it is lost with a file that is damaged already.
  } finally {
    database.close()
  }
}

async function filled<Result>(
  tx: Kysely<Tables>,
  dialect: Dialect,
  work: (writer: StoreWriter) => Promise<Result>,
): Promise<Result> {
  if (!(await emptyFresh(tx))) throw notEmpty()
  const done = await work({
    db: tx,
    dialect,
    write: (table, rows) => writeRows(tx, dialect, { table, rows }),
    read: (table) => rowsOf(tx, table),
  })
  await finishRows(tx, dialect)
  return done
}

function notEmpty(): BrokerError {
  return new BrokerError('ConflictError', 'There is a deployment in this store already; nothing of it was changed', {
    hint: 'Take an empty database.',
  })
}

function openSqlite(path: string) {
  try {
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: true, timeout: 5000 })
    database.exec('pragma trusted_schema = off; pragma cell_size_check = on')
    return { database, db: new Kysely<Tables>({ dialect: sqliteDialect(database) }) }
  } catch (cause) {
    throw storeFailure(cause)
  }
}
