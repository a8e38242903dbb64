import type { RequestHead } from '../messages/index.ts'
import {
  connectionTokens,
  declaredFraming,
  type HeaderField,
  Malformed,
  NO_BODY,
  parseHeaderFields,
} from './header-fields.ts'

/** The head of a request that was read by HTTP/1.1. */
export interface Http1RequestHead extends RequestHead {
  readonly fields: readonly HeaderField[]
  /** Whether the child wants its connection kept after the answer. */
  readonly keepAlive: boolean
}

// A method longer than 32 is none that the daemon would be asked about. `#` has no place in a target; bytes above ASCII pass as they came.
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21\x22\x24-\x7e\x80-\xff]+) HTTP\/1\.([01])\r\n/

/** Reads a request head (latin1, with its empty line) by one strict grammar; what does not fit is {@link Malformed}. */
export function parseRequestHead(text: string): Http1RequestHead | Malformed {
  const line = REQUEST_LINE.exec(text)
  if (line?.[1] === undefined || line[2] === undefined) return new Malformed('request_line')
  const fields = parseHeaderFields(text.slice(0, -2), line[0].length)
  if (fields === undefined) return new Malformed('header_line')
  const hosts = fields.filter(({ name }) => name === 'host')
  // Python's http.client sends CONNECT without Host.
  if (hosts.length > 1 || (hosts.length === 0 && line[1] !== 'CONNECT')) return new Malformed('host')
  const framing = declaredFraming(fields)
  if (framing instanceof Malformed) return framing
  const version = line[3] === '0' ? '1.0' : '1.1'
  if (framing?.kind === 'chunked' && version === '1.0') return new Malformed('transfer_encoding')
  const connection = connectionTokens(fields)
  return {
    method: line[1],
    target: line[2],
    version,
    host: hosts[0]?.value ?? '',
    fields,
    framing: framing ?? NO_BODY,
    connection,
    keepAlive: version === '1.1' && !connection.includes('close'),
    upgrade: version === '1.1' && connection.includes('upgrade') && asksForOtherProtocol(fields),
  }
}

// `h2c` and its like would lead further requests past the reader of this one.
function asksForOtherProtocol(fields: readonly HeaderField[]): boolean {
  const upgrade = fields.filter(({ name }) => name === 'upgrade')
  return upgrade.length === 1 && upgrade.every(({ value }) => !/(^|[\s,])(h2|http)/i.test(value))
}
