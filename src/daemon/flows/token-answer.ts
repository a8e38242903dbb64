import { parseStrictJson } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { outsideUrl } from './outside-url.ts'
import { BadAnswer, headOf, ProviderRefusal } from './provider-failure.ts'
import { quirk } from './quirks.ts'
import { secondsLeft } from './token-lifetime.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** A token answer, mended: what RFC 6749 section 5.1 says, in its own words. */
export interface TokenAnswer {
  /** For the library. */
  readonly response: Response
  readonly hasIdToken: boolean
  /** Where the answer says the API is; https, or http on loopback. */
  readonly apiUrl?: string
}

export interface TokenExpectation {
  readonly definition: ProviderDefinition
  /** `ignored` takes it out before anybody looks at it. */
  readonly idToken: 'wanted' | 'ignored'
  readonly now: number
}

/**
 * Understands what a token endpoint answered, in all the ways in which providers do.
 * @throws ProviderRefusal, BadAnswer
 */
export async function readTokenAnswer(
  response: Response,
  { definition, idToken, now }: TokenExpectation,
): Promise<TokenAnswer> {
  const head = headOf(response)
  const answer = await readAnswer(response, quirk(definition, 'errorIn'))
  const found = tokensIn(answer, definition)
  const fail = (problem: string) => new BadAnswer(problem, head)
  const { access_token, refresh_token, id_token, scope } = withoutEmpty(found)
  if (!isToken(access_token)) throw fail('sent no access token that can be one')
  if (refresh_token !== undefined && !isToken(refresh_token)) throw fail('sent a refresh token that cannot be one')
  const expiresIn = secondsLeft(found, now)
  const scopes = scopesIn(scope)
  const conform = {
    access_token,
    token_type: tokenType(found, definition),
    ...(expiresIn !== undefined && { expires_in: expiresIn }),
    ...(refresh_token !== undefined && { refresh_token }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(id_token !== undefined && idToken === 'wanted' && { id_token }),
  }
  const apiUrl = apiUrlIn(answer, found, definition)
  return {
    response: Response.json(conform),
    hasIdToken: 'id_token' in conform,
    ...(apiUrl !== undefined && { apiUrl }),
  }
}

/**
 * The object in an answer that is neither an error nor nonsense.
 * @param errorMember a member that is 0 unless the answer is an error
 * @throws ProviderRefusal, BadAnswer
 */
export async function readAnswer(response: Response, errorMember?: string): Promise<JsonObject> {
  const head = headOf(response)
  if (response.status >= 300 && response.status < 400)
    throw new BadAnswer('answered with a redirect, which is not followed', head)
  const answer = parseAnswer(response.headers.get('content-type'), await response.text())
  const error = typeof answer === 'string' ? undefined : errorIn(answer, errorMember, response.status)
  if (error !== undefined) throw new ProviderRefusal(error.code, error.description, head)
  if (!response.ok) throw new BadAnswer(`answered with status ${response.status}`, head)
  if (typeof answer === 'string') throw new BadAnswer(answer, head)
  return answer
}

/** The object, or what is wrong. */
function parseAnswer(contentType: string | null, text: string): JsonObject | string {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';', 1)
  if (/^application\/(?:[a-z0-9.-]+\+)?json\s*$|^text\/json\s*$/.test(type)) return parseJson(text)
  if (type.trim() === 'application/x-www-form-urlencoded') return parseForm(text)
  // What servers of a few lines send that say nothing of what it is.
  if (/^(?:text\/plain)?\s*$/.test(type) && text.trimStart().startsWith('{')) return parseJson(text)
  return 'answered with something that is not JSON'
}

function parseJson(text: string): JsonObject | string {
  try {
    const value = parseStrictJson(text)
    return isObject(value) ? value : 'answered with JSON that is no object'
  } catch {
    return 'answered with JSON that cannot be read, or only in two ways'
  }
}

function parseForm(text: string): JsonObject | string {
  const entries = [...new URLSearchParams(text)]
  const fields = new Map(entries)
  return fields.size === entries.length ? Object.fromEntries(fields) : 'answered with a form that gives a field twice'
}

interface SentError {
  readonly code: string
  readonly description: unknown
}

/** The error that an answer holds, in whichever form. With a good status, only what cannot be anything else. */
function errorIn(answer: JsonObject, errorMember: string | undefined, code: number): SentError | undefined {
  const { error, error_description, message, msg, status } = answer
  const description = error_description ?? message ?? msg
  const number = errorMember === undefined ? undefined : answer[errorMember]
  if (number !== undefined && Number(number) !== 0)
    return { code: typeof error === 'string' ? error : `${errorMember}_${number}`, description }
  if (typeof error === 'string' && error !== '') return { code: error, description }
  if (isObject(error)) return { code: String(error['code'] ?? error['type'] ?? ''), description: error['message'] }
  if (answer['ok'] === false) return { code: '', description }
  if (code < 400) return undefined
  if (typeof status === 'string') return { code: status, description }
  // A gateway's own words, where it is trouble of the server's: they say nothing of what is behind it.
  return code < 500 ? { code: `answer_${code}`, description } : undefined
}

/** Returns the tokens where the quirk says, if they are there; else those at the top. */
function tokensIn(answer: JsonObject, definition: ProviderDefinition): JsonObject {
  const member = quirk(definition, 'tokensIn')
  const nested = member === undefined ? undefined : answer[member]
  return isObject(nested) && nested['access_token'] !== undefined ? nested : answer
}

/** Missing means bearer; whatever else is there is the library's to refuse. */
function tokenType({ token_type }: JsonObject, definition: ProviderDefinition): unknown {
  const isMissing = token_type === undefined || token_type === null || token_type === ''
  return isMissing || quirk(definition, 'anyTokenType') === true ? 'bearer' : token_type
}

function apiUrlIn(answer: JsonObject, found: JsonObject, definition: ProviderDefinition): string | undefined {
  const member = quirk(definition, 'apiUrlIn')
  const text = member === undefined ? undefined : (found[member] ?? answer[member])
  return typeof text === 'string' ? outsideUrl(text.includes('://') ? text : `https://${text}`) : undefined
}

/** Scopes of a text separated by spaces or commas, or of a list; none of anything else. */
export function scopesIn(scope: unknown): readonly string[] {
  const texts: readonly unknown[] = Array.isArray(scope)
    ? scope
    : typeof scope === 'string'
      ? scope.split(/[\s,]+/)
      : []
  return texts.filter((text): text is string => typeof text === 'string' && /^[!-~]{1,200}$/.test(text)).slice(0, 200)
}

/** Printable ASCII without spaces, at most 16 KiB: what a header can carry. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[!-~]{1,16384}$/.test(value)
}

function withoutEmpty(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== ''))
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
