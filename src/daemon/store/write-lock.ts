import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from './db.ts'

/**
 * What a transaction on Postgres keeps others from: all of them, those of the same vault, or none of them. The last two go
 * on beside each other, and wait for the first.
 */
export type WriteLock =
  | { readonly kind: 'all' }
  | { readonly kind: 'vault'; readonly vaultId: string }
  | { readonly kind: 'none' }

/** Any number that is not used for another lock of the same database. */
const WRITE_LOCK = 7998

/** Takes the lock until the end of the transaction. Rows that are not there cannot be locked: so it is one by a number. */
export async function takeWriteLock(tx: Db, lock: WriteLock): Promise<void> {
  if (lock.kind === 'all') await sql`select pg_advisory_xact_lock(${WRITE_LOCK})`.execute(tx)
  else if (lock.kind === 'vault')
    await sql`select pg_advisory_xact_lock_shared(${WRITE_LOCK}),
      pg_advisory_xact_lock(${WRITE_LOCK}, ${numberOf(lock.vaultId)})`.execute(tx)
  else
    await sql`select pg_advisory_xact_lock_shared(${WRITE_LOCK}),
      set_config('synchronous_commit', 'off', true)`.execute(tx)
}

/** Two vaults of one number wait for each other: that harms neither. */
function numberOf(vaultId: string): number {
  return hash('sha256', vaultId, 'buffer').readInt32BE(0)
}
