import type { Transaction } from 'kysely'
import type { Db } from './db.ts'
import { isNamesRefused } from './postgres-failure.ts'
import type { Tables } from './tables.ts'

interface TransactionOptions {
  /** All reads see one state of the database. */
  readonly isolation?: 'repeatable read'
}

/**
 * All of `work` or nothing of it. Where it came upon a prepared statement that is gone, it is begun anew: nothing of it has
 * happened then.
 */
export async function inTransaction<Result>(
  db: Db,
  work: (tx: Transaction<Tables>) => Promise<Result>,
  { isolation }: TransactionOptions = {},
): Promise<Result> {
  const transaction = db.transaction()
  const isolated = isolation === undefined ? transaction : transaction.setIsolationLevel(isolation)
  try {
    return await isolated.execute(work)
  } catch (error) {
    if (!isNamesRefused(error)) throw error
    return isolated.execute(work)
  }
}
