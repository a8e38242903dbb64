import { lstatSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import pino, { type Logger } from 'pino'
import { createStream, type RotatingFileStream } from 'rotating-file-stream'
import type { LogLevel } from '../config/index.ts'
import { BrokerError } from '../protocol/index.ts'

export interface DaemonLog {
  readonly log: Logger
  close(): Promise<void>
}

/** What `daemon serve` gives the daemon: its lines go to standard error too, unless that is a terminal. */
const TO_STDERR = '--log-to-stderr'

/**
 * Structured lines into a file that rotates, and to standard error where whoever runs it in the foreground collects them. Throws OperationNotAllowedError where its name is taken by a link or the like. Only fields that the daemon's own code names are ever written: nothing that
 * came in with a request, and of an unexpected error its kind and its stack without the message.
 */
export function openLog(path: string, level: LogLevel): DaemonLog {
  refuseOther(path)
  const file = createStream(basename(path), { path: dirname(path), size: '5M', rotate: 5, mode: 0o600 })
  // A log that cannot be written must not stop the daemon that would say so.
  file.on('error', () => undefined)
  const copy = process.argv.includes(TO_STDERR) && !process.stderr.isTTY ? standardError() : undefined
  const streams = [file, ...(copy ? [copy] : [])].map((stream) => ({ stream, level }))
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.multistream(streams))
  return {
    log,
    close: async () => {
      await Promise.all([end(file), copy && flushed(copy)])
    },
  }
}

type Destination = ReturnType<typeof pino.destination>

const MOST_WAITING = 1024 * 1024
const FLUSH_MS = 1_000

/** Lines of whoever does not read are dropped, and hold nothing up. */
function standardError(): Destination {
  const copy = pino.destination({ fd: 2, sync: false, maxLength: MOST_WAITING })
  copy.on('error', () => undefined)
  return copy
}

function flushed(copy: Destination): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, FLUSH_MS).unref()
    copy.flush(() => resolve())
  })
}

/** A link would lead what is written elsewhere, and a FIFO that nobody reads would hold the daemon up. */
function refuseOther(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true) return
  throw new BrokerError(
    'OperationNotAllowedError',
    `Cannot write the log "${path}": it is a link, or no regular file`,
    {
      hint: 'Remove it; the daemon makes a new one.',
    },
  )
}

function end(file: RotatingFileStream): Promise<void> {
  return new Promise((resolve) => file.end(resolve))
}

/** Returns what may be written of an error. Messages of foreign errors quote what they choked on. */
export function loggable(error: unknown): object {
  if (error instanceof BrokerError) return { error: error.name, message: error.message, ...causeOf(error) }
  if (!(error instanceof Error)) return { error: typeof error }
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? []
  return { error: error.name, ...('code' in error && { code: String(error.code) }), stack: frames.slice(0, 12) }
}

function causeOf(error: BrokerError): object {
  return error.cause instanceof Error ? { cause: loggable(error.cause) } : {}
}
