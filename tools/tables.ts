import type { SourceFile } from './source-files.ts'

export interface TableUse {
  /** Rooms that may change its rows. */
  readonly written: readonly string[]
  /** Rooms that may only read them, beside those. */
  readonly read?: readonly string[]
}

/**
 * Whose each table is: what imports may not cross, SQL may not either. The store, which makes them, and `rights`, which
 * checks every row that says who is who and puts it back, are not held to it.
 */
export const tables: Readonly<Record<string, TableUse>> = {
  // By whose role and vault the others act.
  principals: { written: ['principals'], read: ['accounts', 'connections', 'vault'] },
  identities: { written: ['principals'] },
  claims: { written: ['principals'] },
  accounts: { written: ['accounts'] },
  browser_sessions: { written: ['accounts'] },
  browser_links: { written: ['accounts'] },
  // Guesses are counted in one place: those at a password, and those of who registers agents.
  sign_in_attempts: { written: ['accounts', 'principals'] },
  runs: { written: ['principals'] },
  vault_sources: { written: ['vault'] },
  data_keys: { written: ['vault'] },
  // In the same statement as the row of who asks: its generation and its row of rights belong together.
  manifests: { written: ['vault'], read: ['accounts', 'principals'] },
  // Joined with its connection, to be read in one statement; vault alone writes and opens it.
  records: { written: ['vault'], read: ['connections'] },
  connections: { written: ['connections'] },
  refreshes: { written: ['connections'] },
  audit_events: { written: ['audit'] },
  audit_head: { written: ['audit'] },
  audit_hours: { written: ['audit'] },
  run_channels: { written: ['principals'] },
  release_numbers: { written: ['releases'] },
}

const WITH_ALL = new Set(['store', 'rights'])

/** Gives each use of a table by a room that the list does not name, and each in the list that is none. */
export function tableProblems(files: readonly SourceFile[], list = tables): readonly string[] {
  const inDaemon = files.flatMap((file) => {
    const room = /^src\/daemon\/([a-z-]+)\//.exec(file.path)?.[1]
    return room === undefined || WITH_ALL.has(room) ? [] : [{ ...file, room }]
  })
  return Object.entries(list).flatMap(([table, { written, read = [] }]) => {
    const writers = inDaemon.filter(({ text }) => writes(table).test(text))
    const readers = inDaemon.filter(({ text }) => reads(table).test(text))
    const used = new Set([...writers, ...readers].map(({ room }) => room))
    return [
      ...writers.filter(({ room }) => !written.includes(room)).map(({ path }) => `${path}: may not write ${table}`),
      ...readers
        .filter(({ room }) => ![...written, ...read].includes(room))
        .map(({ path }) => `${path}: may not read ${table}`),
      ...[...written, ...read]
        .filter((room) => !used.has(room))
        .map((room) => `tools/tables.ts: ${room} has no use of ${table}`),
    ]
  })
}

/** Gives the tables of the store that the list does not have, and the other way round. */
export function unlistedTables(files: readonly SourceFile[]): readonly string[] {
  const source = files.find(({ path }) => path === 'src/daemon/store/tables.ts')?.text ?? ''
  const there = [...source.matchAll(/^ {2}(\w+): \w+Row$/gm)].map(([, name = '']) => name)
  return [
    ...there.filter((name) => !(name in tables)).map((name) => `tools/tables.ts: ${name} is not in it`),
    ...Object.keys(tables)
      .filter((name) => !there.includes(name))
      .map((name) => `tools/tables.ts: there is no ${name}`),
  ]
}

function writes(table: string): RegExp {
  return new RegExp(
    String.raw`\.(?:insertInto|updateTable|deleteFrom)\(\s*'${table}'|\b(?:insert into|update|delete from) ${table}\b`,
    'i',
  )
}

function reads(table: string): RegExp {
  return new RegExp(String.raw`\.(?:selectFrom|\w+Join)\(\s*'${table}(?: as \w+)?'|\b(?:from|join) ${table}\b`, 'i')
}
