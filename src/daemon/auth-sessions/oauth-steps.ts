import { BrokerError } from '../../protocol/index.ts'
import { credentialOf, type OAuthServer, type Party, type Tokens } from '../flows/index.ts'
import { answeredBaseUrl } from '../providers/index.ts'
import { asClient, type ClientRooms, type LoginClient, providerCode } from './login-client.ts'
import type { LoginRequest } from './login-request.ts'
import type { BrowserStep, DeviceStep, Granted, Pending } from './step.ts'

/** One login at the server it will be at. */
export interface OAuthPlace {
  readonly rooms: ClientRooms
  readonly request: LoginRequest
  readonly server: OAuthServer
}

export interface OAuthLogin extends OAuthPlace {
  readonly client: LoginClient
}

/** Sends a browser to the provider. */
export async function startCode(login: OAuthLogin): Promise<BrowserStep> {
  const { flows, redirectUri } = login.rooms
  const { definition, server, client, ...started } = await flows.authorize({
    ...partyOf(login),
    redirectUri,
    scopes: scopesOf(login),
  })
  return { kind: 'browser', server, client: login.client, started }
}

/** Spends what the browser brought back. @throws BrokerError AuthenticationFailedError, EndpointUnreachableError */
export function spendCode(login: OAuthLogin & Pick<BrowserStep, 'started'>, query: URLSearchParams): Promise<Granted> {
  return asOurselves(login, async () => {
    const tokens = await login.rooms.flows.exchange({ ...login.started, ...partyOf(login) }, query)
    return grantedOf(login, tokens)
  })
}

/** Has the provider make a code. */
export async function startDevice(login: OAuthLogin): Promise<DeviceStep> {
  const { definition, server, client, ...started } = await asOurselves(login, () =>
    login.rooms.flows.startDevice({ ...partyOf(login), scopes: scopesOf(login) }),
  )
  return { kind: 'device', server, client: login.client, started }
}

/** Asks once whether the code has been entered. @param interval seconds @throws BrokerError AuthenticationFailedError */
export function pollCode(
  login: OAuthLogin & Pick<DeviceStep, 'started'>,
  interval: number,
): Promise<Granted | Pending> {
  return asOurselves(login, async () => {
    const answer = await login.rooms.flows.pollDevice({ ...login.started, ...partyOf(login) }, interval)
    return answer.kind === 'granted' ? grantedOf(login, answer.tokens) : answer
  })
}

/** Ends what was granted. Never throws for what a provider or a network may do. */
export async function revokeGrant(
  login: OAuthLogin,
  { accessToken, refreshToken }: Pick<Tokens, 'accessToken' | 'refreshToken'>,
): Promise<void> {
  await login.rooms.flows.revoke({ ...partyOf(login), accessToken, ...(refreshToken && { refreshToken }) })
}

/**
 * Those that the user asks for take the place of the definition's; where neither names any, those that the resource asks
 * for. Nobody but the user knows that a login shall end with its first token: else the means to go on is asked for too.
 */
export function scopesOf({ request, server }: OAuthPlace): readonly string[] {
  const { scopes: asked = [], provider } = request
  if (asked.length > 0) return asked
  const { flow, oauth } = provider.definition
  const named = oauth?.scopes ?? []
  if (named.length > 0) return flow === 'dcr_pkce' ? withOfflineAccess(named, server) : named
  return withOfflineAccess(server.resourceScopes ?? openIdScopes(server), server)
}

const OFFLINE_ACCESS = 'offline_access'

/** OpenID Connect Core, section 11: some give a refresh token only then. Alone it would take the place of scopes that nobody named. */
function withOfflineAccess(scopes: readonly string[], { scopesSupported = [] }: OAuthServer): readonly string[] {
  const isMissing = scopes.length > 0 && !scopes.includes(OFFLINE_ACCESS)
  return isMissing && scopesSupported.includes(OFFLINE_ACCESS) ? [...scopes, OFFLINE_ACCESS] : scopes
}

const OPENID_SCOPES: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'address', 'phone', OFFLINE_ACCESS])

/** Of a server that knows no other scopes than OpenID's, so that none is lost by asking for this one. */
function openIdScopes({ scopesSupported = [] }: OAuthServer): readonly string[] {
  const isOpenId = scopesSupported.includes('openid') && scopesSupported.every((scope) => OPENID_SCOPES.has(scope))
  return isOpenId && scopesSupported.includes(OFFLINE_ACCESS) ? ['openid'] : []
}

function asOurselves<Result>(login: OAuthLogin, work: () => Promise<Result>): Promise<Result> {
  const { rooms, request, client } = login
  return asClient(rooms, request, client, () => withScopes(login, work))
}

/** Shows the user which scopes are refused: not all of them were the user's own. */
async function withScopes<Result>(login: OAuthLogin, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    throw providerCode(cause) === 'invalid_scope' ? scopesRefused(login, cause) : cause
  }
}

function scopesRefused(login: OAuthLogin, cause: unknown): BrokerError {
  const { name, display_name } = login.request.provider.definition
  const scopes = scopesOf(login)
  const others = scopes.filter((scope) => scope !== OFFLINE_ACCESS)
  const isOurs = login.request.scopes === undefined && others.length > 0 && others.length < scopes.length
  return new BrokerError(
    'AuthenticationFailedError',
    `${display_name} does not grant what was asked for (invalid_scope): ${scopes.join(', ') || 'no scope at all'}`,
    {
      provider: name,
      hint: `Name the scopes to ask for: broker login ${name} --scopes ${isOurs ? others.join(',') : '<s1,s2>'}`,
      cause,
    },
  )
}

function partyOf({ request, server, client }: OAuthLogin): Party {
  return { definition: request.provider.definition, server, client: client.client }
}

/** @throws BrokerError where the answer says that the API is where it cannot be */
function grantedOf(login: OAuthLogin, tokens: Tokens): Granted {
  const { request, server, client } = login
  const { accessToken, refreshToken, expiresAt, account, scopes, apiUrl } = tokens
  const token = { accessToken, ...(refreshToken && { refreshToken }) }
  const baseUrl = answeredBaseUrl(request.provider.definition, apiUrl) ?? request.baseUrl
  return {
    kind: 'granted',
    connection: {
      credential: { kind: 'oauth2', fields: credentialOf({ ...token, client: sealedClient(client), server }) },
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(account && { account }),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(client.kept && { client: client.kept }),
    },
    revocable: { kind: 'grant', server, client, ...token },
  }
}

/** A user's own app is stored once for all its connections; that of another provider may be removed with it. */
function sealedClient({ client, origin }: LoginClient): LoginClient['client'] {
  return origin === 'registration' || origin === 'family' ? client : { id: client.id, auth: client.auth }
}
