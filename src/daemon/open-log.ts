import { mkdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import pino, { type Logger } from 'pino'
import { createStream, type RotatingFileStream } from 'rotating-file-stream'
import type { LogLevel } from '../config/index.ts'
import { BrokerError } from '../protocol/index.ts'

export interface DaemonLog {
  readonly log: Logger
  close(): Promise<void>
}

/**
 * Structured lines into a file that rotates. Only fields that the daemon's own code names are ever written: nothing that
 * came in with a request, and of an unexpected error its kind and its stack without the message.
 */
export function openLog(path: string, level: LogLevel): DaemonLog {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = createStream(basename(path), { path: dirname(path), size: '5M', maxFiles: 5, mode: 0o600 })
  // A log that cannot be written must not stop the daemon that would say so.
  file.on('error', () => undefined)
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, file)
  return { log, close: () => end(file) }
}

function end(file: RotatingFileStream): Promise<void> {
  return new Promise((resolve) => file.end(resolve))
}

/** What may be written of an error. Messages of foreign errors quote what they choked on. */
export function loggable(error: unknown): object {
  if (error instanceof BrokerError) return { error: error.name, message: error.message, ...causeOf(error) }
  if (!(error instanceof Error)) return { error: typeof error }
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? []
  return { error: error.name, ...('code' in error && { code: String(error.code) }), stack: frames.slice(0, 12) }
}

function causeOf(error: BrokerError): object {
  return error.cause instanceof Error ? { cause: loggable(error.cause) } : {}
}
