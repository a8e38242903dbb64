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

/** Keeps the token that a sign-in put behind the `#`, and takes it out of the address. */
export function takeCsrfToken(): void {
  const token = /^#csrf=([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1]
  if (token === undefined) return
  localStorage.setItem(CSRF_KEY, token)
  history.replaceState(null, '', location.pathname + location.search)
}

export function hasCsrfToken(): boolean {
  return localStorage.getItem(CSRF_KEY) !== null
}

export function forgetCsrfToken(): void {
  localStorage.removeItem(CSRF_KEY)
}

type Method = 'GET' | 'POST' | 'DELETE'

/**
 * Asks the daemon. The shape of the answer is the route's own, which the daemon checks before it leaves.
 * @throws DaemonError where it refuses; TypeError where it is not there
 */
export async function ask<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: {
      accept: 'application/json',
      'x-csrf-token': localStorage.getItem(CSRF_KEY) ?? '',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  // Told once, with a sign-in.
  const token = response.headers.get('x-csrf-token')
  if (token !== null) localStorage.setItem(CSRF_KEY, token)
  const answer: unknown = await response.json().catch(() => ({}))
  if (!response.ok) throw new DaemonError(response.status, answer as Partial<ErrorBody>)
  return answer as Answer
}
