/**
 * The relational store: SQLite on a laptop, Postgres for a team, one schema and one query layer for both, and the
 * ledger of used proofs. Must never see a secret in the clear: what it keeps of one is sealed by the vault.
 */
export type { Db } from './db.ts'
export { lockHome } from './home-lock.ts'
export { type ColumnTypes, jsonRows } from './json-rows.ts'
export { LastUses } from './last-uses.ts'
export { migrationsFor } from './migrations.ts'
export { openBeside } from './open-beside.ts'
export { type Beside, openStore, type Store, type StoreLocation } from './open-store.ts'
export { preparedQuery } from './prepared-query.ts'
export { type AnyRow, isTable, type TableName } from './store-rows.ts'
export type {
  AuditEventRow,
  BrowserSessionRow,
  ConnectionRow,
  IdentityRow,
  PrincipalRow,
  RecordRow,
  RefreshRow,
  RunRow,
  Tables,
} from './tables.ts'
export { ThrottledWrites } from './throttled-writes.ts'
export { makeStore, readStore, type StoreState, settleSqlite } from './whole-store.ts'
