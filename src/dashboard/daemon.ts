import type { AnswerOf, EndpointKey, RequestOf } from '../schemas/index.ts'

/** What the daemon answered instead: `name` and `message` are its own, made for people. */
export class DaemonError extends Error {
  override readonly name: string
  readonly status: number
  readonly hint: string | undefined
  readonly details: readonly { readonly path: string; readonly message: string }[]

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.message ?? `The daemon answered ${status}`)
    this.name = body.error ?? 'InternalError'
    this.status = status
    this.hint = body.hint
    this.details = body.details ?? []
  }
}

interface ErrorBody {
  readonly error: string
  readonly message: string
  readonly hint: string
  readonly details: readonly { readonly path: string; readonly message: string }[]
}

// Other ports of this host get to see our cookie, but not what is stored for this origin.
const CSRF_KEY = 'broker.csrf'

/**
 * Takes the token that a sign-in put behind the `#` out of the address, and keeps it where it is this session's: whoever
 * makes a link can put any other there.
 */
export async function takeCsrfToken(): Promise<void> {
  const token = /^#csrf=([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1]
  if (token === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  if (token === localStorage.getItem(CSRF_KEY)) return
  const headers = { accept: 'application/json', 'x-csrf-token': token }
  const { ok } = await fetch(addressOf('GET /api/me', { query: { csrf: 'check' } }), { headers })
  if (ok) localStorage.setItem(CSRF_KEY, token)
}

export function hasCsrfToken(): boolean {
  return localStorage.getItem(CSRF_KEY) !== null
}

export function forgetCsrfToken(): void {
  localStorage.removeItem(CSRF_KEY)
}

/** The request may be left out where an endpoint takes none. */
type AskArguments<K extends EndpointKey> =
  Record<never, never> extends RequestOf<K> ? [request?: RequestOf<K>] : [request: RequestOf<K>]

/**
 * Asks an endpoint of the daemon. The shape of the answer is the endpoint's own, which the daemon checks before it leaves.
 * @throws DaemonError where it refuses; TypeError where it is not there
 */
export async function ask<K extends EndpointKey>(key: K, ...[request]: AskArguments<K>): Promise<AnswerOf<K>> {
  const asked = Date.now()
  const { method, target } = targetOf(key, request)
  const body = request?.body ?? (method === 'POST' ? {} : undefined)
  const response = await fetch(target, {
    method,
    headers: {
      accept: 'application/json',
      'x-csrf-token': localStorage.getItem(CSRF_KEY) ?? '',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  compareClocks(response.headers.get('date'), asked)
  // Told once, with a sign-in.
  const token = response.headers.get('x-csrf-token')
  if (token !== null) localStorage.setItem(CSRF_KEY, token)
  const answer: unknown = await response.json().catch(() => ({}))
  if (!response.ok) throw new DaemonError(response.status, answer as Partial<ErrorBody>)
  return answer as AnswerOf<K>
}

/** Gives where an endpoint without parameters is, for what the browser itself loads. */
export function addressOf<K extends EndpointKey>(key: K, request?: Pick<RequestOf<K>, 'query'>): string {
  return targetOf(key, request).target
}

interface TargetParts {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
}

function targetOf(key: EndpointKey, { params = {}, query = {} }: TargetParts = {}): { method: string; target: string } {
  const [method = '', template = ''] = key.split(' ')
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return { method, target: search.size === 0 ? path : `${path}?${search}` }
}

let aheadMs = 0

/** Milliseconds since 1970 by the daemon's clock, by which everything that it tells of happened. */
export function daemonNow(): number {
  return Date.now() + aheadMs
}

// A header says whole seconds, and an answer takes its time.
const SAME_MS = 3_000

/** @param asked when the question left, by the clock here */
function compareClocks(answered: string | null, asked: number): void {
  const difference = Date.parse(answered ?? '') + 500 - (asked + Date.now()) / 2
  if (Number.isFinite(difference)) aheadMs = Math.abs(difference) < SAME_MS ? 0 : difference
}
