import { Kysely } from 'kysely'
import type { Db } from './db.ts'
import { inTransaction } from './in-transaction.ts'
import { connectTo } from './open-database.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import type { Tables } from './tables.ts'

/** A second connection to a store of one file, for a thread that only adds. */
export interface BesideStore {
  /** All of `work` or nothing of it; whoever has the first connection sees to it that the disk keeps it. */
  addition<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** @throws BrokerError DaemonUnavailableError */
export function openBeside(path: string): BesideStore {
  const database = connectTo(path)
  database.exec('pragma synchronous = normal')
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) })
  return { addition: (work) => inTransaction(db, work), close: () => db.destroy() }
}
