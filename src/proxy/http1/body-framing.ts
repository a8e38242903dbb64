import { type BodyFraming, isBodiless, isForbiddenTrailer } from '../messages/index.ts'
import { GatheredBytes } from './gathered-bytes.ts'
import { cannotBecomeHead, findHeadEnd, type HeaderField, MAX_HEAD_BYTES, parseHeaderFields } from './header-fields.ts'

type State = 'data' | 'size' | 'data_end' | 'trailers' | 'held_trailers'

const CR = 0x0d
const LF = 0x0a
const MAX_SIZE_LINE = 1024

/** Reads the body of a message, whatever of it goes on. Its members are those of {@link BodyFramer}. */
export interface BodyReader {
  readonly passEnd: number
  readonly replacement: Buffer | undefined
  readonly done: boolean
  readonly malformed: boolean
  read(bytes: Buffer, from: number): number
}

/**
 * Counts a body through to its end without decoding it. Each {@link read} takes a buffer and tells how far the body
 * goes in it; the same bytes give the same result however they are split.
 */
export class BodyFramer implements BodyReader {
  /** After a read: the bytes up to here pass as they are. */
  passEnd = 0
  /** After a read: what to send behind those, in place of bytes that do not pass as they are. */
  replacement: Buffer | undefined
  /** Set once the body has ended; the next byte belongs to the next message. */
  done: boolean
  /** Set once the body broke the grammar; nothing more may be read. */
  malformed = false

  readonly #untilClose: boolean
  readonly #chunked: boolean
  readonly #credentialNames: ReadonlySet<string>
  #state: State
  #left = 0
  #sizeLine = ''
  /** Where extensions lie in the bytes that are read: from, to, from, to. */
  #extensions: number[] = []
  #held: GatheredBytes | undefined

  constructor(framing: BodyFraming, credentialNames: ReadonlySet<string>) {
    this.#untilClose = framing.kind === 'until_close'
    this.#chunked = framing.kind === 'chunked'
    this.#credentialNames = credentialNames
    this.#state = this.#chunked ? 'size' : 'data'
    if (framing.kind === 'length') this.#left = framing.length
    this.done = isBodiless(framing)
  }

  /** Reads `bytes` from `from` on; returns where the body's part of them ends. */
  read(bytes: Buffer, from: number): number {
    this.replacement = undefined
    this.passEnd = from
    if (this.done || this.malformed) return from
    if (this.#untilClose) return this.#pass(bytes.length)
    if (!this.#chunked) return this.#readLength(bytes, from)
    const end = this.#readChunks(bytes, from)
    if (this.#extensions.length > 0) this.#leaveExtensionsOut(bytes, from)
    return end
  }

  /** The other side closed: the end of a body that is delimited by it, and the loss of any other. */
  close(): void {
    if (this.#untilClose) this.done = true
  }

  #pass(end: number): number {
    this.passEnd = end
    return end
  }

  #readLength(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#left)
    this.#left -= end - from
    this.done = this.#left === 0
    return this.#pass(end)
  }

  #readChunks(bytes: Buffer, from: number): number {
    let at = from
    while (at < bytes.length && !this.done && !this.malformed) {
      if (this.#state === 'trailers') {
        if (bytes[at] === CR && bytes[at + 1] === LF) {
          this.done = true
          return this.#pass(at + 2)
        }
        // From here on nothing passes before the whole section was seen.
        this.#pass(at)
        this.#state = 'held_trailers'
      }
      if (this.#state === 'held_trailers') return this.#readTrailers(bytes, at)
      at = this.#readChunkPart(bytes, at)
    }
    return this.malformed ? at : this.#pass(at)
  }

  #readChunkPart(bytes: Buffer, at: number): number {
    if (this.#state === 'size') return this.#readSizeLine(bytes, at)
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    if (this.#state === 'data') {
      if (this.#left === 0) this.#expectDataEnd()
      return end
    }
    return this.#readDataEnd(bytes, at, end)
  }

  #expectDataEnd(): void {
    this.#state = 'data_end'
    this.#left = 2
  }

  #readDataEnd(bytes: Buffer, from: number, end: number): number {
    for (let at = from; at < end; at += 1) {
      const expected = this.#left + (end - at) === 2 ? CR : LF
      if (bytes[at] !== expected) this.malformed = true
    }
    if (this.#left === 0) this.#state = 'size'
    return end
  }

  #readSizeLine(bytes: Buffer, from: number): number {
    const lf = bytes.indexOf(LF, from)
    const end = lf === -1 ? bytes.length : lf + 1
    const lineAt = from - this.#sizeLine.length
    this.#sizeLine += bytes.toString('latin1', from, end)
    this.#noteExtension(lineAt, from, end)
    if (this.#sizeLine.length > MAX_SIZE_LINE) this.malformed = true
    if (lf === -1) {
      if (!PARTIAL_SIZE_LINE.test(this.#sizeLine)) this.malformed = true
      return end
    }
    const size = SIZE_LINE.exec(this.#sizeLine)?.[1]
    this.#sizeLine = ''
    if (size === undefined) this.malformed = true
    else this.#beginChunk(Number.parseInt(size, 16))
    return end
  }

  /** @param lineAt where the size line would begin if all of it were in the bytes that lie from `from` to `end` */
  #noteExtension(lineAt: number, from: number, end: number): void {
    const semicolon = this.#sizeLine.indexOf(';')
    if (semicolon === -1) return
    const cr = this.#sizeLine.indexOf('\r', semicolon)
    const last = cr === -1 ? end : lineAt + cr
    const first = Math.max(from, lineAt + semicolon)
    if (first < last) this.#extensions.push(first, last)
  }

  /** An extension concerns one leg only, and few servers read it alike (RFC 9112 section 7.1.1). */
  #leaveExtensionsOut(bytes: Buffer, from: number): void {
    const edges = [from, ...this.#extensions, this.passEnd]
    this.#extensions = []
    if (this.malformed) return
    const parts = edges.flatMap((edge, index) => (index % 2 === 0 ? [bytes.subarray(edge, edges[index + 1])] : []))
    this.replacement = Buffer.concat(this.replacement === undefined ? parts : [...parts, this.replacement])
    this.passEnd = from
  }

  #beginChunk(size: number): void {
    this.#left = size
    this.#state = size === 0 ? 'trailers' : 'data'
  }

  #readTrailers(bytes: Buffer, from: number): number {
    this.#held ??= new GatheredBytes()
    const before = this.#held.bytes.length
    this.#held.append(bytes.subarray(from, from + MAX_HEAD_BYTES + 4))
    const held = this.#held.bytes
    const end = trailersEnd(held, before)
    if (end === -1) {
      this.malformed = held.length > MAX_HEAD_BYTES || cannotBecomeHead(held, before)
      return bytes.length
    }
    this.#finish(held.toString('latin1', 0, end - 2))
    return from + end - before
  }

  #finish(section: string): void {
    const fields = parseHeaderFields(section, 0)
    if (fields === undefined) {
      this.malformed = true
      return
    }
    const allowed = (field: HeaderField) => !isForbiddenTrailer(field.name, this.#credentialNames)
    const lines = fields.filter(allowed).map(({ line }) => line)
    this.replacement = Buffer.from(`${lines.join('')}\r\n`, 'latin1')
    this.done = true
  }
}

function trailersEnd(held: Buffer, searchFrom: number): number {
  return held[0] === CR && held[1] === LF ? 2 : findHeadEnd(held, searchFrom)
}

// At most eight digits: no chunk of more than 4 GiB. An extension is printable, and goes no further.
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n$/
const PARTIAL_SIZE_LINE = /^(?:[0-9A-Fa-f]{0,8}|[0-9A-Fa-f]{1,8};[\t\x20-\x7e\x80-\xff]*)\r?$/
