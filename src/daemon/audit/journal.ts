import { closeSync, constants, fdatasync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { BrokerError } from '../../protocol/index.ts'

/** Rows that are written before the act they tell of, and reach the log soon after. */
export interface Journal<Row> {
  /**
   * Resolves once no kill of a process can lose the row; a power cut may cost the last 50 ms.
   * @throws BrokerError DaemonUnavailableError where it cannot be written: the act must not happen
   */
  write(row: Row): Promise<void>
  /** Resolves once all that were written before are in the log. */
  drained(): Promise<void>
  /** Drains, and lets go of the files. */
  close(): Promise<void>
}

export interface FileJournalOptions<Row> {
  /** A private folder that is there. */
  readonly folder: string
  /** Puts rows into the log, all or none; those that are there are left out. */
  readonly store: (rows: readonly Row[]) => Promise<void>
  /** Told where the rows could not be stored now: they are kept, and tried again. */
  readonly onFailure: (error: unknown) => void
}

const FILES = ['releases-0.jsonl', 'releases-1.jsonl'] as const
const DRAIN_AFTER_MS = 250
const SYNC_AFTER_MS = 50
/** The log takes nothing for so long that something is wrong: what cannot be recorded does not happen. */
const MOST_KEPT = 100_000

/**
 * A journal in two files of one daemon: one is written to while the rows of the other go into the log. A row is a line of
 * JSON; the lines of one turn of the event loop are one write.
 */
export function openFileJournal<Row>(options: FileJournalOptions<Row>): Journal<Row> {
  return new FileJournal(options)
}

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

class FileJournal<Row> implements Journal<Row> {
  readonly #options: FileJournalOptions<Row>
  readonly #files: JournalFile[]
  /** In the file that is written to. */
  #rows: Row[] = []
  /** In the other. */
  #leaving: readonly Row[] = []
  #lines = ''
  #turn: Row[] = []
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined
  #draining: Promise<void> | undefined

  constructor(options: FileJournalOptions<Row>) {
    this.#options = options
    try {
      this.#files = FILES.map((name) => new JournalFile(join(options.folder, name)))
      // Of a daemon that was killed.
      this.#leaving = this.#files.flatMap((file) => file.read() as Row[])
    } catch (cause) {
      throw notOpened(options.folder, cause)
    }
    if (this.#leaving.length > 0) this.#schedule()
    else for (const file of this.#files) file.clear()
  }

  write(row: Row): Promise<void> {
    if (this.#rows.length + this.#leaving.length >= MOST_KEPT) return Promise.reject(notWritten())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (this.#waiting.length === 0) setImmediate(() => this.#writeTurn())
    this.#lines += `${JSON.stringify(row)}\n`
    this.#turn.push(row)
    this.#waiting.push({ resolve, reject })
    return promise
  }

  #writeTurn(): void {
    const [lines, rows, waiting] = [this.#lines, this.#turn, this.#waiting]
    this.#lines = ''
    this.#turn = []
    this.#waiting = []
    try {
      this.#files[0]?.append(lines)
    } catch (cause) {
      for (const { reject } of waiting) reject(notWritten(cause))
      return
    }
    for (const row of rows) this.#rows.push(row)
    this.#schedule()
    for (const { resolve } of waiting) resolve()
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.drained().catch((error: unknown) => {
        this.#options.onFailure(error)
        this.#schedule()
      })
    }, DRAIN_AFTER_MS).unref()
  }

  async drained(): Promise<void> {
    // What a drain under way has not taken with it waits for the next.
    await this.#draining?.catch(() => undefined)
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined
    })
    await this.#draining
  }

  async #drain(): Promise<void> {
    await this.#storeLeaving()
    if (this.#rows.length === 0) return
    this.#leaving = this.#rows
    this.#rows = []
    this.#files.reverse()
    await this.#storeLeaving()
  }

  async #storeLeaving(): Promise<void> {
    if (this.#leaving.length === 0) return
    await this.#options.store(this.#leaving)
    this.#leaving = []
    this.#files[1]?.clear()
    // At the start rows of before may be in both.
    if (this.#rows.length === 0) this.#files[0]?.clear()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.drained().finally(() => {
      clearTimeout(this.#timer)
      for (const file of this.#files) file.close()
    })
  }
}

/** A link that somebody has put there is not followed. */
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW

class JournalFile {
  readonly #path: string
  readonly #descriptor: number
  #size = 0
  #syncing: NodeJS.Timeout | undefined

  constructor(path: string) {
    this.#path = path
    this.#descriptor = openSync(path, FLAGS, 0o600)
  }

  /** Rows that were written whole. A line that was cut off had not been answered for. */
  read(): readonly unknown[] {
    const text = readFileSync(this.#path, 'utf8')
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    this.#size = Buffer.byteLength(whole)
    if (whole !== text) this.#truncate(this.#size)
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => parsed(line))
  }

  append(lines: string): void {
    const bytes = Buffer.from(lines)
    try {
      const written = writeSync(this.#descriptor, bytes, 0, bytes.length, this.#size)
      if (written !== bytes.length) throw new Error('the disk is full')
    } catch (cause) {
      this.#truncate(this.#size)
      throw cause
    }
    this.#size += bytes.length
    this.#syncing ??= setTimeout(() => {
      this.#syncing = undefined
      fdatasync(this.#descriptor, () => undefined)
    }, SYNC_AFTER_MS).unref()
  }

  clear(): void {
    if (this.#size === 0) return
    this.#truncate(0)
    this.#size = 0
  }

  /** What cannot be cut off now is read again and left out, as it is in the log. */
  #truncate(size: number): void {
    try {
      ftruncateSync(this.#descriptor, size)
    } catch {}
  }

  close(): void {
    clearTimeout(this.#syncing)
    closeSync(this.#descriptor)
  }
}

function parsed(line: string): readonly unknown[] {
  try {
    return [JSON.parse(line)]
  } catch {
    return []
  }
}

function notOpened(folder: string, cause: unknown): BrokerError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new BrokerError('DaemonUnavailableError', `Cannot open the journal of releases in "${folder}": ${why}`, {
    hint: 'Nothing can leave the daemon without it. Is the disk full, or the folder not yours?',
    cause,
  })
}

function notWritten(cause?: unknown): BrokerError {
  return new BrokerError('DaemonUnavailableError', 'What leaves the daemon cannot be recorded now, so nothing does', {
    hint: 'Is the disk full? `broker doctor` looks at the store.',
    retryAfter: 5,
    ...(cause !== undefined && { cause }),
  })
}
