import { type DatabaseConnection, type Dialect, type Driver, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import { storeFailure } from './store-failure.ts'

/** Kysely's own dialect, whose outages are told from mistakes as those of SQLite are. */
export function postgresDialect(pool: Pool): Dialect {
  const dialect = new PostgresDialect({ pool })
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => telling(dialect.createDriver()),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
}

function telling(driver: Driver): Driver {
  const told = new WeakSet<DatabaseConnection>()
  const acquire = driver.acquireConnection.bind(driver)
  driver.acquireConnection = async (options) => {
    const connection = await acquire(options).catch(rethrow)
    // The driver hands out the same objects again and again.
    if (!told.has(connection)) tell(connection)
    told.add(connection)
    return connection
  }
  return driver
}

function tell(connection: DatabaseConnection): void {
  const execute = connection.executeQuery.bind(connection)
  connection.executeQuery = ((...query: Parameters<typeof execute>) =>
    execute(...query).catch(rethrow)) as typeof connection.executeQuery
}

function rethrow(cause: unknown): never {
  throw storeFailure(cause)
}
