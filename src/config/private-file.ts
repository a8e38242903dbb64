import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { BrokerError } from '../protocol/index.ts'
import { isForeign } from './file-owner.ts'

const MAX_BYTES = 1024 * 1024

/**
 * The text of a small file of the home, undefined where there is none. Follows no symbolic link.
 * @throws BrokerError OperationNotAllowedError where it is a link, no regular file, too large, or others may write it.
 */
export function readPrivateFile(path: string): string | undefined {
  const descriptor = openForReading(path)
  if (descriptor === undefined) return undefined
  try {
    const { size } = regularFile(descriptor, path)
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

function regularFile(descriptor: number, path: string) {
  const stat = fstatSync(descriptor)
  if (!stat.isFile() || stat.size > MAX_BYTES) throw refusedFile(path, 'it is a link, no regular file, or too large')
  if (isForeign(stat) || (stat.mode & 0o022) !== 0) throw refusedFile(path, 'others may write it')
  return stat
}

function refusedFile(path: string, why: string, cause?: unknown): BrokerError {
  return new BrokerError('OperationNotAllowedError', `Cannot use the file "${path}": ${why}`, { cause })
}

/** Replaces a file whole, readable by its owner alone, so that a crash leaves the old text or the new. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeDurably(draft, text)
    renameSync(draft, path)
  } catch (cause) {
    rmSync(draft, { force: true })
    throw cause
  }
  syncFolder(dirname(path))
}

/** Writes a file that must not be there yet; false where it is. */
export function createPrivateFile(path: string, text: string): boolean {
  try {
    writeDurably(path, text)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
  syncFolder(dirname(path))
  return true
}

function writeDurably(path: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const descriptor = openSync(path, flags, 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function syncFolder(folder: string): void {
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
