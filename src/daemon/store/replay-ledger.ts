import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { inTransaction } from './in-transaction.ts'
import { storeFailure } from './store-failure.ts'
import type { Tables } from './tables.ts'

/** A proof that is used. Times are seconds since 1970. */
export interface UsedProof {
  readonly key: string
  readonly issuedAt: number
  /** After this it can no longer be accepted. */
  readonly deadUntil: number
}

/**
 * Remembers which proofs were used, across restarts and whatever clocks do. A claim is one write without a disk flush:
 * it survives the process being killed, which is all that a proof's life of at most two minutes asks for.
 *
 * A clock that goes ahead and comes back brings proofs back to life. So they are kept for a day after their end; what has
 * to be forgotten sooner or later leaves a mark, and no proof that ends below it is accepted, whatever the time is.
 */
export interface ReplayLedger {
  /** True the first time, and only where it is known to be that. */
  claim(proof: UsedProof): Promise<boolean>
  close(): void
}

const KEEP_SECONDS = 24 * 60 * 60
/** Of so many, those are kept that might come back to life by a clock that is a little wrong. */
const MANY = 100_000
const KEEP_OF_MANY_SECONDS = 10 * 60
const CLEAN_EVERY_MS = 60_000

const USED_PROOFS = 'create table if not exists used_proofs (key text primary key, expires_at bigint not null)'
/**
 * `kept`: how many rows of `used_proofs` there are at least; not 0 once there is one. A claim does not count: it would
 * be a second write for each. `forgotten_until`: the last end of a proof that was
 * forgotten. `remembers_since`: nothing is known of proofs that were issued until then.
 */
const STATE = `create table if not exists proof_ledger (
  id integer primary key check (id = 1),
  kept bigint not null,
  forgotten_until bigint not null,
  remembers_since bigint not null)`

/** The proofs to forget end before this. Seconds since 1970, as `now` is. */
function keptFrom(now: number, kept: number): number {
  return now - (kept > MANY ? KEEP_OF_MANY_SECONDS : KEEP_SECONDS)
}

/**
 * A ledger in a file of its own, so that it need not wait for the durable writes of the store. One that has lost something
 * accepts nothing that was issued before it was opened.
 * @param isNew whether there was nothing to remember before
 */
export async function sqliteReplayLedger(
  database: DatabaseSync,
  { isNew, now }: { readonly isNew: boolean; readonly now: () => number },
): Promise<ReplayLedger> {
  const seconds = () => Math.floor(now() / 1000)
  // Nobody else opens it: held for good, it need not be locked and looked at anew for each claim.
  database.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal')
  // Without rowid the key is the table: one tree to write instead of two.
  database.exec(`${USED_PROOFS} without rowid; ${STATE}`)
  if (!isNew && hasLost(database)) {
    forgive(database, seconds())
    await nextSecond(now())
  } else database.exec('insert into proof_ledger values (1, 0, 0, 0) on conflict do nothing')
  let state = stateOf(database)
  const insert = database.prepare('insert into used_proofs values (?, ?) on conflict do nothing')
  const clean = () => {
    try {
      state = forget(database, seconds())
    } catch {
      // A minute later is as good.
    }
  }
  const cleaner = setInterval(clean, CLEAN_EVERY_MS).unref()
  return {
    async claim({ key, issuedAt, deadUntil }) {
      if (issuedAt <= state.remembers_since || deadUntil <= state.forgotten_until) return false
      try {
        if (insert.run(key, deadUntil).changes === 0) return false
        if (state.kept === 0) state = keep(database)
        return true
      } catch (cause) {
        throw storeFailure(cause)
      }
    },
    close() {
      clearInterval(cleaner)
      clean()
      database.close()
    },
  }
}

/** Until then nobody can make a proof that is accepted. */
function nextSecond(now: number): Promise<void> {
  return delay(1000 - (now % 1000))
}

interface LedgerState {
  readonly kept: number
  readonly forgotten_until: number
  readonly remembers_since: number
}

function stateOf(database: DatabaseSync): LedgerState {
  return database.prepare('select * from proof_ledger').get() as unknown as LedgerState
}

function hasLost(database: DatabaseSync): boolean {
  const state = database.prepare('select kept from proof_ledger').get()
  if (state === undefined) return true
  const row = database.prepare('select count(*) as count from used_proofs').get()
  return Number(row?.['count']) < Number(state['kept'])
}

/** Begins anew with what is there. */
function forgive(database: DatabaseSync, since: number): void {
  database
    .prepare(
      `insert into proof_ledger select 1, count(*), 0, ? from used_proofs where true
       on conflict do update set kept = excluded.kept, remembers_since = excluded.remembers_since`,
    )
    .run(since)
}

function keep(database: DatabaseSync): LedgerState {
  database.exec('update proof_ledger set kept = (select count(*) from used_proofs)')
  return stateOf(database)
}

function forget(database: DatabaseSync, now: number): LedgerState {
  const state = keep(database)
  const before = keptFrom(now, state.kept)
  const row = database.prepare('select min(expires_at) as oldest from used_proofs').get()
  if (Number(row?.['oldest'] ?? before) >= before) return state
  database.exec('begin immediate')
  try {
    const last = 'select max(expires_at) from used_proofs where expires_at < ?'
    database.prepare(`update proof_ledger set forgotten_until = max(forgotten_until, (${last}))`).run(before)
    database.prepare('delete from used_proofs where expires_at < ?').run(before)
    const changed = keep(database)
    database.exec('commit')
    return changed
  } catch (error) {
    database.exec('rollback')
    throw error
  }
}

/** Any number that is not used for another lock of the same database. */
const CREATE_LOCK = 7999

/**
 * A ledger that all daemons of one Postgres share. Its times are the database's: theirs may differ.
 * @param isNew whether there was nothing to remember before
 */
export async function postgresReplayLedger(db: Kysely<Tables>, isNew: boolean): Promise<ReplayLedger> {
  await beginOnPostgres(db, isNew)
  const clean = () => forgetOnPostgres(db).catch(() => undefined)
  const cleaner = setInterval(() => void clean(), CLEAN_EVERY_MS).unref()
  /** Of this daemon: a ledger that was emptied since does not have it. */
  let last: UsedProof | undefined
  return {
    async claim(proof) {
      const claimed = await claimOnPostgres(db, proof, last)
      if (claimed === 'lost') {
        last = undefined
        await forgiveOnPostgres(db)
        return false
      }
      if (claimed) last = proof
      return claimed
    },
    close: () => clearInterval(cleaner),
  }
}

const SECONDS = sql<number>`floor(extract(epoch from clock_timestamp()))::bigint`

async function beginOnPostgres(db: Kysely<Tables>, isNew: boolean): Promise<void> {
  const forgivenAt = await inTransaction(db, async (tx) => {
    // "If not exists" does not hold against another daemon that makes it in the same moment.
    await sql`select pg_advisory_xact_lock(${CREATE_LOCK})`.execute(tx)
    await sql.raw(USED_PROOFS).execute(tx)
    await sql.raw(STATE).execute(tx)
    const { rows } = await sql<{ lost: boolean }>`
      select not exists (select 1 from proof_ledger where kept <= (select count(*) from used_proofs)) as lost`.execute(
      tx,
    )
    if (isNew) await sql`insert into proof_ledger values (1, 0, 0, 0) on conflict do nothing`.execute(tx)
    else if (rows[0]?.lost) return forgiveOnPostgres(tx)
    return undefined
  })
  if (forgivenAt !== undefined) await nextSecond(forgivenAt)
}

/** Begins anew with what is there. When, in milliseconds since 1970. */
async function forgiveOnPostgres(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ at: string }>`
    insert into proof_ledger values (1, 0, 0, ${SECONDS})
    on conflict (id) do update set kept = 0, remembers_since = excluded.remembers_since
    returning extract(epoch from clock_timestamp()) * 1000 as at`.execute(db)
  return Number(rows[0]?.at)
}

async function claimOnPostgres(
  db: Kysely<Tables>,
  { key, issuedAt, deadUntil }: UsedProof,
  last: UsedProof | undefined,
): Promise<boolean | 'lost'> {
  const { rows } = await sql<{ claimed: boolean; kept: number | null; remembers: boolean }>`
    with claimed as (
      insert into used_proofs
      select ${key}, ${deadUntil}::bigint from proof_ledger
      where remembers_since < ${issuedAt}::bigint and forgotten_until < ${deadUntil}::bigint
      on conflict do nothing returning 1)
    select exists (select 1 from claimed) as claimed,
           (select kept from proof_ledger) as kept,
           exists (select 1 from used_proofs where key = ${last?.key ?? ''})
             or exists (select 1 from proof_ledger where forgotten_until >= ${last?.deadUntil ?? 0}::bigint) as remembers`.execute(
    db,
  )
  const [row] = rows
  if (!row?.remembers || row.kept === null) return 'lost'
  // It may not become empty unseen. To count each claim would make all of them wait for one row.
  if (row.claimed && Number(row.kept) === 0) await sql`update proof_ledger set kept = 1 where kept = 0`.execute(db)
  return row.claimed
}

async function forgetOnPostgres(db: Kysely<Tables>): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${CREATE_LOCK})`.execute(tx)
    const { rows } = await sql<{ now: number; kept: number }>`
      select ${SECONDS} as now, count(*) as kept from used_proofs`.execute(tx)
    const [found] = rows
    if (!found) return
    const before = keptFrom(Number(found.now), Number(found.kept))
    await sql`
      update proof_ledger set forgotten_until =
        greatest(forgotten_until, (select max(expires_at) from used_proofs where expires_at < ${before}::bigint))`.execute(
      tx,
    )
    await sql`delete from used_proofs where expires_at < ${before}::bigint`.execute(tx)
    await sql`update proof_ledger set kept = (select count(*) from used_proofs)`.execute(tx)
  })
}
