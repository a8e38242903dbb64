import { sql } from 'kysely'
import { BrokerError } from '../../protocol/index.ts'
import type { Db } from './db.ts'
import { type Dialect, migrationsFor } from './migrations.ts'
import { type FoundSchema, isWhole, planFor, type SchemaChange, SQLITE_NAMES } from './schema-plan.ts'

export interface MigrationOptions {
  readonly dialect: Dialect
  /** Of Broker: who opens the store next can name who changed it. */
  readonly version: string
  /** Called before anything is changed; what it throws prevents the change. */
  readonly before: (change: SchemaChange) => Promise<void>
  /** Where a copy from before a change lies that this version can open; undefined where there is none. */
  readonly copy: () => string | undefined
}

/**
 * Brings the schema up to date, in one transaction: it is as before or as it should be, whenever the process ends.
 * @returns what was done, undefined where nothing was to do
 * @throws BrokerError DaemonUnavailableError where the schema is newer than this version, or nothing it knows
 */
export async function migrate(db: Db, options: MigrationOptions): Promise<SchemaChange | undefined> {
  const change = await changeOf(db, options)
  if (change === undefined) return undefined
  await options.before(change)
  return db.transaction().execute(async (tx) => {
    if (options.dialect === 'postgres') await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(tx)
    // Another daemon may have done it while this one waited.
    const now = await changeOf(tx, options)
    if (now === undefined) return undefined
    for (const statement of now.statements) await sql.raw(statement).execute(tx)
    await record(tx, options, now.record)
    if (!isWhole(options.dialect, await namesIn(tx, options.dialect))) throw strange(options)
    return now
  })
}

/**
 * Makes the schema as it was after a migration, where there is none yet.
 * @throws BrokerError InvalidRequestError for one that this version does not know, or, on Postgres, that is not its own
 */
export async function makeSchema(
  db: Db,
  dialect: Dialect,
  { schema, version }: { readonly schema: string; readonly version: string },
): Promise<void> {
  const known = migrationsFor(dialect)
  const until = known.findIndex(({ name }) => name === schema)
  if (until < 0 || (dialect === 'postgres' && until < known.length - 1)) {
    throw new BrokerError(
      'InvalidRequestError',
      `This is Broker ${version}, and the schema "${schema}" is another one's`,
      {
        hint: 'Use the version of Broker that it was made with, and upgrade then.',
      },
    )
  }
  const options = { dialect, version, before: async () => undefined, copy: () => undefined }
  if (until === known.length - 1) {
    await migrate(db, options)
    return
  }
  const made = known.slice(0, until + 1)
  await db.transaction().execute(async (tx) => {
    for (const { statements } of made) for (const statement of statements) await sql.raw(statement).execute(tx)
    const names = made.map(({ name }) => name)
    await record(tx, options, names)
  })
}

/** Returns whether the store's schema is the one of this version. */
export async function schemaIsCurrent(db: Db, dialect: Dialect): Promise<boolean> {
  return planFor(dialect, await findSchema(db, dialect)).kind === 'current'
}

/** The lock that Kysely's migrator takes: daemons of before this file wait for it. As text: it is beyond 2^53. */
const MIGRATION_LOCK = '3853314791062309107'

async function changeOf(db: Db, options: MigrationOptions): Promise<SchemaChange | undefined> {
  const plan = planFor(options.dialect, await findSchema(db, options.dialect))
  if (plan.kind === 'current') return undefined
  if (plan.kind === 'change') return plan
  if (plan.kind === 'strange') throw strange(options)
  const last = plan.unknown.at(-1) ?? ''
  throw newer(options, last, await authorOf(db, options.dialect, last))
}

async function findSchema(db: Db, dialect: Dialect): Promise<FoundSchema> {
  const names = await namesIn(db, dialect)
  return { names, recorded: names.has(`${RECORDS}.name`) ? await recordedIn(db) : [] }
}

async function namesIn(db: Db, dialect: Dialect): Promise<ReadonlySet<string>> {
  const { rows } = await sql.raw<{ name: string }>(NAMES[dialect]).execute(db)
  return new Set(rows.map(({ name }) => name))
}

const NAMES: Readonly<Record<Dialect, string>> = {
  sqlite: SQLITE_NAMES,
  postgres: `
    select c.relname || '.' || a.attname as name
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    union all
    select c.relname from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'i'
      and not exists (select from pg_constraint where conindid = c.oid)`,
}

/** The table of Kysely's migrator, so that earlier versions of Broker read it. */
const RECORDS = 'kysely_migration'

export async function recordedIn(db: Db): Promise<readonly string[]> {
  const { rows } = await sql.raw<{ name: string }>(`select name from ${RECORDS} order by name`).execute(db)
  return rows.map(({ name }) => name)
}

async function record(tx: Db, { dialect, version }: MigrationOptions, names: readonly string[]): Promise<void> {
  const columns = 'name varchar(255) not null primary key, timestamp varchar(255) not null'
  await sql.raw(`create table if not exists ${RECORDS} (${columns})`).execute(tx)
  if (!(await namesIn(tx, dialect)).has(AUTHOR)) {
    await sql.raw(`alter table ${RECORDS} add column broker varchar(255)`).execute(tx)
  }
  // Kysely's migrator takes the time for the order.
  const { rows } = await sql.raw<{ last: string }>(`select max(timestamp) as last from ${RECORDS}`).execute(tx)
  const begin = Math.max(Date.now(), (Date.parse(rows[0]?.last ?? '') || 0) + 1)
  for (const [at, name] of names.entries()) {
    const time = new Date(begin + at).toISOString()
    await sql`insert into ${sql.raw(RECORDS)} (name, timestamp, broker) values (${name}, ${time}, ${version})`.execute(
      tx,
    )
  }
}

/** The column that says which version of Broker made the change. */
const AUTHOR = `${RECORDS}.broker`

async function authorOf(db: Db, dialect: Dialect, migration: string): Promise<string | undefined> {
  if (!(await namesIn(db, dialect)).has(AUTHOR)) return undefined
  const { rows } = await sql<{ broker: string | null }>`
    select broker from ${sql.raw(RECORDS)} where name = ${migration}`.execute(db)
  return rows[0]?.broker ?? undefined
}

function newer(options: MigrationOptions, migration: string, author: string | undefined): BrokerError {
  const who = author === undefined ? 'a newer version of Broker' : `Broker ${author}`
  return new BrokerError(
    'DaemonUnavailableError',
    `Cannot open the store: ${who} has changed it ("${migration}"), and this is Broker ${options.version}`,
    { hint: `Install that version again; nothing was changed. ${backTo(options)}`.trim() },
  )
}

function strange(options: MigrationOptions): BrokerError {
  return new BrokerError(
    'DaemonUnavailableError',
    'Cannot open the store: its schema is neither that of an earlier version nor on the way from one to the next',
    { hint: `Nothing was changed. ${backTo(options) || 'Put back the store from a backup.'}` },
  )
}

function backTo({ copy }: MigrationOptions): string {
  const path = copy()
  if (path === undefined) return ''
  return `Or go back: move broker.db, broker.db-wal and broker.db-shm away, and put "${path}" in the place of broker.db.`
}
