import { DatabaseSync } from 'node:sqlite'
import { migrationsFor } from './migrations.ts'

/** A SQLite store as the statements of an earlier version left it, with something in each table of the first migration. */
export interface OldStore {
  readonly database: DatabaseSync
  /** Runs statements, each in a transaction of its own, as earlier versions did. */
  run(statements: readonly string[]): void
  /** Writes down that these migrations are done. */
  record(names: readonly string[]): void
}

/** How each migration is called, and its statements. */
export const migrations = migrationsFor('sqlite')

export function oldStore(path: string): OldStore {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: true })
  database.exec('pragma journal_mode = wal; pragma synchronous = off')
  const run = (statements: readonly string[]) => {
    for (const statement of statements) database.exec(statement)
  }
  return {
    database,
    run,
    record(names) {
      run([
        'create table if not exists kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)',
        'create table if not exists kysely_migration_lock (id varchar(255) not null primary key, is_locked integer default 0 not null)',
        `insert into kysely_migration_lock values ('migration_lock', 0) on conflict do nothing`,
      ])
      const insert = database.prepare('insert into kysely_migration values (?, ?)')
      for (const [at, name] of names.entries()) insert.run(name, `2026-11-21T09:00:0${at}.000Z`)
    },
  }
}

/** Rows that every schema from the first migration on can hold. */
export const ROWS: readonly string[] = [
  `insert into principals values ('p-1', 'admin', 'v-1', '2026-11-21T09:00:00.000Z')`,
  `insert into identities (handle, did, principal_id, created_at) values ('ada', 'did:key:z1', 'p-1', '2026-11-21T09:00:00.000Z')`,
  `insert into claims (token_hash, handle, expires_at) values ('h-1', 'ada', '2026-11-21T09:05:00.000Z')`,
  `insert into runs (id, did, handle, grants, created_at, expires_at) values ('r-1', 'did:key:z2', 'ada', '{}', 'a', 'b')`,
  `insert into vault_sources values (1, 'd-1', 'local_key', 'k-1', '2026-11-21T09:00:00.000Z')`,
  `insert into data_keys values ('v-1', 1, x'00', '2026-11-21T09:00:00.000Z')`,
  `insert into manifests values ('v-1', 1, x'01')`,
  `insert into records values ('v-1', 'connection', 'openai/default', 1, 'b', 1, x'02')`,
  `insert into connections (vault_id, provider, connection, is_default, auth_type, flow, scopes, destination, created_at, updated_at)
   values ('v-1', 'openai', 'default', 1, 'api_key', 'api_key', '[]', 'd', 'a', 'b')`,
  `insert into audit_events (seq, id, timestamp, event, source, provider, identity, principal_id, status, hash)
   values (1, 'e-1', '2026-11-21T09:10:00.000Z', 'provider.login', 'internal', 'openai', 'ada', 'p-1', 'success', 'x'),
          (2, 'e-2', '2026-11-21T09:20:00.000Z', 'provider.login', 'internal', 'openai', 'ada', 'p-1', 'success', 'y'),
          (3, 'e-3', '2026-11-21T10:10:00.000Z', 'agent.registered', 'internal', null, 'ada', 'p-1', 'success', 'z')`,
  `update audit_head set seq = 3, hash = 'z'`,
]

/** All rows of the tables that {@link ROWS} fills, in the columns they had then, and what is counted of the events. */
export function contentOf(database: DatabaseSync) {
  const all = (query: string) =>
    database
      .prepare(query)
      .all()
      .map((row) => ({ ...row }))
  const byHandle = (table: string, columns: string) => {
    const hasHandle = all(`select 1 from pragma_table_info('${table}') where name = 'handle'`).length > 0
    const from = hasHandle ? table : `${table} join identities on identities.id = ${table}.identity_id`
    return all(`select ${columns}, handle from ${from}`)
  }
  return {
    principals: all('select id, role, vault_id, created_at from principals'),
    identities: all('select handle, did, principal_id, created_at, last_used_at from identities'),
    claims: byHandle('claims', 'token_hash, expires_at'),
    runs: byHandle('runs', 'runs.id, runs.did, grants, runs.created_at, expires_at, ended_at'),
    keys: all('select * from vault_sources, data_keys, manifests'),
    records: all('select * from records'),
    connections: all(
      'select vault_id, provider, connection, is_default, auth_type, flow, destination from connections',
    ),
    events: all(`select ${EVENT_COLUMNS} from audit_events order by seq`),
    head: all('select * from audit_head'),
  }
}

const EVENT_COLUMNS =
  'seq, id, timestamp, event, source, provider, connection, identity, principal_id, status, reason, run_id, request, hash'

/** Every definition, but for the order of columns and the text they were written with. */
export function definitionsOf(database: DatabaseSync) {
  const names = (query: string) =>
    database
      .prepare(query)
      .all()
      .map(({ name }) => String(name))
  const tables = names(`select name from sqlite_schema where type = 'table' and name not like 'kysely%' order by name`)
  const shapes = tables.map((table) => {
    const columns = database
      .prepare(`select name, type, "notnull", dflt_value, pk from pragma_table_xinfo('${table}') order by name`)
      .all()
    const keys = database
      .prepare(`select "table", "from", "to", on_delete from pragma_foreign_key_list('${table}') order by "from"`)
      .all()
    return { table, columns: columns.map((column) => ({ ...column })), keys: keys.map((key) => ({ ...key })) }
  })
  return {
    shapes,
    others: names(
      `select name from sqlite_schema where type in ('index', 'trigger') and name not like '%kysely%' order by name`,
    ),
  }
}
