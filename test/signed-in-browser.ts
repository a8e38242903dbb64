import { type Answer, type DaemonUnderTest, send } from './daemon-under-test.ts'

export interface SignedInBrowser {
  readonly principalId: string
  readonly role: string
  readonly cookie: string
  readonly csrfToken: string
  /** A request as the dashboard makes it: with the cookie, and with the CSRF token where it changes anything. */
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

/** `name=value` of the cookie that an answer sets. */
export function cookieOf({ headers }: Answer): string {
  const [first = ''] = [headers['set-cookie'] ?? []].flat()
  return first.split(';', 1)[0] ?? ''
}

/** All that an answer sets, as a browser sends them back. */
export function cookiesOf({ headers }: Answer): string {
  return [headers['set-cookie'] ?? []]
    .flat()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')
}

export function browserWith(daemon: DaemonUnderTest, cookie: string, csrfToken: string): SignedInBrowser['call'] {
  return (method, path, body, headers = {}) => {
    const bytes = body === undefined ? '' : JSON.stringify(body)
    return send(daemon, method, path, bytes, {
      cookie,
      'sec-fetch-site': 'same-origin',
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(method !== 'GET' && { 'x-csrf-token': csrfToken }),
      ...headers,
    })
  }
}

/** Makes an account, or signs in to it, by the JSON that the dashboard sends. */
export async function signedIn(
  daemon: DaemonUnderTest,
  route: 'register' | 'login',
  { email, password }: { readonly email: string; readonly password: string },
): Promise<SignedInBrowser> {
  const answer = await send(daemon, 'POST', `/api/auth/${route}`, JSON.stringify({ email, password }), {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  })
  if (answer.status >= 300) throw new Error(`${route} failed: ${answer.text}`)
  const cookie = cookieOf(answer)
  const { principal_id: principalId, role } = answer.body
  const csrfToken = String(answer.headers['x-csrf-token'])
  return { principalId, role, cookie, csrfToken, call: browserWith(daemon, cookie, csrfToken) }
}
