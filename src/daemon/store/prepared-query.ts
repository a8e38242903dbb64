import type { Compilable, CompiledQuery } from 'kysely'
import type { Db } from './db.ts'

/**
 * A query that is asked on every request: built and compiled once for each database, which costs several times what
 * running it does. `build` gets a stand-in for each value that `names` lists; the call brings the values.
 * @returns the first row, or undefined
 */
export function preparedQuery<Values extends object, Row>(
  names: readonly (keyof Values & string)[],
  build: (db: Db, values: Values) => Compilable<Row>,
): (db: Db, values: Values) => Promise<Row | undefined> {
  const nameOf = new Map<unknown, keyof Values>(names.map((name) => [`\0${name}`, name]))
  // Only ever compiled, never run: of whatever type a value is, its place is what counts.
  const standIns = Object.fromEntries(names.map((name) => [name, `\0${name}`])) as Values
  const compiled = new WeakMap<Db, CompiledQuery<Row>>()
  const compiledFor = (db: Db): CompiledQuery<Row> => {
    const known = compiled.get(db)
    if (known) return known
    const query = build(db, standIns).compile()
    compiled.set(db, query)
    return query
  }
  return async (db, values) => {
    const query = compiledFor(db)
    const parameters = query.parameters.map((parameter) => {
      const name = nameOf.get(parameter)
      return name === undefined ? parameter : values[name]
    })
    const { rows } = await db.executeQuery<Row>({ ...query, parameters })
    return rows[0]
  }
}
