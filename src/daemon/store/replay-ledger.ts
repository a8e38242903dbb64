import type { DatabaseSync } from 'node:sqlite'
import { type Kysely, sql } from 'kysely'
import { storeFailure } from './store-failure.ts'
import type { Tables } from './tables.ts'

/**
 * Remembers which proofs were used, across restarts. A claim is one write without a disk flush: it survives the
 * process being killed, which is all that a proof's life of at most two minutes asks for.
 */
export interface ReplayLedger {
  /** True the first time this key is claimed. `expiresAt`: seconds since the epoch, after which it may be forgotten. */
  claim(key: string, expiresAt: number): Promise<boolean>
  /**
   * Seconds since the epoch: what was used before is not remembered, because the ledger was lost. 0 where all is.
   */
  readonly remembersSince: number
  close(): void
}

const CREATE = 'create table if not exists used_proofs (key text primary key, expires_at bigint not null)'
const CLEAN_EVERY_MS = 60_000

/** A ledger in a file of its own, so that it need not wait for the durable writes of the store. */
export function sqliteReplayLedger(database: DatabaseSync, remembersSince: number, now: () => number): ReplayLedger {
  // Nobody else opens it: held for good, it need not be locked and looked at anew for each claim.
  database.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal')
  // Without rowid the key is the table: one tree to write instead of two.
  database.exec(`${CREATE} without rowid`)
  const insert = database.prepare('insert into used_proofs values (?, ?) on conflict do nothing')
  const forget = database.prepare('delete from used_proofs where expires_at < ?')
  const clean = () => {
    try {
      forget.run(Math.floor(now() / 1000))
    } catch {
      // A minute later is as good.
    }
  }
  const cleaner = setInterval(clean, CLEAN_EVERY_MS).unref()
  return {
    remembersSince,
    async claim(key, expiresAt) {
      try {
        return insert.run(key, expiresAt).changes === 1
      } catch (cause) {
        throw storeFailure(cause)
      }
    },
    close() {
      clearInterval(cleaner)
      database.close()
    },
  }
}

/** Any number that is not used for another lock of the same database. */
const CREATE_LOCK = 7999

/** A ledger that all daemons of one Postgres share. */
export async function postgresReplayLedger(db: Kysely<Tables>, now: () => number): Promise<ReplayLedger> {
  const { rows } = await sql<{ name: string | null }>`select to_regclass('used_proofs')::text as name`.execute(db)
  if (rows[0]?.name == null) await createOnPostgres(db)
  const forget = () => sql`delete from used_proofs where expires_at < ${Math.floor(now() / 1000)}`.execute(db)
  const cleaner = setInterval(() => void forget().catch(() => undefined), CLEAN_EVERY_MS).unref()
  return {
    remembersSince: 0,
    async claim(key, expiresAt) {
      const { numAffectedRows } = await sql`
        insert into used_proofs values (${key}, ${expiresAt}) on conflict do nothing`.execute(db)
      return numAffectedRows === 1n
    },
    close: () => clearInterval(cleaner),
  }
}

async function createOnPostgres(db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // "If not exists" does not hold against another daemon that makes it in the same moment.
    await sql`select pg_advisory_xact_lock(${CREATE_LOCK})`.execute(tx)
    await sql.raw(CREATE).execute(tx)
  })
}
