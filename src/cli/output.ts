import type { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import picocolors from 'picocolors'
import { BrokerError, type ErrorName, exitCodeOf } from '../protocol/index.ts'
import { printable, printableJson } from './printable.ts'

export interface OutputOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly color: boolean
  readonly stdout: Writable
  readonly stderr: Writable
}

type Colors = ReturnType<typeof picocolors.createColors>
type Cell = string | undefined

/**
 * The data go to standard output, everything said about them to standard error. Every string that comes from elsewhere
 * is made printable here, so that no command has to remember it.
 */
export class Output {
  readonly json: boolean
  readonly #quiet: boolean
  readonly #colors: Colors
  readonly #stdout: Writable
  readonly #stderr: Writable
  readonly #told = new Set<string>()

  constructor({ json, quiet, color, stdout, stderr }: OutputOptions) {
    this.json = json
    this.#quiet = quiet
    this.#colors = picocolors.createColors(color)
    this.#stdout = stdout
    this.#stderr = stderr
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

  /** Text of our own, as it is. */
  text(text: string): void {
    this.#stdout.write(text)
  }

  /** Rows under a header; a missing cell shows as a dash. */
  table(header: readonly string[], rows: readonly (readonly Cell[])[]): void {
    const cells = rows.map((row) => row.map((cell) => (cell === undefined || cell === '' ? '-' : printable(cell))))
    const widths = header.map((title, column) =>
      Math.max(title.length, ...cells.map((row) => width(row[column] ?? ''))),
    )
    const line = (row: readonly string[]) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
        .join('  ')
        .trimEnd()
    this.#stdout.write(`${this.#colors.dim(line(header))}\n`)
    for (const row of cells) this.#stdout.write(`${this.#colored(line(row))}\n`)
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

  /** What the user has to go through with, one thing a line with its name before it; never left out. */
  todo(...things: readonly (readonly [string, string])[]): void {
    const longest = Math.max(...things.map(([name]) => name.length))
    for (const [name, value] of things) {
      this.#stderr.write(`${name.padEnd(longest)} ${this.#colors.bold(printable(value))}\n`)
    }
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

  #explain({ message, options: { hint, details, claimUrl } }: BrokerError): void {
    this.#stderr.write(`${this.#colors.red('error:')} ${printable(message)}\n`)
    // What the message or the hint tells already is not told again.
    const told = `${message} ${hint}`
    for (const { path, message: rule } of (details ?? []).filter((detail) => !told.includes(detail.message))) {
      this.#stderr.write(`  ${this.#colors.bold(printable(path))} ${printable(rule)}\n`)
    }
    if (claimUrl) this.#stderr.write(`  ${printable(claimUrl)}\n`)
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

/** What `--json` prints of a failure: the members of the API's error answer, without its request id. */
export function failureDocument({ name, message, options }: BrokerError): FailureDocument {
  const { hint, provider, connection, details, claimUrl } = options
  return {
    error: name,
    message,
    ...(provider && { provider }),
    ...(connection && { connection }),
    ...(hint && { hint }),
    ...(details && { details }),
    ...(claimUrl && { claim_url: claimUrl }),
  }
}

function width(text: string): number {
  return stripVTControlCharacters(text).length
}
