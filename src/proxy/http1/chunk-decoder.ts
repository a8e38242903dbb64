import type { Field } from '../messages/index.ts'
import { parseHeaderFields } from './header-fields.ts'

type State = 'size' | 'data' | 'data_end' | 'trailers' | 'done' | 'malformed'

const LF = 0x0a
const LINE_END = Buffer.from('\r\n')
const MAX_LINE = 8_192
const MAX_TRAILERS = 65_536
// At most eight digits: no chunk of more than 4 GiB.
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})(?:;[\t\x20-\x7e]*)?$/

/**
 * Takes the data out of chunks: those of `Transfer-Encoding: chunked` (RFC 9112 section 7.1), and those of `aws-chunked`,
 * which has the same form. What is written in a size line beside the size is dropped.
 */
export class ChunkDecoder {
  #state: State = 'size'
  #line = ''
  #left = 0
  #trailers = ''

  get done(): boolean {
    return this.#state === 'done'
  }

  get malformed(): boolean {
    return this.#state === 'malformed'
  }

  /** What stands behind the last chunk, once it is done; nothing where that is not well-formed. */
  get trailers(): readonly Field[] {
    const fields = parseHeaderFields(this.#trailers, 0) ?? []
    return fields.map(({ name, value }) => ({ name, value }))
  }

  /** Reads from `from` on and hands over the data; returns where the chunks' part of the bytes ends. */
  read(bytes: Buffer, from: number, onData: (data: Buffer) => void): number {
    let at = from
    while (at < bytes.length && this.#state !== 'done' && this.#state !== 'malformed') {
      at = this.#state === 'data' ? this.#readData(bytes, at, onData) : this.#readLine(bytes, at)
    }
    return at
  }

  #readData(bytes: Buffer, from: number, onData: (data: Buffer) => void): number {
    const end = Math.min(bytes.length, from + this.#left)
    this.#left -= end - from
    onData(bytes.subarray(from, end))
    if (this.#left === 0) this.#state = 'data_end'
    return end
  }

  #readLine(bytes: Buffer, from: number): number {
    const lf = bytes.indexOf(LF, from)
    const end = lf === -1 ? bytes.length : lf + 1
    this.#line += bytes.toString('latin1', from, end)
    if (this.#line.length > MAX_LINE || (lf !== -1 && !this.#line.endsWith(LINE_END.toString()))) {
      this.#state = 'malformed'
    } else if (lf !== -1) {
      const line = this.#line.slice(0, -LINE_END.length)
      this.#line = ''
      this.#state = this.#after(line)
    }
    return end
  }

  #after(line: string): State {
    if (this.#state === 'data_end') return line === '' ? 'size' : 'malformed'
    if (this.#state === 'trailers') {
      if (line === '') return 'done'
      this.#trailers += `${line}\r\n`
      return this.#trailers.length > MAX_TRAILERS ? 'malformed' : 'trailers'
    }
    const size = SIZE_LINE.exec(line)?.[1]
    if (size === undefined) return 'malformed'
    this.#left = Number.parseInt(size, 16)
    return this.#left === 0 ? 'trailers' : 'data'
  }
}
