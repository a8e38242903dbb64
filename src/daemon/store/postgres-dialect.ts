import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { DatabaseError, Pool, PoolClient } from 'pg'
import { postgresFailure } from './postgres-failure.ts'

/** Kysely over a pool of `pg`: a connection that failed is never used again, nor waited for. */
export function postgresDialect(pool: Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

/** A frozen server answers no goodbye either. */
const GOODBYE_MS = 1000

class PostgresDriver implements Driver {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
    // A connection that dies has an error, whether it rests or is in use; unheard, it would end the daemon. Whoever uses
    // the connection is told by the query.
    pool.on('connect', (client) => client.on('error', () => undefined))
    pool.on('error', () => undefined)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect())
    } catch (cause) {
      throw postgresFailure(cause, 'connecting')
    }
  }

  async beginTransaction(connection: PostgresConnection, { isolationLevel }: TransactionSettings): Promise<void> {
    await connection.run(isolationLevel ? `start transaction isolation level ${isolationLevel}` : 'begin')
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    // Postgres answers so where an earlier statement has failed.
    if ((await connection.run('commit')) === 'ROLLBACK') throw new AbortedTransactionError()
  }

  /** Rolls back. What ended the transaction is what is told; where this fails too, the connection's end rolls it back. */
  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    if (!connection.isBroken) await connection.run('rollback').catch(() => connection.discard())
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, GOODBYE_MS)
    await Promise.race([this.#pool.end(), late.promise])
    clearTimeout(timer)
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  #isBroken = false

  constructor(client: PoolClient) {
    this.#client = client
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  discard(): void {
    this.#isBroken = true
  }

  release(): void {
    this.#client.release(this.#isBroken)
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, rowCount, rows } = await this.#query(sql, parameters)
    return { rows, ...(CHANGES.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface asks for it; nothing of ours streams.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Postgres queries are not streamed')
  }

  /** The command that Postgres says it has carried out. */
  async run(sql: string): Promise<string> {
    return (await this.#query(sql, [])).command
  }

  async #query(sql: string, parameters: readonly unknown[]) {
    try {
      return await this.#client.query(sql, [...parameters])
    } catch (cause) {
      if (!isAnswer(cause)) this.discard()
      throw postgresFailure(cause, 'asking')
    }
  }
}

const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** Classes of errors after which Postgres ends the connection: 08 of the connection itself, 57P when it stops. */
const ENDS = /^(?:08|57P|25P03|25P04)/

/** Returns whether Postgres itself answered, and answers on: anything else says that the connection cannot be relied on. */
function isAnswer(cause: unknown): cause is DatabaseError {
  const isFromServer = cause instanceof Error && 'severity' in cause && 'code' in cause
  return isFromServer && typeof cause.code === 'string' && !ENDS.test(cause.code)
}
