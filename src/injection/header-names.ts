import { spelled } from './request-draft.ts'

/** Headers that say where a request goes, where it ends, or what the proxy itself has to say. */
const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'max-forwards',
  'origin',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
])
const FORBIDDEN_HEADER_PREFIXES = ['proxy-', 'sec-', 'x-broker-', 'x-forwarded-', 'access-control-']

/** Why a definition may not set this header, as goes on after the field. */
export function headerProblem(name: string): string | undefined {
  const lower = name.toLowerCase()
  const isForbidden =
    FORBIDDEN_HEADERS.has(lower) || FORBIDDEN_HEADER_PREFIXES.some((prefix) => lower.startsWith(prefix))
  return isForbidden ? 'must not be a header that steers the connection or the proxy' : undefined
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const FRAMING: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'trailer',
  'te',
  'expect',
])

/** Returns whether the two make one header line that frames nothing. */
export function isSendableHeader(name: string, value: string): boolean {
  return TOKEN.test(name) && FIELD_VALUE.test(value) && !FRAMING.has(spelled(name.toLowerCase()))
}
