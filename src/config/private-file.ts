import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { BrokerError } from '../protocol/index.ts'
import { isForeign } from './file-owner.ts'

const MAX_BYTES = 1024 * 1024

/**
 * The text of a small file of the home, undefined where there is none. Follows no symbolic link.
 * @param limit in bytes; 1 MiB if absent
 * @throws BrokerError OperationNotAllowedError where it is a link, no regular file, too large, or others may write it.
 */
export function readPrivateFile(path: string, limit = MAX_BYTES): string | undefined {
  const descriptor = openForReading(path)
  if (descriptor === undefined) return undefined
  try {
    const { size } = regularFile(descriptor, path, limit)
    const bytes = Buffer.alloc(size)
    const length = readSync(descriptor, bytes, 0, size, 0)
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}

function openForReading(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw refusedFile(path, codeOf(cause) === 'EACCES' ? 'it may not be read' : 'it is a link, or no file', cause)
  }
}

function regularFile(descriptor: number, path: string, limit: number) {
  const stat = fstatSync(descriptor)
  if (!stat.isFile() || stat.size > limit) throw refusedFile(path, 'it is a link, no regular file, or too large')
  if (isForeign(stat) || (stat.mode & 0o022) !== 0) throw refusedFile(path, 'others may write it')
  return stat
}

function refusedFile(path: string, why: string, cause?: unknown, hint?: string): BrokerError {
  return new BrokerError('OperationNotAllowedError', `Cannot use the file "${path}": ${why}`, {
    cause,
    ...(hint !== undefined && { hint }),
  })
}

/** What the system says where there is no room or no disk; anything else is a matter of the file. */
const OUTAGES: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'no more room is granted'],
  ['EIO', 'the disk failed'],
  ['EROFS', 'the disk is read-only'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open'],
])

function written<Result>(path: string, write: () => Result): Result {
  try {
    return write()
  } catch (cause) {
    if (cause instanceof BrokerError) throw cause
    const why = OUTAGES.get(codeOf(cause))
    const hint = 'Mend it, or use another home: BROKER_HOME=<folder> broker …'
    if (why === undefined) throw refusedFile(path, `it cannot be written (${codeOf(cause)})`, cause, hint)
    throw new BrokerError('DaemonUnavailableError', `Cannot write the file "${path}": ${why}`, { cause, hint })
  }
}

/**
 * Replaces a file whole, readable by its owner alone: a crash or a full disk leaves the old text or the new.
 * @throws BrokerError DaemonUnavailableError where there is no room, OperationNotAllowedError where it may not be written
 */
export function writePrivateFile(path: string, text: string | Buffer): void {
  written(path, () => replace(path, text))
}

function replace(path: string, text: string | Buffer): void {
  const draft = writeDraft(path, text)
  try {
    renameSync(draft, path)
  } catch (cause) {
    forget(draft)
    throw cause
  }
  syncFolder(dirname(path))
}

/**
 * Makes a file whole where there is none; false where there is one, of whoever was first. An empty one is none: earlier
 * versions made a file and wrote it then, and may have ended in between.
 * @throws BrokerError as {@link writePrivateFile}
 */
export function createPrivateFile(path: string, text: string | Buffer): boolean {
  if (readPrivateFile(path) !== '') return written(path, () => make(path, text))
  writePrivateFile(path, text)
  return true
}

function make(path: string, text: string | Buffer): boolean {
  const draft = writeDraft(path, text)
  try {
    if (!place(draft, path)) return false
  } finally {
    forget(draft)
  }
  syncFolder(dirname(path))
  return true
}

/** Gives the draft its name unless that is taken. */
function place(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    if (!NO_LINKS.has(codeOf(cause) ?? '')) throw cause
    return claim(draft, path)
  }
}

/** What file systems without hard links say. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Takes the name by an empty file, which a crash may leave: it counts as none. */
function claim(draft: string, path: string): boolean {
  try {
    closeSync(openSync(path, NEW, 0o600))
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
  renameSync(draft, path)
  return true
}

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

function writeDraft(path: string, text: string | Buffer): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const descriptor = openSync(draft, NEW, 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } catch (cause) {
    forget(draft)
    throw cause
  } finally {
    closeSync(descriptor)
  }
  return draft
}

/** What cannot be removed now is swept at a later start. */
function forget(draft: string): void {
  try {
    unlinkSync(draft)
  } catch {
    // Renamed away, or the disk that failed to write fails here too.
  }
}

/** Names of drafts: ours, and those of provider definitions. */
const DRAFT = /\.(?:[0-9a-f]{12}|\d+)\.tmp$/

/** Milliseconds: no command takes as long to write a small file. */
export const OF_A_COMMAND_MS = 3_600_000

/**
 * Removes the drafts in a folder that a crash has left; follows no link.
 * @param age in milliseconds, of the youngest to remove; without it all go, whatever the clock says
 */
export function sweepDrafts(folder: string, age?: number): void {
  for (const name of namesIn(folder).filter((one) => DRAFT.test(one))) {
    const path = join(folder, name)
    try {
      const stat = lstatSync(path)
      const isOld = age === undefined || Date.now() - stat.mtimeMs >= age
      if (stat.isFile() && !isForeign(stat) && isOld) unlinkSync(path)
    } catch {
      // It is gone, or stays: either way nobody reads it.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder) : []
  } catch {
    return []
  }
}

/** Gives a file the name of another in the same folder, whose place it takes, durably. */
export function movePrivateFile(from: string, to: string): void {
  written(to, () => {
    renameSync(from, to)
    syncFolder(dirname(to))
  })
}

/** Removes a file for good, if it is there. */
export function removePrivateFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return
    throw cause
  }
  syncFolder(dirname(path))
}

/** Makes the names in a folder durable. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
