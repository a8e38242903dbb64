import { generateKeyPairSync } from 'node:crypto'

export const ACCOUNT = 'user-1'
export const PUBLIC = 'broker-public'
export const CONFIDENTIAL = { id: 'broker-confidential', secret: 'cs-CNRY0a1b2c3d4e5f60718293a4b5c6d7e8' }
/** Acts for itself; its secret may be changed. */
export const SERVICE = { id: 'broker-service', secret: 'ss-CNRY4f1e2d3c9b8a70615243f0e1d2c3b4a5' }
/** The same, with keys in place of a secret: of either kind. */
export const SIGNING_SERVICE = 'broker-signing-service'
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const SCOPES = ['openid', 'offline_access', 'email', 'profile', 'api:read', 'api:write']

/** What the provider does next; may be changed at any time. */
export interface ProviderSettings {
  /** Seconds. */
  accessTokenLifetime: number
  /** Seconds. */
  deviceCodeLifetime: number
  /** `rotate`: each refresh token is good for one use, and a second use ends the grant. */
  refreshTokens: 'rotate' | 'keep'
  /** What the user says when asked. */
  consent: 'granted' | 'declined'
  /** Awaited before each answer to a token request, when it is settled what the answer is. */
  beforeTokenAnswer: (request: TokenRequest) => Promise<void> | void
}

interface TokenRequest {
  readonly grantType: GrantType
  /** Status of the answer to come. */
  readonly status: number
}

export type GrantType = 'authorization_code' | 'refresh_token' | 'device_code' | 'client_credentials'

interface Configured {
  readonly settings: ProviderSettings
  readonly redirectUris: readonly string[]
  readonly records: Records
  /** Public, of the service that signs. */
  readonly serviceKeys: readonly object[]
}

/** Returns what oidc-provider is to do: everything that we use of it is switched on. */
export function providerConfiguration({ settings, redirectUris, records, serviceKeys }: Configured): object {
  return {
    adapter: (model: string) => new Shelf(model, records),
    clients: [
      client(PUBLIC, redirectUris),
      client(CONFIDENTIAL.id, redirectUris, CONFIDENTIAL.secret),
      {
        ...service(SIGNING_SERVICE),
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: serviceKeys },
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256', token_endpoint_auth_method: 'client_secret_basic' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    jwks: { keys: [signingKey] },
    cookies: { keys: ['only-for-tests'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: page,
        userCodeConfirmSource: page,
        successSource: (context: Page) => page(context, 'Done'),
      },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: SCOPES.join(' '), accessTokenFormat: 'opaque' }),
      },
    },
    scopes: SCOPES,
    claims: { openid: ['sub'], email: ['email'], profile: ['name', 'preferred_username'] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, email: 'ada@example.com', name: 'Ada', preferred_username: 'ada' }),
    }),
    issueRefreshToken: (_context: unknown, { grantTypes }: { grantTypes: readonly string[] }) =>
      grantTypes.includes('refresh_token'),
    expiresWithSession: () => false,
    rotateRefreshToken: () => settings.refreshTokens === 'rotate',
    pkce: { required: () => true },
    ttl: {
      AccessToken: () => settings.accessTokenLifetime,
      ClientCredentials: () => settings.accessTokenLifetime,
      DeviceCode: () => settings.deviceCodeLifetime,
      AuthorizationCode: 60,
      IdToken: 3600,
      RefreshToken: 86_400,
      Interaction: 600,
      Session: 86_400,
      Grant: 86_400,
    },
    renderError: (context: Page, { error }: { error: string }) => page(context, error),
  }
}

interface Page {
  body: unknown
  type: string
}

function page(context: Page, content: string): void {
  context.type = 'html'
  context.body = `<!doctype html><html lang="en"><title>Provider</title>${content}</html>`
}

/** Native: any port of a loopback address may be come back to. */
function client(id: string, redirectUris: readonly string[], secret?: string): object {
  return {
    client_id: id,
    application_type: 'native',
    redirect_uris: [
      'http://127.0.0.1/auth/callback/oauth',
      'http://localhost/auth/callback/oauth',
      'http://[::1]/auth/callback/oauth',
      ...redirectUris,
    ],
    grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    response_types: ['code'],
    ...(secret === undefined ? { token_endpoint_auth_method: 'none' } : { client_secret: secret }),
  }
}

/** Of a service that logs nobody in. */
export function service(id: string): object {
  return { client_id: id, redirect_uris: [], response_types: [], grant_types: ['client_credentials'] }
}

const signingKey = {
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  alg: 'ES256',
  use: 'sig',
}

/** Everything that the provider has stored, by model and id, with the indexes by grant, user code and session. */
export type Records = Map<string, Record<string, unknown>>

/** The records of one model, as oidc-provider wants to have them kept. */
class Shelf {
  readonly #model: string
  readonly #records: Records

  constructor(model: string, records: Records) {
    this.#model = model
    this.#records = records
  }

  async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
    this.#records.set(`${this.#model}:${id}`, payload)
  }

  async find(id: string) {
    return this.#records.get(`${this.#model}:${id}`)
  }

  async findByUid(uid: string) {
    return this.#findBy('uid', uid)
  }

  async findByUserCode(userCode: string) {
    return this.#findBy('userCode', userCode)
  }

  async consume(id: string): Promise<void> {
    Object.assign((await this.find(id)) ?? {}, { consumed: Math.floor(Date.now() / 1000) })
  }

  async destroy(id: string): Promise<void> {
    this.#records.delete(`${this.#model}:${id}`)
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, record] of this.#ours()) if (record['grantId'] === grantId) this.#records.delete(key)
  }

  #findBy(member: string, value: string) {
    return this.#ours().find(([, record]) => record[member] === value)?.[1]
  }

  #ours() {
    return [...this.#records].filter(([key]) => key.startsWith(`${this.#model}:`))
  }
}
