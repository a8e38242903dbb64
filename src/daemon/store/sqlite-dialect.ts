import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import { LRUCache } from 'lru-cache'
import { storeFailure } from './store-failure.ts'

/** Kysely over Node's own SQLite: one connection, handed from one holder to the next in turn. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection
  readonly #database: DatabaseSync
  #held = false
  readonly #waiting: (() => void)[] = []

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#connection = new SqliteConnection(database)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#held) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#held = true
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#held = false
  }

  /**
   * IMMEDIATE takes the write lock now: a transaction that reads first could otherwise find it taken when it writes. One that
   * names what it wants to see only reads.
   */
  async beginTransaction(_: DatabaseConnection, { isolationLevel }: TransactionSettings): Promise<void> {
    this.#connection.run(isolationLevel === undefined ? 'BEGIN IMMEDIATE' : 'BEGIN')
  }

  async commitTransaction(): Promise<void> {
    this.#connection.run('COMMIT')
  }

  async rollbackTransaction(): Promise<void> {
    // A full disk or a failed write has ended the transaction already.
    if (this.#database.isTransaction) this.#connection.run('ROLLBACK')
  }

  async destroy(): Promise<void> {
    this.#database.close()
  }
}

const CACHED_STATEMENTS = 200

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #prepared = new LRUCache<string, Prepared>({ max: CACHED_STATEMENTS })

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const { statement, returnsRows } = this.#prepare(sql)
      const values = parameters as SQLInputValue[]
      if (returnsRows) return { rows: statement.all(...values) as Row[] }
      const { changes } = statement.run(...values)
      return { rows: [], numAffectedRows: BigInt(changes) }
    } catch (cause) {
      throw storeFailure(cause)
    }
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface asks for it; nothing of ours streams.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('SQLite queries are not streamed')
  }

  run(sql: string): void {
    try {
      this.#database.exec(sql)
    } catch (cause) {
      throw storeFailure(cause)
    }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    const prepared = { statement, returnsRows: statement.columns().length > 0 }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}
