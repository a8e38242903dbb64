import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { BrokerError } from '../protocol/index.ts'

const CHUNK = 64 * 1024

/** The last `count` lines of a log file and the offset after them; nothing where there is no file. */
export function lastLines(path: string, count: number): { readonly lines: readonly string[]; readonly end: number } {
  const descriptor = open(path)
  if (descriptor === undefined) return { lines: [], end: 0 }
  try {
    const end = fstatSync(descriptor).size
    return { lines: linesBefore(descriptor, end, count), end }
  } finally {
    closeSync(descriptor)
  }
}

/** Returns what was written after `start`; from the beginning where the file was rotated meanwhile. */
export function linesAfter(path: string, start: number): { readonly lines: readonly string[]; readonly end: number } {
  const descriptor = open(path)
  if (descriptor === undefined) return { lines: [], end: start }
  try {
    const { size } = fstatSync(descriptor)
    const from = size < start ? 0 : start
    const text = read(descriptor, from, size - from).toString('utf8')
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    return { lines: split(whole), end: from + Buffer.byteLength(whole) }
  } finally {
    closeSync(descriptor)
  }
}

function open(path: string): number | undefined {
  try {
    if (!lstatSync(path).isFile()) throw new Error('It is no regular file')
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new BrokerError('OperationNotAllowedError', `Cannot read the log "${path}": it is a link, or no file`, {
      cause: error,
    })
  }
}

// From the end backwards, so that a large file costs no more than a small one.
function linesBefore(descriptor: number, end: number, count: number): readonly string[] {
  let tail = Buffer.alloc(0)
  let position = end
  while (position > 0 && newlines(tail) <= count) {
    const length = Math.min(CHUNK, position)
    position -= length
    tail = Buffer.concat([read(descriptor, position, length), tail])
  }
  return split(tail.toString('utf8')).slice(-count)
}

function read(descriptor: number, position: number, length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
}

function newlines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++
  return count
}

function split(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}
