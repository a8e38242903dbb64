import { withoutOptionalSpace } from '../../protocol/index.ts'
import { type BodyFraming, type Field, isUnderscored } from '../messages/index.ts'

/** A field as it came in HTTP/1.1. */
export interface HeaderField extends Field {
  readonly line: string
}

/** The line of a field: its own, or one that is made of it. */
export function lineOf({ line, spelled, name, value }: Field): string {
  return line ?? `${spelled ?? name}: ${value}\r\n`
}

/** A head that a strict reader refuses. `reason` is a fixed word and repeats nothing of the input. */
export class Malformed {
  readonly status: 400 | 405 | 431
  readonly reason: string

  constructor(reason: string, status: 400 | 405 | 431 = 400) {
    this.reason = reason
    this.status = status
  }
}

export const MAX_HEAD_BYTES = 65_536

const HEAD_END = Buffer.from('\r\n\r\n')

// Optional white space around the value is left to the reader of the value: the line passes as it came.
const FIELD_LINE = /([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)\r\n/y

/** Reads the lines of a head or trailer section (RFC 9112 section 5), or undefined where one breaks the grammar. */
export function parseHeaderFields(text: string, from: number): HeaderField[] | undefined {
  const fields: HeaderField[] = []
  let at = from
  while (at < text.length) {
    FIELD_LINE.lastIndex = at
    const match = FIELD_LINE.exec(text)
    if (match?.[1] === undefined || match[2] === undefined) return undefined
    fields.push({ name: match[1].toLowerCase(), value: withoutOptionalSpace(match[2]), line: match[0] })
    at = FIELD_LINE.lastIndex
  }
  return fields
}

/**
 * Bytes that no rest could complete to a head of ours: a bare CR, a bare LF or a NUL. Tells what to refuse at once.
 * @param from where those begin that were not asked about before
 */
export function cannotBecomeHead(bytes: Buffer, from = 0): boolean {
  if (bytes.includes(0, from)) return true
  for (let at = bytes.indexOf(0x0a, from); at !== -1; at = bytes.indexOf(0x0a, at + 1)) {
    if (at === 0 || bytes[at - 1] !== 0x0d) return true
  }
  for (let at = bytes.indexOf(0x0d, Math.max(0, from - 1)); at !== -1; at = bytes.indexOf(0x0d, at + 1)) {
    if (at + 1 < bytes.length && bytes[at + 1] !== 0x0a) return true
  }
  return false
}

/** Where the head at the start of `bytes` ends, its empty line included; -1 while it is not complete. */
export function findHeadEnd(bytes: Buffer, searchFrom: number): number {
  const at = bytes.indexOf(HEAD_END, Math.max(0, searchFrom - 3))
  return at === -1 ? -1 : at + 4
}

export const NO_BODY: BodyFraming = { kind: 'none' }
const CHUNKED: BodyFraming = { kind: 'chunked' }

/** The framing that the fields declare (RFC 9112 section 6), undefined where they declare none. One Content-Length or one `chunked`, never both. */
export function declaredFraming(fields: readonly Field[]): BodyFraming | undefined | Malformed {
  let framing: BodyFraming | undefined
  for (const field of fields) {
    if (field.name === 'content-length') {
      if (framing !== undefined || !/^[0-9]{1,15}$/.test(field.value)) return new Malformed('content_length')
      framing = { kind: 'length', length: Number(field.value) }
    } else if (field.name === 'transfer-encoding') {
      if (framing !== undefined || field.value.toLowerCase() !== 'chunked') return new Malformed('transfer_encoding')
      framing = CHUNKED
    } else if (isUnderscored(field.name)) {
      // CGI-like servers read both spellings as one name.
      return new Malformed('underscored_framing_header')
    }
  }
  return framing
}

/** The lower-case tokens of every `Connection` field. */
export function connectionTokens(fields: readonly Field[]): readonly string[] {
  let tokens: string[] = []
  for (const field of fields) {
    if (field.name !== 'connection') continue
    const listed = field.value.toLowerCase().split(',')
    tokens = tokens.concat(listed.map(withoutOptionalSpace))
  }
  return tokens
}
