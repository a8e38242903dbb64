import { type Field, isHopByHop, type ResponseHead } from '../messages/index.ts'
import { connectionTokens, declaredFraming, lineOf, Malformed, NO_BODY, parseHeaderFields } from './header-fields.ts'

/** The head of an answer that was read by HTTP/1.1. */
export interface Http1ResponseHead extends ResponseHead {
  /** Whether the upstream connection may carry another request after this answer. */
  readonly reusable: boolean
}

export const STATUS_LINE = {
  beginning: 'HTTP/1.',
  grammar: /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/,
} as const

/**
 * Reads an answer's head (latin1, with its empty line). `method` is the request's: an answer to HEAD has no body.
 * @param exact its bytes, to be passed on as they are
 */
export function parseResponseHead(text: string, method: string, exact?: Buffer): Http1ResponseHead | Malformed {
  const line = STATUS_LINE.grammar.exec(text)
  if (line === null) return new Malformed('status_line')
  const fields = parseHeaderFields(text.slice(0, -2), line[0].length)
  if (fields === undefined) return new Malformed('header_line')
  const declared = declaredFraming(fields)
  if (declared instanceof Malformed) return declared
  const status = Number(line[2])
  const framing = hasNoBody(status, method) ? NO_BODY : (declared ?? { kind: 'until_close' })
  const connection = connectionTokens(fields)
  const version = line[1] === '0' ? '1.0' : '1.1'
  const reusable = version === '1.1' && framing.kind !== 'until_close' && !connection.includes('close')
  return { version, status, statusLine: line[0], fields, framing, connection, reusable, ...(exact && { exact }) }
}

function hasNoBody(status: number, method: string): boolean {
  return method === 'HEAD' || status < 200 || status === 204 || status === 304
}

/** The head for the child as HTTP/1.1 writes it: its own bytes, or the text (latin1) that takes their place. */
export function writtenHead(head: ResponseHead, child: 'keep' | 'close'): Buffer | string {
  return rewriteResponseHead(head, child) ?? head.exact ?? ''
}

/**
 * The head for the child: everything as it came, less what concerns the upstream leg and less `Alt-Svc`, which would
 * lead the child around the proxy. Undefined where nothing has to change, so that its bytes pass as they are.
 */
export function rewriteResponseHead(head: ResponseHead, child: 'keep' | 'close'): string | undefined {
  const switching = head.status === 101
  const kept = head.fields.filter((field) => switching || !isDropped(field, head.connection))
  if (kept.length === head.fields.length && child === 'keep' && head.statusLine !== undefined) return undefined
  const close = child === 'close' ? 'Connection: close\r\n' : ''
  return `${head.statusLine ?? `HTTP/1.1 ${head.status} \r\n`}${kept.map(lineOf).join('')}${close}\r\n`
}

const FRAMING = new Set(['content-length', 'transfer-encoding'])

function isDropped({ name }: Field, connection: readonly string[]): boolean {
  // `X-Broker-Error` marks the proxy's own answers: a service cannot pass for it.
  if (name === 'alt-svc' || isHopByHop(name) || name.startsWith('x-broker-')) return true
  return connection.length > 0 && connection.includes(name) && !FRAMING.has(name)
}
