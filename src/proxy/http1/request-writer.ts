import type { Field, OutgoingRequest, RequestHead } from '../messages/index.ts'
import { isHopByHop, lineOf } from './header-fields.ts'

/** The head of a request as it goes upstream (latin1, with its empty line): as it came, without what concerns the child's leg. */
export function requestText({ head, target, fields, injected }: OutgoingRequest): string {
  let lines = ''
  for (const field of fields) {
    if (!isDropped(field, head) || injected.has(field.name.replaceAll('_', '-'))) lines += outgoingLine(field, head)
  }
  return `${head.method} ${target} HTTP/${head.version}\r\n${lines}${closing(head)}\r\n`
}

const CONNECTION_CANNOT_NAME = new Set(['host', 'content-length', 'transfer-encoding', 'expect', 'upgrade'])

function isDropped({ name }: Field, head: RequestHead): boolean {
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
