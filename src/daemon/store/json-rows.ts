import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from './migrations.ts'

/** The columns of rows, and of which type each is. */
export type ColumnTypes<Row> = { readonly [Column in keyof Row & string]: 'text' | 'bigint' }

/**
 * Rows as one parameter, to be selected from: as values of their own each would be compiled anew, which costs more than
 * storing it, and Postgres takes 65,535 of them.
 */
export function jsonRows<Row extends object>(
  dialect: Dialect,
  columns: ColumnTypes<Row>,
  rows: readonly Row[],
): RawBuilder<Row> {
  const text = JSON.stringify(rows)
  const names = Object.keys(columns)
  if (dialect === 'postgres') {
    const types = Object.entries(columns).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(String(type))}`)
    return sql`(select * from json_to_recordset(${text}::json) as given (${sql.join(types)}))`
  }
  const values = names.map((name) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`)
  return sql`(select ${sql.join(values)} from json_each(${text}))`
}
