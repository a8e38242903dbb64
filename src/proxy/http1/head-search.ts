import { cannotBecomeHead, findHeadEnd, MAX_HEAD_BYTES, Malformed, parseHeaderFields } from './header-fields.ts'

const LF = 0x0a

/** The first line of a head, for one that is to be refused at the first line that breaks the grammar. */
export interface FirstLine {
  readonly beginning: string
  readonly grammar: RegExp
}

/** Looks for the end of a head in bytes that come piece by piece: each of them is looked at a bounded number of times. */
export class HeadSearch {
  readonly #firstLine: FirstLine | undefined
  #searched = 0
  #lineAt = 0

  constructor(firstLine?: FirstLine) {
    this.#firstLine = firstLine
  }

  /**
   * Where the head ends that `bytes` begin with, its empty line included; undefined while it may still come, with `bytes` and more.
   * After any other answer the next search begins anew.
   */
  find(bytes: Buffer): number | Malformed | undefined {
    const end = findHeadEnd(bytes, this.#searched)
    const found = end === -1 ? this.#problemOf(bytes) : end > MAX_HEAD_BYTES ? TOO_LARGE : end
    this.#searched = found === undefined ? bytes.length : 0
    if (found !== undefined) this.#lineAt = 0
    return found
  }

  #problemOf(bytes: Buffer): Malformed | undefined {
    if (bytes.length > MAX_HEAD_BYTES) return TOO_LARGE
    if (cannotBecomeHead(bytes, this.#searched)) return new Malformed('line_ending')
    return this.#firstLine && this.#brokenLine(bytes, this.#firstLine)
  }

  #brokenLine(bytes: Buffer, { beginning, grammar }: FirstLine): Malformed | undefined {
    for (let lf = bytes.indexOf(LF, this.#searched); lf !== -1; lf = bytes.indexOf(LF, lf + 1)) {
      const line = bytes.toString('latin1', this.#lineAt, lf + 1)
      if (this.#lineAt === 0 ? !grammar.test(line) : parseHeaderFields(line, 0) === undefined) return BROKEN_LINE
      this.#lineAt = lf + 1
    }
    const begun = bytes.toString('latin1', 0, Math.min(beginning.length, bytes.length))
    return beginning.startsWith(begun) ? undefined : BROKEN_LINE
  }
}

const TOO_LARGE = new Malformed('head_too_large', 431)
const BROKEN_LINE = new Malformed('line')
