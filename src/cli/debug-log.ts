import { closeSync, constants, fchmodSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { folderOfHome } from '../config/index.ts'
import { BrokerError } from '../protocol/index.ts'
import { printableJson } from './printable.ts'

const MAX_BYTES = 1024 * 1024
const KEPT = 5

/** The client's debug log: one JSON object a line. What is written holds names, codes and times, never a value sent. */
export interface DebugLog {
  write(event: Readonly<Record<string, unknown>>): void
}

export interface DebugLogOptions {
  /** Undefined switches the file off. */
  readonly path: string | undefined
  /** Whether the file is the home's own, whose folder is made when missing. */
  readonly isDefault: boolean
  /** Shows each line of `--verbose`. */
  readonly show?: (line: string) => void
  readonly now?: () => Date
}

/**
 * Opens the log at its first line. It is written at once and not by a stream: several commands may write at the same
 * time, and a command's end cuts nothing off. What can no longer be written, as on a full disk, is left out.
 * @throws BrokerError OperationNotAllowedError at the first line where a path given by the user cannot be used; never later.
 */
export function openDebugLog({ path, isDefault, show, now = () => new Date() }: DebugLogOptions): DebugLog {
  let file: LogFile | undefined
  return {
    write(event) {
      const line = lineOf({ time: now().toISOString(), pid: process.pid, ...event })
      show?.(line)
      if (path === undefined) return
      file ??= new LogFile(() => openLog(path, isDefault))
      file.append(line)
    },
  }
}

class LogFile {
  readonly #open: () => number | undefined
  #descriptor: number | undefined
  #written = 0
  /** Whether a line was cut off where the disk was full. */
  #isTorn = false

  constructor(open: () => number | undefined) {
    this.#open = open
    this.#descriptor = open()
  }

  append(line: string): void {
    try {
      this.#write(Buffer.from(this.#isTorn ? `\n${line}` : line))
    } catch {
      // Whoever writes is in the middle of something that matters more than its log.
    }
  }

  #write(line: Buffer): void {
    // A run may go on for days: the size is looked at again after each part of what may be written.
    if (this.#written > MAX_BYTES) this.#close()
    this.#descriptor ??= this.#open()
    if (this.#descriptor === undefined) return
    const taken = writeSync(this.#descriptor, line)
    this.#written += taken
    this.#isTorn = taken < line.length
  }

  #close(): void {
    const descriptor = this.#descriptor
    this.#descriptor = undefined
    this.#written = 0
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function lineOf(event: object): string {
  return `${printableJson(event).replace(/\n\s*/g, ' ')}\n`
}

function openLog(path: string, isDefault: boolean): number | undefined {
  try {
    if (isDefault) for (const folder of [dirname(dirname(path)), dirname(path)]) folderOfHome(folder)
    const descriptor = openForAppending(path)
    if (fstatSync(descriptor).size < MAX_BYTES) return descriptor
    closeSync(descriptor)
    rotate(path)
    return openForAppending(path)
  } catch (cause) {
    // The log nobody asked for must not stop a command, for example in a home that may only be read.
    if (isDefault) return undefined
    throw new BrokerError('OperationNotAllowedError', `Cannot write the log file "${path}": ${whyOf(cause)}`, { cause })
  }
}

function openForAppending(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  const stat = fstatSync(descriptor)
  if (!stat.isFile() || stat.nlink > 1) {
    closeSync(descriptor)
    throw new Error('it is no file of its own')
  }
  fchmodSync(descriptor, 0o600)
  return descriptor
}

function rotate(path: string): void {
  rmSync(`${path}.${KEPT}`, { force: true })
  for (let age = KEPT - 1; age >= 1; age--) renameIfThere(`${path}.${age}`, `${path}.${age + 1}`)
  renameIfThere(path, `${path}.1`)
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch {
    // Another command rotated at the same moment.
  }
}

function whyOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'it cannot be opened'
  if ('code' in cause && cause.code === 'ELOOP') return 'it is a symbolic link'
  return cause.message
}
