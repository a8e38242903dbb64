import { BrokerError } from '../protocol/index.ts'
import type { Resolution } from '../schemas/index.ts'
import { type HeaderField, isHopByHop } from './header-fields.ts'
import { withSegment } from './path-segment.ts'
import type { RequestHead } from './request-head.ts'

/** The request head as it goes upstream. */
export interface OutgoingHead {
  readonly text: string
  /** Names (lower case, `-`) that were injected: no trailer may carry them. */
  readonly injected: ReadonlySet<string>
}

const NOTHING_INJECTED: ReadonlySet<string> = new Set()

/** The child's request with another target and without what concerns its own leg; nothing is injected. */
export function plainHead(head: RequestHead, target: string, extraLines = ''): string {
  const lines = head.fields.filter((field) => !isDropped(field, head)).map((field) => outgoingLine(field, head))
  return `${head.method} ${target} HTTP/${head.version}\r\n${lines.join('')}${extraLines}${closing(head)}\r\n`
}

/**
 * The child's request made authentic: each injected header stands where the child's own of that name stood, or last.
 * The one place of the proxy where a credential is written. Throws CredentialMissingError where the stored value could
 * not be sent as one header or parameter.
 */
export function injectedHead(head: RequestHead, resolution: Resolution): OutgoingHead {
  assertSendable(resolution)
  const own = new Set(head.fields.map(({ name }) => spelled(name)))
  const ifAbsent = new Set(resolution.if_absent?.map((name) => spelled(name.toLowerCase())))
  const pending = new Map<string, string>()
  for (const [name, value] of Object.entries(resolution.headers)) {
    const key = spelled(name.toLowerCase())
    if (!(ifAbsent.has(key) && own.has(key))) pending.set(key, `${name}: ${value}\r\n`)
  }
  const removed = resolution.remove?.map((name) => spelled(name.toLowerCase())) ?? []
  const injected = new Set([...pending.keys(), ...removed, 'authorization'])

  let lines = ''
  for (const field of head.fields) {
    const key = spelled(field.name)
    if (!injected.has(key)) {
      if (!isDropped(field, head)) lines += outgoingLine(field, head)
      continue
    }
    // The child's own `Authorization` goes even where another header is injected: with it, the request could act for
    // an account of the child's choice. All spellings and repetitions go; the first gives its place.
    lines += pending.get(key) ?? ''
    pending.delete(key)
  }
  for (const line of pending.values()) lines += line
  const { path } = resolution
  const authentic = path === undefined ? head.target : withSegment(head.target, path.prefix, path.segment)
  const target = withQuery(authentic, resolution.query)
  return { text: `${head.method} ${target} HTTP/${head.version}\r\n${lines}${closing(head)}\r\n`, injected }
}

// CGI-like servers read `X_Api_Key` and `X-Api-Key` as one name.
function spelled(name: string): string {
  return name.includes('_') ? name.replaceAll('_', '-') : name
}

const CONNECTION_CANNOT_NAME = new Set(['host', 'content-length', 'transfer-encoding', 'expect', 'upgrade'])

function isDropped({ name }: HeaderField, head: RequestHead): boolean {
  if (name === 'connection' || name === 'upgrade') return !head.upgrade
  if (isHopByHop(name) || name.startsWith('x-broker-')) return true
  return head.connection.length > 0 && head.connection.includes(name) && !CONNECTION_CANNOT_NAME.has(name)
}

function outgoingLine(field: HeaderField, head: RequestHead): string {
  return field.name === 'connection' && head.upgrade ? 'Connection: Upgrade\r\n' : field.line
}

// An HTTP/1.0 request gets one connection of its own, as its answer may be delimited by the close.
function closing(head: RequestHead): string {
  return head.version === '1.0' ? 'Connection: close\r\n' : ''
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const FRAMING = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'trailer',
  'te',
  'expect',
])

const SEGMENT_PREFIX = /^\/[A-Za-z0-9/_-]+$/
// Nothing that ends the segment, begins a query, or is read as something else: no slash, "?", "#", "%" or white space.
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._~!$&'()*+,;=:@-]+$/

function assertSendable({ provider, connection, headers, query, path, remove = [] }: Resolution): void {
  const removedAreNames = remove.every((name) => TOKEN.test(name) && !FRAMING.has(spelled(name.toLowerCase())))
  const headersAreSendable = Object.entries(headers).every(
    ([name, value]) => TOKEN.test(name) && FIELD_VALUE.test(value) && !FRAMING.has(spelled(name.toLowerCase())),
  )
  const queryIsSendable = Object.entries(query ?? {}).every(
    ([name, value]) => isWellFormed(name) && isWellFormed(value),
  )
  const pathIsSendable = path === undefined || isSendable(path)
  if (headersAreSendable && removedAreNames && queryIsSendable && pathIsSendable) return
  throw new BrokerError('CredentialMissingError', `The stored credential of ${provider} cannot be sent as a header`, {
    provider,
    connection,
    hint: `It holds a line break or another forbidden character. Store it again with \`broker login ${provider} --force\`.`,
  })
}

function isSendable({ prefix, segment }: NonNullable<Resolution['path']>): boolean {
  return SEGMENT_PREFIX.test(prefix) && segment.startsWith(prefix) && SEGMENT.test(segment.slice(prefix.length))
}

function isWellFormed(text: string): boolean {
  return text.isWellFormed() && !/[\r\n\0]/.test(text)
}

function withQuery(target: string, query: Readonly<Record<string, string>> | undefined): string {
  if (query === undefined) return target
  const names = new Set(Object.keys(query))
  const at = target.indexOf('?')
  const path = at === -1 ? target : target.slice(0, at)
  const own = at === -1 ? [] : target.slice(at + 1).split('&')
  const kept = own.filter((parameter) => !names.has(parameterName(parameter)))
  const set = Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  const parameters = [...kept, ...set]
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
}

function parameterName(parameter: string): string {
  const name = parameter.split('=', 1)[0]?.replaceAll('+', ' ') ?? ''
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

export function withoutInjection(text: string): OutgoingHead {
  return { text, injected: NOTHING_INJECTED }
}
