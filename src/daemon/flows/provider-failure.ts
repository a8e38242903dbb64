import { BrokerError } from '../../protocol/index.ts'

/** The provider understood and said no (RFC 6749 section 5.2, or its own way of saying so). */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal'
  /** Its error code, RFC 6749 section 5.2: `[a-z0-9_.-]{1,40}`. It is written to the audit log. */
  readonly code: string
  readonly status: number
  readonly retryAfter: number | undefined
  readonly #sent: { readonly code: string; readonly description: unknown }

  /** `code` and `description` as the provider sent them. */
  constructor(code: string, description?: unknown, { status, retryAfter }: AnswerHead = NO_ANSWER) {
    const name = errorCode(code)
    const text = described(description)
    super(`${PLAINLY[name] ?? 'it refused'} (${text === undefined ? name : `${name}: ${text}`})`)
    this.code = name
    this.status = status
    this.retryAfter = retryAfter
    this.#sent = { code, description }
  }

  /** The same without those of the provider's words that must not be passed on. */
  without(mustNotBeSaid: (text: string) => boolean): ProviderRefusal {
    const { code, description } = this.#sent
    const isSecret = (text: unknown) => typeof text === 'string' && mustNotBeSaid(text)
    if (!isSecret(code) && !isSecret(description)) return this
    return new ProviderRefusal(isSecret(code) ? '' : code, isSecret(description) ? undefined : description, this)
  }
}

const PLAINLY: Readonly<Record<string, string>> = {
  access_denied: 'the login was declined there',
  expired_token: 'the login was not finished there in time',
  invalid_client: 'it does not take our client',
  invalid_scope: 'it does not grant the scopes that were asked for',
  unauthorized_client: 'it does not let our client do this',
}

/** `unknown`: it says that it does not know the client, or not this secret. `doubted`: what else it refuses may be that. */
export type ClientRefusal = 'unknown' | 'doubted' | 'none'

/** RFC 6749's own, then GitHub's and Slack's. */
const UNKNOWN_CLIENT: ReadonlySet<string> = new Set([
  'invalid_client',
  'incorrect_client_credentials',
  'bad_client_secret',
  'invalid_client_id',
  'invalid_client_secret',
])

// Microsoft: no such app, a wrong secret, one that has ended. It calls the first an unauthorized client.
const UNKNOWN_AT_MICROSOFT = /\bAADSTS(?:700016|7000215|7000222)\b/

/** Codes that say with a 401 what it is about. */
const OF_THE_GRANT: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_scope', 'access_denied', 'expired_token'])

/** Returns whether a provider's refusal, which may be the cause of another error, is of the client that was shown to it. */
export function refusalOfClient(error: unknown): ClientRefusal {
  if (error instanceof ProviderRefusal) {
    if (UNKNOWN_CLIENT.has(error.code) || UNKNOWN_AT_MICROSOFT.test(error.message)) return 'unknown'
    if (error.code === 'unauthorized_client') return 'doubted'
    return error.status === 401 && !OF_THE_GRANT.has(error.code) ? 'doubted' : 'none'
  }
  if (error instanceof BadAnswer) return error.status === 401 ? 'doubted' : 'none'
  return error instanceof Error ? refusalOfClient(error.cause) : 'none'
}

/** The provider answered, but not what the protocol says. `message` repeats nothing of it. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
  readonly status: number
  readonly retryAfter: number | undefined

  /** `problem` goes on after "it": "answered with HTML". */
  constructor(problem: string, { status, retryAfter }: AnswerHead = NO_ANSWER) {
    super(`it ${problem}`)
    this.status = status
    this.retryAfter = retryAfter
  }
}

export interface AnswerHead {
  readonly status: number
  /** Seconds. */
  readonly retryAfter: number | undefined
}

/** What comes of something else than the status of an answer. */
const NO_ANSWER: AnswerHead = { status: 200, retryAfter: undefined }

/** Returns what the first lines of an answer say. */
export function headOf({ status, headers }: Response): AnswerHead {
  return { status, retryAfter: retryAfterIn(headers) }
}

const LONGEST_WAIT_SECONDS = 86_400

/** `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date, which is one by the clock of the answer; at most a day. */
function retryAfterIn(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? ''
  const until = (Date.parse(text) - Date.parse(headers.get('date') ?? '')) / 1000
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : until
  return seconds >= 0 ? Math.min(Math.ceil(seconds), LONGEST_WAIT_SECONDS) : undefined
}

/** No answer came, or none that was read to its end. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  readonly kind: UnreachableKind

  constructor(kind: UnreachableKind, host: string) {
    super(`${host} ${SENTENCES[kind]}`)
    this.kind = kind
  }
}

export type UnreachableKind = keyof typeof SENTENCES

const SENTENCES = {
  forbidden_url: 'may not be asked: only https is, and http on loopback',
  private_address: 'is at a private address, which may not be asked in this case',
  metadata_address: 'is at an address of a cloud’s metadata service',
  refused: 'refused the connection',
  reset: 'closed the connection before it answered',
  cut_off: 'broke off its answer',
  not_http: 'answered with something that is not HTTP',
  name: 'has no address',
  tls: 'has a certificate that is not trusted, or does not speak TLS',
  time_limit: 'did not answer in time',
  too_long: 'answered with too much',
  encoding: 'answered in an encoding that nobody asked for',
  proxy: 'cannot be reached through the proxy of HTTPS_PROXY',
  other: 'cannot be reached',
} as const

/**
 * Returns what a caller can act on, out of what went wrong while asking; its cause is one of the errors above. All others come
 * back as they are.
 */
export function asBrokerError(error: unknown, deed: string, provider?: string): unknown {
  if (!isProviderFailure(error)) return error
  const isPassing = error instanceof Unreachable || isForLater(error.status)
  const name = isPassing ? 'EndpointUnreachableError' : 'AuthenticationFailedError'
  const hint = error instanceof Unreachable ? HINTS[error.kind] : undefined
  return new BrokerError(name, `Cannot ${deed}: ${error.message}`, {
    cause: error,
    ...(provider !== undefined && { provider }),
    ...(hint !== undefined && { hint }),
  })
}

const HINTS: Readonly<Partial<Record<UnreachableKind, string>>> = {
  tls: 'Add the certificate authority of a private service with BROKER_PROXY_CA_FILE, and restart the daemon.',
  proxy: 'Set HTTPS_PROXY and NO_PROXY for the daemon, and restart it.',
}

/** Returns whether it is what a provider or a network may do; anything else is our own mistake. */
export function isProviderFailure(error: unknown): error is ProviderRefusal | BadAnswer | Unreachable {
  return error instanceof ProviderRefusal || error instanceof BadAnswer || error instanceof Unreachable
}

/** Statuses that say nothing about the request: too many of them, or trouble of the server's own. */
export function isForLater(status: number): boolean {
  return status === 429 || status >= 500
}

/** Leaves out what is longer, or has more digits: it may be what was sent rather than what is wrong with it. */
function errorCode(text: string): string {
  const code = text.toLowerCase().replace(/[^a-z0-9_.-]+/g, '_')
  const isNumber = /^(?:[a-z]{1,10}_)?\d{1,6}$/.test(code)
  const isOfWords = /^[a-z0-9_.-]{1,40}$/.test(code) && !/[a-z0-9]{25}|(?:\d\D*){4}/.test(code)
  return isNumber || isOfWords ? code : 'unknown_error'
}

/**
 * Returns what may be shown of somebody else's text: its visible characters, at most `length`. Undefined where there are none.
 * Control characters, and those that turn the direction of writing, become spaces.
 */
export function shownText(text: unknown, length: number): string | undefined {
  if (typeof text !== 'string') return undefined
  const visible = text.slice(0, 10 * length).replace(/[\p{C}\p{Z}]+/gu, ' ')
  const shown = [...visible.trim()].slice(0, length).join('').trim()
  return shown === '' ? undefined : shown
}

/** A description without words that may be a code or a token, sent back to us. */
function described(description: unknown): string | undefined {
  const text = shownText(description, 1000)?.replace(/\S{25,}|(?=\S*\d)\S{16,}/g, '...')
  return shownText(text, 200)
}
