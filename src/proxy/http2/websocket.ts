import { createHash } from 'node:crypto'
import type { Field } from '../messages/index.ts'

/** Fields that a WebSocket has in HTTP/1.1 alone (RFC 8441 section 5). */
const OF_HTTP1 = new Set(['connection', 'upgrade', 'sec-websocket-key', 'sec-websocket-accept'])

/** The fields of an upgrade as an extended CONNECT has them, and those of its answer. */
export function withoutUpgrade(fields: readonly Field[]): readonly Field[] {
  return fields.filter(({ name }) => !OF_HTTP1.has(name))
}

/** The fields of an answer to an extended CONNECT as those of a 101. @param asked the fields of the request */
export function withUpgrade(fields: readonly Field[], asked: readonly Field[]): readonly Field[] {
  const protocol = fieldValue(asked, 'upgrade') ?? ''
  const key = fieldValue(asked, 'sec-websocket-key')
  const accept = key === undefined ? [] : [field('Sec-WebSocket-Accept', acceptOf(key))]
  return [field('Connection', 'Upgrade'), field('Upgrade', protocol), ...accept, ...withoutUpgrade(fields)]
}

/** Tells whether a 101 answers just this request (RFC 6455 section 4.2.2). */
export function isAccepted(answer: readonly Field[], asked: readonly Field[]): boolean {
  return fieldValue(answer, 'sec-websocket-accept') === acceptOf(fieldValue(asked, 'sec-websocket-key') ?? '')
}

export function fieldValue(fields: readonly Field[], wanted: string): string | undefined {
  return fields.find(({ name }) => name === wanted)?.value
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

function field(spelled: string, value: string): Field {
  return { name: spelled.toLowerCase(), value, spelled }
}
