import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { signingKeyFromPem } from '../src/identity/index.ts'
import { Secret } from '../src/protocol/index.ts'

const FOLDER = new URL('./homes/', import.meta.url)

/**
 * A home as the daemon of an earlier commit left it, with one connection of each of some providers: files and statements,
 * so that it can be read. The commits are those that changed the schema, or where a definition says that a key may go.
 */
export interface OldHome {
  readonly commit: string
  readonly connections: readonly OldConnection[]
  /** By their paths in the home. */
  readonly files: Readonly<Record<string, string>>
  /** What makes the store anew: definitions, then rows, then indexes and triggers. */
  readonly statements: readonly string[]
}

export interface OldConnection {
  readonly provider: string
  readonly credential: Readonly<Record<string, string>>
}

/** Oldest first. */
export function oldHomes(): readonly OldHome[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as OldHome)
}

/** Makes the home in a folder that is not there yet; `further` statements have run in its store, each by itself. */
export function layOut({ files, statements }: OldHome, home: string, further: readonly string[] = []): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(home, path), text, { mode: 0o600 })
  }
  const database = new DatabaseSync(join(home, 'server', 'broker.db'))
  database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma foreign_keys = off')
  for (const statement of [...statements, ...further]) database.exec(statement)
  database.close()
  const ledger = new DatabaseSync(join(home, 'server', 'replay.db'))
  ledger.exec('create table used_proofs (key text primary key, expires_at bigint not null) without rowid')
  ledger.close()
}

/** The key of `ada`, its owner. */
export function keyOf({ files }: OldHome) {
  return signingKeyFromPem(new Secret(files['identities/ada.key'] ?? ''), 'ada')
}
