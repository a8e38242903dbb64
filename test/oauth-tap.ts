import { type ScriptedAnswer, type ScriptedRequest, startScriptedServer } from './scripted-oauth-server.ts'

/** Stands before an OpenID provider and hears all that its clients and it say to each other. */
export interface OAuthTap {
  readonly origin: string
  /** Those endpoints of the provider, by the names that a definition has for them, that lead through here. */
  readonly endpoints: Readonly<Record<string, string>>
  /** Every secret that went through, once: codes, verifiers, tokens, secrets of clients. */
  secrets(): readonly string[]
  /** Answers requests to this path itself from now on; `undefined` lets them through again. */
  answer(path: string, answer: ScriptedAnswer | undefined): void
  close(): Promise<void>
}

const SECRET_MEMBERS = [
  'code',
  'code_verifier',
  'device_code',
  'client_secret',
  'token',
  'access_token',
  'refresh_token',
  'registration_access_token',
]

/** Registrations come out as those of confidential clients, whatever was asked for. */
export async function startTap(issuer: string): Promise<OAuthTap> {
  const secrets = new Set<string>()
  const instead = new Map<string, ScriptedAnswer>()
  const server = await startScriptedServer((request) => {
    hear(Object.fromEntries(request.form))
    for (const secret of secretOf(request.headers.authorization)) secrets.add(secret)
    return instead.get(request.path) ?? { raw: (response) => void forward(request, response) }
  })
  const { origin } = server

  function hear(said: Readonly<Record<string, unknown>>): void {
    for (const member of SECRET_MEMBERS) {
      const value = said[member]
      if (typeof value === 'string') secrets.add(value)
    }
    // The rest of an ID token says who somebody is; its signature is what makes it one.
    if (typeof said['id_token'] === 'string') secrets.add(said['id_token'].split('.')[2] ?? '')
  }

  async function forward({ path, method, headers, body }: ScriptedRequest, response: RawResponse): Promise<void> {
    const answer = await fetch(issuer + path, {
      method,
      headers: {
        'content-type': headers['content-type'] ?? '',
        ...(headers.authorization && { authorization: headers.authorization }),
      },
      body: path === '/reg' ? asConfidential(body) : body,
    })
    const text = await answer.text()
    const type = answer.headers.get('content-type') ?? 'text/plain'
    if (type.startsWith('application/json')) hear(JSON.parse(text))
    response.writeHead(answer.status, { 'content-type': type }).end(text)
  }

  return {
    origin,
    endpoints: {
      token_url: `${origin}/token`,
      device_authorization_url: `${origin}/device/auth`,
      revocation_url: `${origin}/token/revocation`,
      registration_url: `${origin}/reg`,
    },
    secrets: () => [...secrets].filter((secret) => secret !== ''),
    answer: (path, answer) => {
      if (answer) instead.set(path, answer)
      else instead.delete(path)
    },
    close: server.close,
  }
}

type RawResponse = Parameters<NonNullable<ScriptedAnswer['raw']>>[0]

function asConfidential(registration: string): string {
  return JSON.stringify({ ...JSON.parse(registration), token_endpoint_auth_method: 'client_secret_basic' })
}

/** The secret of Basic credentials, as RFC 6749 section 2.3.1 writes them. */
function secretOf(authorization = ''): readonly string[] {
  const [, encoded] = /^Basic (\S+)$/.exec(authorization) ?? []
  if (encoded === undefined) return []
  const [, secret = ''] = Buffer.from(encoded, 'base64').toString().split(':')
  return [decodeURIComponent(secret)]
}
