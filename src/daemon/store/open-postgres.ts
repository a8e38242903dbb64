import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import type { Pool } from 'pg'
import { BrokerError, type Secret } from '../../protocol/index.ts'
import type { Db } from './db.ts'
import { Flushes } from './flushes.ts'
import { inTransaction } from './in-transaction.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { isPassing, isRefused } from './postgres-failure.ts'
import { StatementNames } from './statement-names.ts'
import type { Tables } from './tables.ts'
import { takeWriteLock, type WriteLock } from './write-lock.ts'
import { WriteQueue } from './write-queue.ts'

/** How long something may take, in milliseconds, before it is given up. */
interface Limits {
  /** Until there is a connection, of the pool or a new one. */
  readonly connect: number
  /** Until a lock is free. */
  readonly lock: number
  /** Until Postgres has carried a statement out. */
  readonly statement: number
  /** Until it has answered: a server that is frozen cannot give up by itself. */
  readonly answer: number
  /** That a transaction may rest: a daemon that is paused in one must not keep the others waiting. */
  readonly idle: number
}

/** Each way to wait, alone and where two come together, ends within five seconds. */
const REQUEST: Limits = { connect: 2500, lock: 2000, statement: 4000, answer: 4500, idle: 5000 }

/** A change of the schema rewrites tables, and waits until another daemon has done so. */
const MIGRATION: Limits = { connect: 5000, lock: 12_000, statement: 600_000, answer: 601_000, idle: 60_000 }

/** How many connections there are at most. */
export interface PoolSizes {
  /** For what requests ask. */
  readonly requests: number
  /** For transactions that change something. */
  readonly writes: number
}

const POOLS: PoolSizes = { requests: 10, writes: 3 }

/** All of `work` or nothing of it, under a lock, when its turn has come. */
export type Writes = <Result>(lock: WriteLock, work: (tx: Db) => Promise<Result>) => Promise<Result>

interface RequestPools {
  readonly requests: Db
  readonly writes: Writes
  readonly flushes: Flushes
  close(): Promise<void>
}

/** Two pools: a change that waits for a lock holds no connection that what is asked needs. */
export async function requestsOn(url: Secret, sizes: Partial<PoolSizes> = {}): Promise<RequestPools> {
  const pools = { ...POOLS, ...sizes }
  const names = new StatementNames()
  const [requests, changes] = [
    await openPool(url, REQUEST, pools.requests, names),
    await openPool(url, REQUEST, pools.writes, names),
  ]
  const queue = new WriteQueue(pools.writes)
  const flushes = new Flushes(() => flush(requests))
  return {
    requests,
    flushes,
    writes: (lock, work) =>
      queue.run(lock, () =>
        inTransaction(changes, async (tx) => {
          await takeWriteLock(tx, lock)
          return work(tx)
        }),
      ),
    async close() {
      flushes.stop()
      await Promise.all([requests.destroy(), changes.destroy()])
    },
  }
}

/** A commit that waits for the disk has what was committed before it kept, too. */
async function flush(db: Db): Promise<void> {
  await sql`select pg_logical_emit_message(true, 'broker', 'flush')`.execute(db)
}

/** One connection with time for a change of the schema, for as long as `work` takes. */
export async function migratingOn<Result>(url: Secret, work: (db: Db) => Promise<Result>): Promise<Result> {
  const db = await openPool(url, MIGRATION, 1)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/** Less than the command line waits for a daemon. */
const PATIENCE_MS = 12_000
/** What refuses connections may be an address where nothing ever listens. */
const PATIENCE_REFUSED_MS = 3000
const LOOK_AGAIN_MS = 200

/** Tries `work` until Postgres has started, and nobody is paused in a change any more. */
export async function whenStarted(work: () => Promise<unknown>): Promise<void> {
  const begin = performance.now()
  for (;;) {
    const error = await work().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (error === undefined) return
    const patience = isRefused(error) ? PATIENCE_REFUSED_MS : PATIENCE_MS
    if (!isPassing(error) || performance.now() - begin > patience) throw error
    await delay(LOOK_AGAIN_MS)
  }
}

async function openPool(url: Secret, limits: Limits, max: number, names?: StatementNames): Promise<Db> {
  const { default: pg } = await import('pg')
  // bigint columns are counters far below 2^53; text would compare as text.
  const parseBigint = (text: string) => Number(text)
  const options = {
    connectionString: url.reveal(),
    max,
    connectionTimeoutMillis: limits.connect,
    query_timeout: limits.answer,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Not at the beginning of the session, as `pg` would: poolers such as PgBouncer refuse what they do not know there.
    onConnect: (client: Pick<Pool, 'query'>) => client.query(settingsFor(limits)),
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === 20 ? parseBigint : pg.types.getTypeParser(oid, format),
    },
  }
  try {
    // It reads the URL, and the files that it names, now.
    new pg.Client(options)
  } catch {
    // What is thrown quotes the URL.
    throw new BrokerError('InvalidRequestError', 'The value of BROKER_DATABASE_URL cannot be used', {
      hint: 'It is `postgres://user:password@host:5432/database`; special characters of the password are percent-encoded.',
    })
  }
  // An attempt that the client itself gives up, for want of a password, leaves its socket open.
  const Client = class extends pg.Client {
    override connect(): Promise<this>
    override connect(told: (error: Error) => void): void
    override connect(told?: (error: Error) => void): Promise<this> | undefined {
      if (told === undefined) return super.connect() as Promise<this>
      super.connect((error: Error) => {
        if (error) this.end().catch(() => undefined)
        told(error)
      })
    }
  }
  return new Kysely<Tables>({ dialect: postgresDialect(new pg.Pool({ ...options, Client } as never), names) })
}

function settingsFor({ lock, statement, idle }: Limits): string {
  return (
    `set lock_timeout = ${lock}; set statement_timeout = ${statement};` +
    `set idle_in_transaction_session_timeout = ${idle}`
  )
}
