import { randomBytes } from 'node:crypto'
import type { BodyFraming, Field, RequestHead } from '../messages/index.ts'
import type { Section } from './fields.ts'

/** The bounds of HTTP/1.1: what it cannot say is no request. */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/
const TARGET = /^[\x21\x22\x24-\x7e\x80-\xff]+$/

interface Arrival {
  /** Of the connection: what `:scheme` has to be. */
  readonly scheme: 'http' | 'https'
  /** Whether its head was the last frame of the request. */
  readonly hasEnded: boolean
}

/** Reads the head of a request of the child; a fixed word where it is none. */
export function requestHeadOf({ pseudo, fields }: Section, { scheme, hasEnded }: Arrival): RequestHead | string {
  const protocol = pseudo.get(':protocol')
  const method = pseudo.get(':method') ?? ''
  const isPlainConnect = method === 'CONNECT' && protocol === undefined
  const authority = pseudo.get(':authority')
  const hosts = fields.filter(({ name }) => name === 'host')
  const host = authority ?? hosts[0]?.value ?? ''
  const target = isPlainConnect ? host : (pseudo.get(':path') ?? '')
  if (!METHOD.test(method)) return 'method'
  if (!TARGET.test(target)) return 'target'
  if (hosts.length > 1) return 'host'
  if (!isPlainConnect && pseudo.get(':scheme')?.toLowerCase() !== scheme) return 'scheme'
  const framing = hasEnded ? NO_BODY : declaredFraming(fields)
  if (typeof framing === 'string') return framing
  const others = fields.filter(({ name }) => name !== 'host')
  const common = { target, version: '1.1', host, connection: [], upgrade: false } as const
  const own = { ...common, ...(disagree(hosts[0], authority) && { namesTwoHosts: true as const }) }
  if (protocol !== undefined) return extendedConnect(own, others, method, protocol)
  return { ...own, method, framing, fields: [hostField(host), ...others] }
}

const NO_BODY: BodyFraming = { kind: 'none' }
const OPEN_ENDED: BodyFraming = { kind: 'until_close' }

/** A length of nothing with a body to come may still bring trailers. */
export function declaredFraming(fields: readonly Field[]): BodyFraming | string {
  const lengths = fields.filter(({ name }) => name === 'content-length')
  const [length] = lengths
  if (length === undefined) return OPEN_ENDED
  if (lengths.length > 1 || !/^[0-9]{1,15}$/.test(length.value)) return 'content_length'
  return Number(length.value) === 0 ? OPEN_ENDED : { kind: 'length', length: Number(length.value) }
}

function disagree(host: Field | undefined, authority: string | undefined): boolean {
  return host !== undefined && authority !== undefined && host.value.toLowerCase() !== authority.toLowerCase()
}

function hostField(value: string): Field {
  return { name: 'host', value, spelled: 'Host' }
}

/** A WebSocket (RFC 8441), as HTTP/1.1 asks for it: the nonce, which HTTP/2 has none of, is made here. */
function extendedConnect(
  head: Pick<RequestHead, 'target' | 'version' | 'host' | 'namesTwoHosts'>,
  fields: readonly Field[],
  method: string,
  protocol: string,
): RequestHead | string {
  if (method !== 'CONNECT' || protocol !== 'websocket') return 'protocol'
  const asked: readonly Field[] = [
    { name: 'connection', value: 'Upgrade', spelled: 'Connection' },
    { name: 'upgrade', value: 'websocket', spelled: 'Upgrade' },
    { name: 'sec-websocket-key', value: randomBytes(16).toString('base64'), spelled: 'Sec-WebSocket-Key' },
  ]
  const own = fields.filter(({ name }) => name !== 'sec-websocket-key')
  return {
    ...head,
    method: 'GET',
    framing: NO_BODY,
    connection: ['upgrade'],
    upgrade: true,
    fields: [hostField(head.host), ...asked, ...own],
  }
}
