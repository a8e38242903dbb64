import type { Writable } from 'node:stream'
import picocolors from 'picocolors'
import { BrokerError, type ErrorName, exitCodeOf } from '../protocol/index.ts'
import { printable, printableJson } from './printable.ts'
import { type Narrowing, tableLines } from './table.ts'

export interface OutputOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly color: boolean
  readonly stdout: Writable
  readonly stderr: Writable
  /** Cells in a row of the terminal that standard output is; undefined for a pipe or file, to which everything goes whole. */
  readonly columns?: number
}

/** A line of a structured log, for people. */
export interface LogEntry {
  /** Empty where it is not known. */
  readonly time: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  /** `name=value` each. */
  readonly fields: readonly string[]
}

type Colors = ReturnType<typeof picocolors.createColors>
type Cell = string | undefined

/**
 * The data go to standard output, everything said about them to standard error. Every string that comes from elsewhere
 * is made printable here, so that no command has to remember it.
 */
export class Output {
  readonly json: boolean
  /** Whether somebody reads standard output, and no program. */
  readonly isTerminal: boolean
  readonly #quiet: boolean
  readonly #colors: Colors
  readonly #stdout: Writable
  readonly #stderr: Writable
  readonly #columns: number
  readonly #told = new Set<string>()

  constructor({ json, quiet, color, stdout, stderr, columns }: OutputOptions) {
    this.json = json
    this.#quiet = quiet
    this.#colors = picocolors.createColors(color)
    this.#stdout = stdout
    this.#stderr = stderr
    this.isTerminal = columns !== undefined
    this.#columns = columns || Number.POSITIVE_INFINITY
  }

  /** The one document of `--json`, or what `people` prints. */
  result(document: unknown, people: () => void): void {
    if (this.json) this.document(document)
    else people()
  }

  document(value: unknown): void {
    this.#stdout.write(`${printableJson(value)}\n`)
  }

  /** One line of data. */
  line(text: string): void {
    this.#stdout.write(`${printable(text)}\n`)
  }

  /** One entry of a log. */
  logLine({ time, level, message, fields }: LogEntry): void {
    const colored = {
      debug: this.#colors.dim,
      info: this.#colors.cyan,
      warn: this.#colors.yellow,
      error: this.#colors.red,
    }
    const parts = [
      time && this.#colors.dim(time),
      colored[level](level.padEnd(5)),
      printable(message),
      ...fields.map((field) => this.#colors.dim(printable(field))),
    ]
    this.#stdout.write(`${parts.filter((part) => part !== '').join(' ')}\n`)
  }

  /** Text of our own, as it is. */
  text(text: string): void {
    this.#stdout.write(text)
  }

  /** Rows under a header; a missing cell shows as a dash. */
  table(header: readonly string[], rows: readonly (readonly Cell[])[], narrowing: Narrowing = {}): void {
    const cells = rows.map((row) => row.map((cell) => (cell === undefined || cell === '' ? '-' : printable(cell))))
    for (const { text, kind } of tableLines(header, cells, { ...narrowing, columns: this.#columns })) {
      this.#stdout.write(`${kind === 'row' ? this.#colored(text) : this.#colors.dim(text)}\n`)
    }
  }

  /** Names and values, one a line; what is undefined is left out. */
  facts(facts: readonly (readonly [string, Cell])[]): void {
    const known = facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, printable(value)] as const]))
    const longest = Math.max(...known.map(([name]) => name.length))
    for (const [name, value] of known) {
      this.#stdout.write(`${this.#colors.dim(name.padEnd(longest))}  ${this.#colored(value)}\n`)
    }
  }

  /** What happened; left out with `--quiet` and `--json`. */
  note(text: string): void {
    if (!this.#quiet && !this.json) this.#stderr.write(`${printable(text)}\n`)
  }

  /** That something was done; left out with `--quiet` and `--json`. */
  done(text: string): void {
    if (!this.#quiet && !this.json) this.#stderr.write(`${this.#colors.green('✓')} ${printable(text)}\n`)
  }

  /** The same, once for a command. */
  noticeOnce(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.notice(text)
  }

  /** What the user has to know or do; never left out. */
  notice(text: string): void {
    this.#stderr.write(`${printable(text)}\n`)
  }

  /** What the user has to go through with, each thing with its name before it; never left out. */
  todo(...things: readonly (readonly [string, string])[]): void {
    for (const [name, value] of things) {
      if (isUrl(value)) this.address(name, value)
      else this.#stderr.write(`${name} ${this.#colors.bold(printable(value))}\n`)
    }
  }

  /** An address to open or copy: whole, and alone on its line. */
  address(name: string, url: string): void {
    this.#stderr.write(`${name}\n${this.#colors.bold(printable(url))}\n`)
  }

  warn(text: string): void {
    this.#stderr.write(`${this.#colors.yellow('warning:')} ${printable(text)}\n`)
  }

  /** Tells why the command failed and gives its exit code. */
  fail(error: unknown): number {
    const failure = error instanceof BrokerError ? error : unexpected(error)
    if (this.json) this.document(failureDocument(failure))
    else this.#explain(failure)
    return exitCodeOf[failure.name]
  }

  #explain({ message, options: { hint, details, claimUrl, claimCode } }: BrokerError): void {
    this.#stderr.write(`${this.#colors.red('error:')} ${printable(message)}\n`)
    // What the message or the hint tells already is not told again.
    const told = `${message} ${hint}`
    for (const { path, message: rule } of (details ?? []).filter((detail) => !told.includes(detail.message))) {
      this.#stderr.write(`  ${this.#colors.bold(printable(path))} ${printable(rule)}\n`)
    }
    if (claimUrl) this.address('Open this in a browser, signed in:', claimUrl)
    if (claimCode) this.todo(['The page must show this code:', claimCode])
    if (hint) this.#stderr.write(`${this.#colors.dim('hint:')} ${printable(hint)}\n`)
  }

  #colored(text: string): string {
    return text
      .replace(/(?<![\w-])(ok|connected|success|running|ready)(?![\w-])/g, (word) => this.#colors.green(word))
      .replace(/(?<![\w-])(failed|failure|denied|expired|needs_login|needs_approval|stopped)(?![\w-])/g, (word) =>
        this.#colors.red(word),
      )
  }
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text)
}

function unexpected(error: unknown): BrokerError {
  const message = error instanceof Error ? error.message : String(error)
  return new BrokerError('InternalError', `Something unexpected happened: ${message}`, {
    cause: error,
    hint: 'Run it again with --verbose; `broker log --raw` shows what led to it.',
  })
}

interface FailureDocument {
  readonly error: ErrorName
  readonly message: string
}

/** Returns what `--json` prints of a failure: the members of the API's error answer, without its request id. */
export function failureDocument({ name, message, options }: BrokerError): FailureDocument {
  const { hint, provider, connection, details, claimUrl, claimCode } = options
  return {
    error: name,
    message,
    ...(provider && { provider }),
    ...(connection && { connection }),
    ...(hint && { hint }),
    ...(details && { details }),
    ...(claimUrl && { claim_url: claimUrl }),
    ...(claimCode && { claim_code: claimCode }),
  }
}
