import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { BrokerError } from '../../protocol/index.ts'
import { storeFailure } from './store-failure.ts'

const KEPT = 3
const DRAFT = '.draft'

/**
 * Copies a database into the folder, whole and durable, and forgets all but the newest few copies.
 * @param schema the migration it has come to, for the name
 * @returns the copy's path
 * @throws BrokerError DaemonUnavailableError where there is no room; nothing is left behind then
 */
export async function copyStore(database: DatabaseSync, folder: string, schema: string): Promise<string> {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const path = join(folder, `${schema}-${time}.db`)
  const draft = `${path}${DRAFT}`
  try {
    makeFolder(folder)
    makeEmpty(draft)
    await backup(database, draft)
    makeSingle(draft)
    sync(draft)
    renameSync(draft, path)
    sync(folder)
  } catch (cause) {
    sweepCopies(folder)
    throw notCopied(cause)
  }
  const copies = storeCopies(folder)
  for (const old of copies.slice(KEPT)) forget(old.path)
  return path
}

/** Removes copies that were not finished: whoever made one is gone, as the caller has the home's lock. */
export function sweepCopies(folder: string): void {
  for (const name of namesIn(folder)) if (DRAFT_FILE.test(name)) forget(join(folder, name))
}

/** With what SQLite keeps beside it. */
const DRAFT_FILE = /\.db\.draft(?:-wal|-shm|-journal)?$/

function forget(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // A disk that fails keeps it until a later start.
  }
}

export interface StoreCopy {
  readonly path: string
  readonly schema: string
}

/** Copies in the folder, newest first. */
export function storeCopies(folder: string): readonly StoreCopy[] {
  return namesIn(folder)
    .flatMap((name) => {
      const [, schema, time] = COPY.exec(name) ?? []
      return schema && time ? [{ path: join(folder, name), schema, time }] : []
    })
    .sort((a, b) => (a.time < b.time ? 1 : -1))
}

const COPY = /^(\w+)-(\d{4}-\d\d-\d\dT[\d-]+Z)\.db$/

function namesIn(folder: string): readonly string[] {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder) : []
  } catch {
    return []
  }
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stat = lstatSync(folder)
  const isOurs = process.getuid === undefined || stat.uid === process.getuid()
  if (!stat.isDirectory() || !isOurs || (stat.mode & 0o022) !== 0) {
    throw new BrokerError('OperationNotAllowedError', `Cannot use the folder "${folder}": it is not the owner's alone`)
  }
}

function makeEmpty(path: string): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  closeSync(openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600))
}

/** Leaves one file that needs no other beside it, and looks at its pages. */
function makeSingle(path: string): void {
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma journal_mode = delete')
    const [row] = database.prepare('pragma quick_check(1)').all()
    if (row?.['quick_check'] !== 'ok') throw new Error('the copy is damaged')
  } finally {
    database.close()
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function notCopied(cause: unknown): BrokerError {
  const failure = storeFailure(cause)
  const why = failure instanceof BrokerError ? failure.message : 'writing failed'
  return new BrokerError('DaemonUnavailableError', `Cannot copy the store before its schema is changed: ${why}`, {
    hint: 'The store was left as it is. A copy needs as much room as server/broker.db.',
    cause,
  })
}
