import { chmodSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import type { Secret } from '../../protocol/index.ts'
import type { Db } from './db.ts'
import { flushSqlite } from './flush-sqlite.ts'
import { Flushes } from './flushes.ts'
import { inTransaction } from './in-transaction.ts'
import { migrate, schemaIsCurrent } from './migrate.ts'
import { type Dialect, migrationsFor } from './migrations.ts'
import { openDatabase } from './open-database.ts'
import { migratingOn, type PoolSizes, requestsOn, type Writes, whenStarted } from './open-postgres.ts'
import { refusePlanted } from './planted-files.ts'
import { postgresReplayLedger, type ReplayLedger, sqliteReplayLedger } from './replay-ledger.ts'
import type { SchemaChange } from './schema-plan.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { copyStore, storeCopies, sweepCopies } from './store-copies.ts'
import type { Tables } from './tables.ts'
import { Turns } from './turns.ts'

export interface Store {
  readonly db: Db
  readonly dialect: Dialect
  readonly replay: ReplayLedger
  /**
   * All of `work` or nothing of it, durable when it resolves, and alone: what it found missing at its beginning is still
   * missing at its end.
   */
  transaction<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>
  /** The same for work on one vault: alone among what is done to that vault, beside what is done to others. */
  vaultTransaction<Result>(vaultId: string, work: (tx: Db) => Promise<Result>): Promise<Result>
  /**
   * All of `work` or nothing of it, for what only adds and takes the locks that it needs by itself: beside all but
   * {@link Store.transaction}. The end of any process costs nothing of it then, a power cut what the last 50 ms added;
   * {@link Store.flushed} waits for the disk.
   */
  addition<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>
  /** Returns once the disk keeps what was added until now. @throws BrokerError DaemonUnavailableError */
  flushed(): Promise<void>
  /** How another thread may add; undefined on Postgres, which has processes of its own for that. */
  readonly beside: Beside | undefined
  /** Reads that all see one state of the database. */
  snapshot<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>
  /** Milliseconds since 1970, the same for all daemons on this store. */
  clock(db: Db): Promise<number>
  /** Reads from the database. @throws BrokerError DaemonUnavailableError */
  probe(): Promise<void>
  /** Returns whether the database's schema is the one this version was written for. */
  schemaIsCurrent(): Promise<boolean>
  /** Returns whether anybody has registered here. */
  isInUse(): Promise<boolean>
  close(): Promise<void>
}

/** The file of a store, for a second connection: {@link openBeside}. */
export interface Beside {
  readonly path: string
  /** Runs what writes on that connection, in its turn among what is written on the first; the disk keeps it soon. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
}

export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly path: string; readonly replayPath: string }
  | { readonly kind: 'postgres'; readonly url: Secret; readonly pools?: Partial<PoolSizes> }

export interface StoreOptions {
  readonly now?: () => number
  /** Of Broker: the store keeps who changed its schema. */
  readonly version?: string
  /** Told, in a sentence of ours, what is done to a store before it is used. */
  readonly note?: (what: string) => void
}

/**
 * Opens the store and brings its schema up to date.
 * @throws BrokerError DaemonUnavailableError where it is damaged or newer than this version; nothing is changed then.
 */
export async function openStore(location: StoreLocation, options: StoreOptions = {}): Promise<Store> {
  const settled = { now: Date.now, version: 'unknown', note: () => undefined, ...options }
  return location.kind === 'sqlite' ? openSqlite(location, settled) : openPostgres(location, settled)
}

async function openSqlite(
  { path, replayPath }: { path: string; replayPath: string },
  { now, version, note }: Required<StoreOptions>,
): Promise<Store> {
  for (const file of [path, replayPath]) refusePlanted(file)
  const database = openDatabase(path)
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) })
  const copies = join(dirname(path), 'copies')
  sweepCopies(copies)
  try {
    const change = await migrate(db, {
      dialect: 'sqlite',
      version,
      before: async ({ from }) => {
        if (isEmpty(database)) return
        note(`copied the store to "${await copyStore(database, copies, from ?? 'none')}" before its schema is changed`)
      },
      copy: () => storeCopies(copies).find(({ schema }) => isKnown(schema))?.path,
    })
    if (change) note(told(change))
    const replay = await openReplayLedger(replayPath, { isNew: !(await isInUse(db)), now })
    return store(db, {
      dialect: 'sqlite',
      replay,
      clock: async () => now(),
      ...sqliteWrites(db, database, path),
    })
  } catch (cause) {
    await db.destroy()
    throw cause
  }
}

/** Transactions take the one write lock when they begin: one begins after the other, so that none waits for it in this thread. */
function sqliteWrites(
  db: Db,
  database: DatabaseSync,
  path: string,
): Pick<Parts, 'writes' | 'flushes' | 'beside' | 'close'> {
  const flushes = new Flushes(() => flushSqlite(path))
  const turns = new Turns()
  return {
    flushes,
    writes: (lock, work) =>
      turns.take(() =>
        lock.kind === 'none'
          ? db.connection().execute((one) => unflushed(database, () => inTransaction(one, work)))
          : inTransaction(db, work),
      ),
    beside: {
      path,
      async inTurn(work) {
        const done = await turns.take(work)
        flushes.soon()
        return done
      },
    },
    async close() {
      flushes.stop()
      await db.destroy()
    },
  }
}

/** SQLite would flush on the thread that answers requests. The setting is no part of a transaction. */
async function unflushed<Result>(database: DatabaseSync, work: () => Promise<Result>): Promise<Result> {
  database.exec('pragma synchronous = normal')
  try {
    return await work()
  } finally {
    database.exec('pragma synchronous = full')
  }
}

function told({ from = 'nothing', to, mends }: SchemaChange): string {
  const what = mends ? 'finished a change of the schema that was interrupted' : 'changed the schema of the store'
  return `${what}, from ${from} to ${to}`
}

/** Returns whether a version of before has copied it: one that this can open. */
function isKnown(schema: string): boolean {
  return migrationsFor('sqlite').some(({ name }) => name === schema)
}

/** Returns whether nothing was stored yet. */
function isEmpty(database: DatabaseSync): boolean {
  const has = (table: string) => database.prepare('select 1 from sqlite_schema where name = ?').get(table) !== undefined
  return !(['identities', 'vault_sources'] as const).some((table) => has(table) && isFilled(database, table))
}

function isFilled(database: DatabaseSync, table: 'identities' | 'vault_sources'): boolean {
  return database.prepare(`select 1 from ${table} limit 1`).get() !== undefined
}

/** Returns whether anybody has registered. Where nobody has, no proof can have been used. */
async function isInUse(db: Db): Promise<boolean> {
  return (await db.selectFrom('identities').select('did').limit(1).executeTakeFirst()) !== undefined
}

type LedgerOptions = Parameters<typeof sqliteReplayLedger>[1]

/** A ledger that is damaged is put aside and begun anew. */
async function openReplayLedger(path: string, { isNew, now }: LedgerOptions): Promise<ReplayLedger> {
  try {
    return await sqliteReplayLedger(openPrivately(path), { isNew, now })
  } catch {
    renameSync(path, `${path}.damaged`)
    return sqliteReplayLedger(openPrivately(path), { isNew: false, now })
  }
}

function openPrivately(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  chmodSync(path, 0o600)
  return database
}

async function openPostgres(
  { url, pools }: { url: Secret; pools?: Partial<PoolSizes> },
  { version, note }: Required<StoreOptions>,
): Promise<Store> {
  const { requests: db, writes, flushes, close } = await requestsOn(url, pools)
  try {
    await whenStarted(() => writes({ kind: 'all' }, async () => undefined))
    const change = (await schemaIsCurrent(db, 'postgres')) ? undefined : await migratePostgres(url, { version, note })
    if (change) note(told(change))
    const replay = await postgresReplayLedger(db, !(await isInUse(db)))
    return store(db, { dialect: 'postgres', replay, clock: postgresClock, writes, flushes, beside: undefined, close })
  } catch (cause) {
    await close()
    throw cause
  }
}

function migratePostgres(url: Secret, { version, note }: Pick<Required<StoreOptions>, 'version' | 'note'>) {
  return migratingOn(url, (db) =>
    migrate(db, {
      dialect: 'postgres',
      version,
      before: async ({ from }) => {
        if (from !== undefined) note('Postgres is not copied before its schema is changed: that is for your own backup')
      },
      copy: () => undefined,
    }),
  )
}

async function postgresClock(db: Db): Promise<number> {
  const { rows } = await sql<{
    ms: number
  }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(db)
  return rows[0]?.ms ?? Number.NaN
}

interface Parts extends Pick<Store, 'dialect' | 'replay' | 'clock' | 'beside' | 'close'> {
  readonly writes: Writes
  readonly flushes: Flushes
}

function store(db: Db, { dialect, replay, clock, writes, flushes, beside, close }: Parts): Store {
  return {
    db,
    dialect,
    replay,
    clock,
    transaction: (work) => writes({ kind: 'all' }, work),
    vaultTransaction: (vaultId, work) => writes({ kind: 'vault', vaultId }, work),
    async addition(work) {
      const done = await writes({ kind: 'none' }, work)
      flushes.soon()
      return done
    },
    flushed: () => flushes.now(),
    beside,
    snapshot: (work) => inTransaction(db, work, { isolation: 'repeatable read' }),
    async probe() {
      await sql`select count(*) from audit_head`.execute(db)
    },
    schemaIsCurrent: () => schemaIsCurrent(db, dialect),
    isInUse: () => isInUse(db),
    async close() {
      replay.close()
      await close()
    },
  }
}
