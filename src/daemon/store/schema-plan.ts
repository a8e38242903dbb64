import { DatabaseSync } from 'node:sqlite'
import { drafts } from './migration-drafts.ts'
import { type Dialect, type Migration, migrationsFor } from './migrations.ts'

/** What a store says of its own schema. */
export interface FoundSchema {
  /** Migrations that are recorded as done, in their order. */
  readonly recorded: readonly string[]
  /** `table.column` of each column, and the names of indexes and triggers; other programs' may be among them. */
  readonly names: ReadonlySet<string>
}

export type SchemaPlan =
  | { readonly kind: 'current' }
  | SchemaChange
  /** Migrations that this version does not know. */
  | { readonly kind: 'newer'; readonly unknown: readonly string[] }
  /** Neither an earlier schema nor anything on the way from one to the next. */
  | { readonly kind: 'strange' }

export interface SchemaChange {
  readonly kind: 'change'
  readonly statements: readonly string[]
  /** Migrations to record once the statements have run. */
  readonly record: readonly string[]
  /** The last migration that is whole; undefined where none is. */
  readonly from: string | undefined
  readonly to: string
  /** Whether a migration was left half done, or has the definition of before its release. */
  readonly mends: boolean
}

/** Returns what must be done to a store so that its schema is the one of this version. */
export function planFor(dialect: Dialect, { recorded, names }: FoundSchema): SchemaPlan {
  const known = migrationsFor(dialect).map(({ name }) => name)
  const unknown = recorded.filter((name) => !known.includes(name))
  if (unknown.length > 0) return { kind: 'newer', unknown }
  if (recorded.some((name, at) => name !== known[at])) return { kind: 'strange' }
  if (recorded.length === known.length && isWhole(dialect, names)) return { kind: 'current' }

  const ways = waysOf('sqlite').map((way) => stepsOf(way, dialect))
  const own = new Set(ways.flatMap((steps) => steps.flatMap((step) => [...step.names])))
  const found = new Set([...names].filter((name) => own.has(name)))
  for (const [at, way] of waysOf(dialect).entries()) {
    const step = ways[at]?.find((one) => one.whole >= recorded.length && isSame(one.names, found))
    if (step === undefined) continue
    return {
      kind: 'change',
      statements: restOf(way, step),
      record: known.slice(recorded.length),
      from: known[step.whole - 1],
      to: known.at(-1) ?? '',
      mends: way.isDraft || step.done > 0 || step.whole > recorded.length,
    }
  }
  return { kind: 'strange' }
}

/** Returns whether all definitions of this version are there. */
export function isWhole(dialect: Dialect, names: ReadonlySet<string>): boolean {
  return wholeSchema(dialect).isSubsetOf(names)
}

const wholeSchemas = new Map<Dialect, ReadonlySet<string>>()

function wholeSchema(dialect: Dialect): ReadonlySet<string> {
  const known = wholeSchemas.get(dialect)
  if (known) return known
  const database = new DatabaseSync(':memory:')
  for (const { statements } of migrationsFor('sqlite')) database.exec(statements.join(';\n'))
  const names = namesIn(database, dialect)
  database.close()
  wholeSchemas.set(dialect, names)
  return names
}

/** One order of migrations that leads, or led, from nothing to the present schema. */
interface Way {
  readonly migrations: readonly Migration[]
  /** What comes after them. */
  readonly after: readonly string[]
  readonly isDraft: boolean
}

/** This version's own way is the first. */
function waysOf(dialect: Dialect): readonly Way[] {
  const migrations = migrationsFor(dialect)
  return [
    { migrations, after: [], isDraft: false },
    ...drafts.map((draft) => {
      const at = migrations.findIndex(({ name }) => name === draft.name)
      const later = migrations.slice(at + 1).flatMap(({ statements }) => statements)
      return { migrations: [...migrations.slice(0, at), draft], after: [...draft.after, ...later], isDraft: true }
    }),
  ]
}

/** A schema on the way. */
interface Step {
  /** How many migrations are whole. */
  readonly whole: number
  /** How many statements of the next one have run. */
  readonly done: number
  readonly names: ReadonlySet<string>
}

function stepsOf({ migrations }: Way, dialect: Dialect): readonly Step[] {
  const database = new DatabaseSync(':memory:')
  const steps: Step[] = []
  for (const [whole, { statements }] of migrations.entries()) {
    for (const [done, statement] of statements.entries()) {
      // On Postgres a migration was never half done.
      if (dialect === 'sqlite' || done === 0) steps.push({ whole, done, names: namesIn(database, dialect) })
      database.exec(statement)
    }
  }
  steps.push({ whole: migrations.length, done: 0, names: namesIn(database, dialect) })
  database.close()
  return steps
}

function restOf({ migrations, after }: Way, { whole, done }: Step): readonly string[] {
  return [...migrations.slice(whole).flatMap(({ statements }, at) => statements.slice(at === 0 ? done : 0)), ...after]
}

/** Names alone tell: each statement that changes the schema adds one, or takes one away. */
export const SQLITE_NAMES = `
  select m.name || '.' || c.name as name, 'column' as kind
  from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table'
  union all
  select name, type from sqlite_schema where type = 'trigger' or (type = 'index' and sql is not null)`

/** Triggers are others on Postgres, and are not looked at there. */
function namesIn(database: DatabaseSync, dialect: Dialect): ReadonlySet<string> {
  const rows = database.prepare(SQLITE_NAMES).all()
  const seen = dialect === 'sqlite' ? rows : rows.filter(({ kind }) => kind !== 'trigger')
  return new Set(seen.map(({ name }) => String(name)))
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other)
}
