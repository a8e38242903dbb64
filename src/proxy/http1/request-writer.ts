import { type Field, isHopByHop, type OutgoingRequest, type RequestHead } from '../messages/index.ts'
import { lineOf } from './header-fields.ts'

/** The head of a request as it goes upstream (latin1, with its empty line): as it came, without what concerns the child's leg. */
export function requestText({ head, target, fields, injected }: OutgoingRequest): string {
  let lines = ''
  for (const field of head.fields[0]?.line === undefined ? withOneCookie(fields) : fields) {
    if (!isDropped(field, head) || injected.has(field.name.replaceAll('_', '-'))) lines += outgoingLine(field, head)
  }
  const last = head.framing.kind === 'until_close' ? 'Transfer-Encoding: chunked\r\n' : closing(head)
  return `${head.method} ${target} HTTP/${head.version}\r\n${lines}${last}\r\n`
}

const CONNECTION_CANNOT_NAME = new Set(['host', 'content-length', 'transfer-encoding', 'expect', 'upgrade'])

function isDropped({ name }: Field, head: RequestHead): boolean {
  // A length of nothing that trailers follow, which HTTP/1.1 has in chunks alone.
  if (name === 'content-length' && head.framing.kind === 'until_close') return true
  if (name === 'connection' || name === 'upgrade') return !head.upgrade
  if (isHopByHop(name) || name.startsWith('x-broker-')) return true
  return head.connection.length > 0 && head.connection.includes(name) && !CONNECTION_CANNOT_NAME.has(name)
}

function outgoingLine(field: Field, head: RequestHead): string {
  return field.name === 'connection' && head.upgrade ? 'Connection: Upgrade\r\n' : lineOf(field)
}

// An HTTP/1.0 request gets one connection of its own, as its answer may be delimited by the close.
function closing(head: RequestHead): string {
  return head.version === '1.0' ? 'Connection: close\r\n' : ''
}

/** HTTP/2 may have a field for each pair, HTTP/1.1 has one for all of them (RFC 9113 section 8.2.3). */
function withOneCookie(fields: readonly Field[]): readonly Field[] {
  const crumbs = fields.filter(({ name }) => name === 'cookie')
  const [first] = crumbs
  if (first === undefined || crumbs.length === 1) return fields
  const whole = { ...first, value: crumbs.map(({ value }) => value).join('; ') }
  return fields.flatMap((field) => (field === first ? [whole] : field.name === 'cookie' ? [] : [field]))
}
