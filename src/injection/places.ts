import type { ProviderDefinition } from '../schemas/index.ts'
import { headerProblem, isSendableHeader } from './header-names.ts'
import { type RequestDraft, withSegment } from './request-draft.ts'

type Entry = NonNullable<ProviderDefinition['injections']>[number]
type EntryOf<Kind extends Entry['type']> = Extract<Entry, { readonly type: Kind }>

/** A text of a definition with `{field}` where fields of the credential go, and where it stands in its entry. */
export interface Template {
  readonly member: 'value' | 'username' | 'password' | 'prefix'
  readonly text: string
}

/** What some places say beside their name and value. */
interface Manner {
  readonly onlyIfAbsent?: true
  readonly frames?: number
}

/** All that is known of one kind of place. A kind that lacks any of it does not compile. */
interface PlaceType<OwnEntry> {
  /** What a person calls it, where a name is there twice. */
  readonly word: string
  /** Under which name it stands in a request, as its entry in `injections` of a definition says. */
  nameOf(entry: OwnEntry): string
  /** The templates of the entry; {@link PlaceType.valueOf} takes them filled, in this order. */
  templatesOf(entry: OwnEntry): readonly Template[]
  valueOf(filled: readonly string[]): string
  /** Why a definition may not have this name, as goes on after the field. */
  problemOf(name: string): string | undefined
  /** Equal for two that would be written over each other. */
  identity(name: string): string
  /** As a page of documentation writes the entry, `…` for the value. */
  documented(entry: OwnEntry): string
  /** In words, for people and the audit log: never what goes there. */
  shown(name: string): string
  /** What a value must be to stand there, as goes on after the field. */
  readonly rule: string
  /** Whether the name and the value can stand there, and change nothing else of the request. */
  isSendable(name: string, value: string): boolean
  /** Takes out what the client has there, and puts the value in its place. */
  apply(draft: RequestDraft, name: string, value: string | undefined, manner: Manner): void
  /** The client's request target as the audit log may show it: the client may have put a key of its own there. */
  audited(target: string, name: string): string
  /** The same for a program that asks the daemon itself, as far as headers and parameters can say it. */
  plain(name: string, value: string): PlainPlaces
}

/** Headers and query parameters, by name. */
interface PlainPlaces {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
}

const ONE_LINE = 'must be one line'

/** Every kind of place, in one row each: what definitions, resolutions, the proxy and the audit log know of it. */
export const PLACES: { readonly [Kind in Entry['type']]: PlaceType<EntryOf<Kind>> } = {
  header: {
    word: 'header',
    nameOf: ({ name }) => name,
    templatesOf: ({ value = '{api_key}' }) => [{ member: 'value', text: value }],
    valueOf: ([value = '']) => value,
    problemOf: headerProblem,
    identity: (name) => `header ${name.toLowerCase()}`,
    documented: ({ name }) => `${name}: …`,
    shown: (name) => `header ${name}`,
    rule: 'must be what may stand in a header',
    isSendable: isSendableHeader,
    apply: (draft, name, value, { onlyIfAbsent }) => draft.setHeader(name, value, onlyIfAbsent),
    audited: unchanged,
    plain: (name, value) => ({ headers: { [name]: value } }),
  },
  basic: {
    word: 'header',
    nameOf: () => 'Authorization',
    templatesOf: ({ username = '', password = '' }) => [
      { member: 'username', text: username },
      { member: 'password', text: password },
    ],
    valueOf: (filled) => filled.join(':'),
    problemOf: headerProblem,
    identity: (name) => `header ${name.toLowerCase()}`,
    documented: ({ username = '' }) => `Authorization: Basic ${username}:…`,
    shown: (name) => `header ${name}`,
    rule: 'must be what may stand in a header',
    isSendable: (name, value) => isSendableHeader(name, basic(value)),
    apply: (draft, name, value) => draft.setHeader(name, value === undefined ? undefined : basic(value)),
    audited: unchanged,
    plain: (name, value) => ({ headers: { [name]: basic(value) } }),
  },
  query: {
    word: 'parameter',
    nameOf: ({ name }) => name,
    templatesOf: ({ value = '{api_key}' }) => [{ member: 'value', text: value }],
    valueOf: ([value = '']) => value,
    problemOf: () => undefined,
    identity: (name) => `query ${name}`,
    documented: ({ name }) => `?${name}=…`,
    shown: (name) => `query ${name}`,
    rule: ONE_LINE,
    isSendable: isText,
    apply: (draft, name, value) => draft.setParameter(name, value),
    audited: unchanged,
    plain: (name, value) => ({ query: { [name]: value } }),
  },
  path: {
    word: 'path',
    nameOf: ({ prefix }) => prefix,
    templatesOf: () => [{ member: 'prefix', text: '{api_key}' }],
    valueOf: ([value = '']) => value,
    problemOf: () => undefined,
    // There is one path.
    identity: () => 'path',
    documented: ({ prefix }) => `${prefix}…`,
    shown: (name) => `path ${name}`,
    rule: 'must be letters, digits and what may stand in a segment of a path',
    isSendable: (name, value) => SEGMENT_PREFIX.test(name) && SEGMENT.test(value),
    apply: (draft, name, value = '') => draft.setSegment(name, value),
    audited: (target, name) => withSegment(target, name, `${name}…`),
    plain: () => ({}),
  },
  cookie: {
    word: 'cookie',
    nameOf: ({ name }) => name,
    templatesOf: ({ value = '{api_key}' }) => [{ member: 'value', text: value }],
    valueOf: ([value = '']) => value,
    problemOf: () => undefined,
    identity: (name) => `cookie ${name}`,
    documented: ({ name }) => `Cookie: ${name}=…`,
    shown: (name) => `cookie ${name}`,
    rule: 'must be letters, digits and what may stand in a cookie',
    isSendable: (name, value) => COOKIE_NAME.test(name) && COOKIE_VALUE.test(value),
    apply: (draft, name, value) => draft.setCookie(name, value),
    audited: unchanged,
    // A program has cookies of its own: the header is not this one's alone.
    plain: () => ({}),
  },
  body: {
    word: 'part of the body',
    nameOf: ({ pointer, field = '' }) => pointer ?? field,
    templatesOf: ({ value = '{api_key}' }) => [{ member: 'value', text: value }],
    valueOf: ([value = '']) => value,
    problemOf: (name) => (name === '' ? 'must have either a pointer or a field' : undefined),
    identity: (name) => `body ${name}`,
    documented: ({ pointer, field }) => (pointer === undefined ? `form ${field}=…` : `JSON ${pointer}: …`),
    shown: (name) => `body ${name}`,
    rule: ONE_LINE,
    isSendable: isText,
    apply: (draft, name, value = '') => draft.setInBody(name, value),
    audited: unchanged,
    plain: () => ({}),
  },
  websocket: {
    word: 'part of a message',
    nameOf: ({ pointer }) => pointer,
    templatesOf: ({ value = '{api_key}' }) => [{ member: 'value', text: value }],
    valueOf: ([value = '']) => value,
    problemOf: () => undefined,
    identity: (name) => `websocket ${name}`,
    documented: ({ pointer }) => `WebSocket ${pointer}: …`,
    shown: (name) => `websocket ${name}`,
    rule: ONE_LINE,
    isSendable: isText,
    apply: (draft, name, value = '', { frames = 1 }) => draft.setInMessages(name, value, frames),
    audited: unchanged,
    plain: () => ({}),
  },
}

/** The row of an entry of any kind. */
export function placeTypeOf<OwnEntry extends Entry>(entry: OwnEntry): PlaceType<OwnEntry> {
  // The row is that of the entry's own kind, which the compiler cannot follow through the union.
  return PLACES[entry.type] as unknown as PlaceType<OwnEntry>
}

const SEGMENT_PREFIX = /^\/[A-Za-z0-9/_-]+$/
// Nothing that ends the segment, begins a query, or is read as something else: no slash, "?", "#", "%" or white space.
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._~!$&'()*+,;=:@-]+$/
const COOKIE_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
// RFC 6265 section 4.1.1: no white space, quotes, comma, semicolon or backslash.
const COOKIE_VALUE = /^[!#-+\--:<-[\]-~]*$/

function isText(name: string, value: string): boolean {
  return [name, value].every((text) => text.isWellFormed() && !/[\r\n\0]/.test(text))
}

function basic(userAndPassword: string): string {
  return `Basic ${Buffer.from(userAndPassword).toString('base64')}`
}

function unchanged(target: string): string {
  return target
}
