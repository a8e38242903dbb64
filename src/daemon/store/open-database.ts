import { chmodSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BrokerError } from '../../protocol/index.ts'
import { storeFailure } from './store-failure.ts'

/** @throws BrokerError DaemonUnavailableError where the file is damaged, or cannot be used */
export function openDatabase(path: string): DatabaseSync {
  try {
    const database = connectTo(path)
    chmodSync(path, 0o600)
    database.exec('pragma journal_mode = wal; pragma synchronous = full')
    checkPages(database)
    return database
  } catch (cause) {
    throw isDamage(cause) ? damaged(path, cause) : storeFailure(cause)
  }
}

const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

function isDamage(cause: unknown): boolean {
  if (!(cause instanceof Error && 'errcode' in cause)) return true
  const code = Number(cause.errcode) & 0xff
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB
}

function checkPages(database: DatabaseSync): void {
  const [row] = database.prepare('pragma quick_check(1)').all()
  if (row?.['quick_check'] !== 'ok') throw new Error(`quick_check found: ${String(row?.['quick_check'])}`)
}

function damaged(path: string, cause: unknown): BrokerError {
  const why = cause instanceof Error ? cause.message : 'unknown'
  return new BrokerError('DaemonUnavailableError', `Cannot open the store "${basename(path)}": ${why}`, {
    hint: 'The file was left as it is. Restore it, with its -wal file, from a backup, or move both away to start empty.',
    cause,
  })
}

/** A connection as every one must be that changes the file. */
export function connectTo(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: true, timeout: 2000 })
  database.exec(
    'pragma fullfsync = on; pragma secure_delete = on; pragma trusted_schema = off; pragma cell_size_check = on',
  )
  return database
}
