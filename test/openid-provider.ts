import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Context, OpaqueToken, Provider } from 'oidc-provider'
import {
  ACCOUNT,
  CONFIDENTIAL,
  DEVICE_GRANT,
  type GrantType,
  type ProviderSettings,
  PUBLIC,
  providerConfiguration,
  type Records,
  SERVICE,
  SIGNING_SERVICE,
  service,
} from './openid-provider-configuration.ts'
import { openBrowser, type ScriptedBrowser } from './scripted-browser.ts'

export interface ProviderOptions {
  readonly settings?: Partial<ProviderSettings>
  /** Beside `/auth/callback/oauth` on any port of 127.0.0.1 and localhost. */
  readonly redirectUris?: readonly string[]
  /** In place of another that was closed. */
  readonly port?: number
}

export interface OpenIdProvider {
  readonly issuer: string
  readonly settings: ProviderSettings
  readonly clients: {
    readonly public: { readonly id: string }
    /** By `client_secret_basic`. */
    readonly confidential: { readonly id: string; readonly secret: string }
    /** Acts for itself. By `client_secret_basic`, or `client_secret_post` where a test says so. */
    readonly service: { readonly id: string; readonly secret: string }
    /** Acts for itself, by `private_key_jwt`, with either key. */
    readonly signing: { readonly id: string; readonly rsaPem: string; readonly ecPem: string }
  }
  /** What the service has for a secret, and how it shows it, from now on. */
  setService(secret: string, method?: 'client_secret_basic' | 'client_secret_post'): void
  /** Returns how many token requests were answered, however. */
  tokenRequests(grantType: GrantType): number
  /** Keeps back all answers to token requests from now on. */
  holdTokenAnswers(): HeldAnswers
  /** Plays the browser of a user who agrees: the URL that it is sent back to, which is not asked for. */
  approve(authorizationUrl: string): Promise<string>
  /** Plays the user who enters the code, and agrees. */
  approveDevice(userCode: string): Promise<void>
  /** Whether a token is honoured. */
  isActive(token: string): Promise<boolean>
  /** Ends every grant: no token of before is honoured. */
  endAllGrants(): void
  close(): Promise<void>
}

interface HeldAnswers {
  /** Resolves when that many wait; one if absent. */
  arrived(count?: number): Promise<void>
  /** Lets those go that wait, and all that come. */
  release(): void
}

/**
 * A certified OpenID provider on loopback: authorization code with PKCE, device code, registration, rotation with reuse
 * detection, revocation, introspection, userinfo. Any `resource` may be asked for. All of its tokens contain `CNRY`.
 */
export async function startOpenIdProvider({
  settings: given,
  redirectUris = [],
  port = 0,
}: ProviderOptions = {}): Promise<OpenIdProvider> {
  const settings: ProviderSettings = {
    accessTokenLifetime: 3600,
    deviceCodeLifetime: 600,
    refreshTokens: 'rotate',
    consent: 'granted',
    beforeTokenAnswer: () => {},
    ...given,
  }
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const records: Records = new Map()
  const setService = (secret: string, method = 'client_secret_basic') =>
    records.set(`Client:${SERVICE.id}`, {
      ...service(SERVICE.id),
      client_secret: secret,
      token_endpoint_auth_method: method,
    })
  setService(SERVICE.secret)
  const keys = serviceKeys()
  const serviceJwks = keys.map(({ publicKey }, index) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid: `key-${index}`,
  }))
  const Provider = await loadProvider()
  const provider = new Provider(
    issuer,
    providerConfiguration({ settings, redirectUris, records, serviceKeys: serviceJwks }),
  )
  const counts = new Map<GrantType, number>()
  markTokens(provider)
  provider.use((context, next) => answerTokenRequests({ context, settings, counts }, next))
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/')) void interact({ provider, settings }, request, response)
    else answer(request, response)
  })
  return {
    issuer,
    settings,
    clients: {
      public: { id: PUBLIC },
      confidential: CONFIDENTIAL,
      service: SERVICE,
      signing: { id: SIGNING_SERVICE, rsaPem: pem(keys[0].privateKey), ecPem: pem(keys[1].privateKey) },
    },
    setService,
    tokenRequests: (grantType) => counts.get(grantType) ?? 0,
    holdTokenAnswers: () => holdTokenAnswers(settings),
    approve: (url) => openBrowser(issuer).follow(url),
    approveDevice: (userCode) => approveDevice(openBrowser(issuer), issuer, userCode),
    isActive: (token) => isActive(issuer, token),
    endAllGrants: () => endAllGrants(records),
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** RSA, and P-256. */
function serviceKeys() {
  return [
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ] as const
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Without its warning that this Node is younger than the ones it knows. */
async function loadProvider(): Promise<typeof Provider> {
  const { warn } = console
  console.warn = () => {}
  try {
    return (await import('oidc-provider')).Provider
  } finally {
    console.warn = warn
  }
}

function markTokens({ AccessToken, ClientCredentials, RefreshToken }: Provider): void {
  mark(AccessToken.prototype, 'at-CNRY')
  mark(ClientCredentials.prototype, 'ct-CNRY')
  mark(RefreshToken.prototype, 'rt-CNRY')
}

function mark(prototype: OpaqueToken, prefix: string): void {
  const { generateTokenId } = prototype
  prototype.generateTokenId = function () {
    return `${prefix}${generateTokenId.call(this)}`
  }
}

interface Answering {
  readonly context: Context
  readonly settings: ProviderSettings
  readonly counts: Map<GrantType, number>
}

async function answerTokenRequests({ context, settings, counts }: Answering, next: () => Promise<void>): Promise<void> {
  await next()
  if (context.path !== '/token') return
  const sent = context.oidc?.params?.['grant_type']
  const grantType = (sent === DEVICE_GRANT ? 'device_code' : sent) as GrantType
  counts.set(grantType, (counts.get(grantType) ?? 0) + 1)
  await settings.beforeTokenAnswer({ grantType, status: context.status })
}

function holdTokenAnswers(settings: ProviderSettings): HeldAnswers {
  const gate = Promise.withResolvers<void>()
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  let arrived = 0
  settings.beforeTokenAnswer = () => {
    arrived += 1
    for (const { count, resolve } of waiting) if (arrived >= count) resolve()
    return gate.promise
  }
  return {
    arrived: (count = 1) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (arrived >= count) resolve()
      waiting.push({ count, resolve })
      return promise
    },
    release: () => {
      settings.beforeTokenAnswer = () => {}
      gate.resolve()
    },
  }
}

interface Interacting {
  readonly provider: Provider
  readonly settings: ProviderSettings
}

/** The user, who is always signed in as the same account and answers at once. */
async function interact(
  { provider, settings }: Interacting,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response)
  const finish = (result: object) => provider.interactionFinished(request, response, result)
  if (settings.consent === 'declined') return finish({ error: 'access_denied', error_description: 'The user said no' })
  if (prompt.name === 'login') return finish({ login: { accountId: ACCOUNT } })
  const { client_id: clientId = '', scope = '', resource } = params
  const grant = new provider.Grant({ accountId: ACCOUNT, clientId })
  grant.addOIDCScope(scope)
  if (resource !== undefined) grant.addResourceScope(resource, scope)
  return finish({ consent: { grantId: await grant.save() } })
}

async function approveDevice(browser: ScriptedBrowser, issuer: string, userCode: string): Promise<void> {
  const form = await browser.open(`${issuer}/device`)
  const confirmation = await browser.submit(form, { user_code: userCode })
  await browser.submit(confirmation)
}

async function isActive(issuer: string, token: string): Promise<boolean> {
  const { id, secret } = CONFIDENTIAL
  const response = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ token }),
  })
  const { active } = (await response.json()) as { active: boolean }
  return active
}

function endAllGrants(records: Records): void {
  for (const key of records.keys())
    if (/^(?:Grant|AccessToken|ClientCredentials|RefreshToken|grant):/.test(key)) records.delete(key)
}
