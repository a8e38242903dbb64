import { hash } from 'node:crypto'
import { BrokerError } from '../../protocol/index.ts'
import { type AnyRow, makeStore, readStore, type StoreLocation, type TableName } from '../store/index.ts'

/** How many rows of each table were moved. */
export type MovedTables = Readonly<Partial<Record<TableName, { readonly rows: number }>>>

/**
 * Copies every row of one store into another that is empty, and reads it back there before it counts: all of it is there when
 * this resolves, or nothing. The first one stays as it is.
 * @throws BrokerError ConflictError where the other is not empty; DaemonUnavailableError where a row is not what was written
 */
export function moveStore(from: StoreLocation, to: StoreLocation, version: string): Promise<MovedTables> {
  return readStore(from, async ({ schema, rows }) =>
    makeStore(to, { schema, version }, async ({ write, read }) => {
      const sums = new Map<TableName, Sum>()
      for await (const { table, rows: some } of rows()) {
        sums.set(table, added(sums.get(table), some))
        await write(table, some)
      }
      const moved: Partial<Record<TableName, { readonly rows: number }>> = {}
      for (const [table, sum] of sums) {
        let found: Sum | undefined
        for await (const some of read(table)) found = added(found, some)
        if (found?.rows !== sum.rows || !found.print.equals(sum.print)) throw differs(table)
        moved[table] = { rows: sum.rows }
      }
      return moved
    }),
  )
}

/** Of rows in whatever order: two kinds of store sort text in two ways. */
interface Sum {
  readonly rows: number
  /** The exclusive or of a hash for each. */
  readonly print: Buffer
}

function added(sum: Sum | undefined, rows: readonly AnyRow[]): Sum {
  const print = Buffer.from(sum?.print ?? Buffer.alloc(32))
  for (const row of rows) {
    const own = hash('sha256', textOf(row), 'buffer')
    for (let at = 0; at < print.length; at += 1) print[at] = (print[at] ?? 0) ^ (own[at] ?? 0)
  }
  return { rows: (sum?.rows ?? 0) + rows.length, print }
}

function textOf(row: AnyRow): string {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  ])
  return JSON.stringify(entries.sort(([one = ''], [other = '']) => (String(one) < String(other) ? -1 : 1)))
}

function differs(table: TableName): BrokerError {
  return new BrokerError('DaemonUnavailableError', `The rows of ${table} are not what was written; nothing was moved`)
}
