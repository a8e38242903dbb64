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
import { namesRefused, postgresFailure } from './postgres-failure.ts'
import type { StatementNames } from './statement-names.ts'

/**
 * Kysely over a pool of `pg`: a connection that failed is never used again, nor waited for.
 * @param names of statements; all go without one where absent
 */
export function postgresDialect(pool: Pool, names?: StatementNames): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(pool, names),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

/** A frozen server answers no goodbye either. */
const GOODBYE_MS = 1000

class PostgresDriver implements Driver {
  readonly #pool: Pool
  readonly #names: StatementNames | undefined

  constructor(pool: Pool, names: StatementNames | undefined) {
    this.#pool = pool
    this.#names = names
    // A connection that dies has an error, whether it rests or is in use; unheard, it would end the daemon. Whoever uses
    // the connection is told by the query.
    pool.on('connect', (client) => client.on('error', () => undefined))
    pool.on('error', () => undefined)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#names)
    } catch (cause) {
      throw postgresFailure(cause, 'connecting')
    }
  }

  async beginTransaction(connection: PostgresConnection, { isolationLevel }: TransactionSettings): Promise<void> {
    await connection.begin(isolationLevel ? `start transaction isolation level ${isolationLevel}` : 'begin')
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
  readonly #names: StatementNames | undefined
  #isBroken = false
  #isInTransaction = false

  constructor(client: PoolClient, names: StatementNames | undefined) {
    this.#client = client
    this.#names = names
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
    const { command, rowCount, rows } = await this.#statement(sql, parameters)
    return { rows, ...(CHANGES.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface asks for it; nothing of ours streams.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Postgres queries are not streamed')
  }

  /** Returns the command that Postgres says it has carried out. */
  async run(sql: string): Promise<string> {
    return (await this.#query(sql, [])).command
  }

  async begin(sql: string): Promise<void> {
    this.#isInTransaction = true
    await this.run(sql)
  }

  async #statement(sql: string, parameters: readonly unknown[]) {
    // What has no values is a change of the schema, or asked once.
    const name = parameters.length > 0 ? this.#names?.of(sql) : undefined
    try {
      return await this.#query(sql, parameters, name)
    } catch (error) {
      if (name === undefined || !this.#names?.refusedBy(error)) throw error
      // What the transaction has done is lost with it: it has to be begun anew.
      if (this.#isInTransaction) throw namesRefused(error)
      return this.#query(sql, parameters)
    }
  }

  async #query(text: string, parameters: readonly unknown[], name?: string) {
    try {
      return await this.#client.query({ text, values: [...parameters], ...(name !== undefined && { name }) })
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
