import { PLACES, type Place, RequestDraft, type ResolvedCredential, spelled } from '../../injection/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import { type HeaderField, isHopByHop, type RequestHead } from '../http1/index.ts'

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
 * not be sent in its place.
 */
export function injectedHead(head: RequestHead, resolved: ResolvedCredential): OutgoingHead {
  const draft = new RequestDraft(
    head.target,
    head.fields.map(({ name }) => name),
  )
  for (const place of resolved.places) fillIn(draft, place, resolved)
  const pending = draft.lines
  if (draft.cookies.size > 0) pending.set('cookie', cookieLine(draft, head))
  const injected = new Set([...pending.keys(), 'authorization'])

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
  return { text: `${head.method} ${draft.target} HTTP/${head.version}\r\n${lines}${closing(head)}\r\n`, injected }
}

function fillIn(draft: RequestDraft, place: Place, resolved: ResolvedCredential): void {
  const type = PLACES[place.in]
  const value = place.value?.reveal()
  if (!type.isSendable(place.name, value ?? '')) throw notSendable(resolved)
  type.apply(draft, place.name, value, place.onlyIfAbsent === true)
}

function cookieLine(draft: RequestDraft, { fields }: RequestHead): string {
  const value = draft.cookieHeader(fields.flatMap((field) => (field.name === 'cookie' ? [field.value] : [])))
  return value === '' ? '' : `Cookie: ${value}\r\n`
}

function notSendable({ provider, connection }: ResolvedCredential): BrokerError {
  return new BrokerError('CredentialMissingError', `The stored credential of ${provider} cannot be sent as a header`, {
    provider,
    connection,
    hint: `It holds a line break or another forbidden character. Store it again with \`broker login ${provider} --force\`.`,
  })
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

export function withoutInjection(text: string): OutgoingHead {
  return { text, injected: NOTHING_INJECTED }
}
