import { isLoopback } from '../../network/index.ts'
import { BrokerError, Secret } from '../../protocol/index.ts'
import { requireChallengeMethod } from './authorize.ts'
import { CLIENT_NAME, clientMetadataUrl, redirectUriOf } from './client-metadata-document.ts'
import { repeats } from './echo.ts'
import type { OAuthClient, OAuthServer, RegisteredClient, RegistrationRequest } from './flows.ts'
import { issuerName, reachOf } from './library-party.ts'
import type { Outbound } from './outbound-request.ts'
import { BadAnswer, headOf } from './provider-failure.ts'
import { type JsonObject, readAnswer } from './token-answer.ts'

interface Registration extends RegistrationRequest {
  /** Where others find our client metadata document. */
  readonly publicUrl?: string
}

/**
 * A client of our own at a server (RFC 7591), or, where it reads such, our metadata document.
 * @throws ProviderRefusal, BadAnswer, Unreachable; BrokerError OperationNotAllowedError where it takes no strangers
 */
export async function register(ask: Outbound, wanted: Registration): Promise<RegisteredClient> {
  const { server, redirectUri, publicUrl } = wanted
  requireChallengeMethod(server)
  const issuer = issuerName(server)
  if (server.takesMetadataDocument && publicUrl !== undefined && redirectUri === redirectUriOf(publicUrl))
    return { id: clientMetadataUrl(publicUrl), auth: 'none', issuer, redirectUri }
  return { ...(await registeredClient(ask, wanted)), issuer, redirectUri }
}

type ClientMade = Omit<RegisteredClient, 'issuer' | 'redirectUri'>

async function registeredClient(ask: Outbound, wanted: Registration): Promise<ClientMade> {
  const { registrationUrl } = wanted.server
  if (registrationUrl === undefined) throw takesNoStrangers('has no registration')
  const asked = clientMetadata(wanted)
  const { response } = await ask({
    method: 'POST',
    url: registrationUrl,
    reach: reachOf(wanted, registrationUrl),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  })
  if (response.status === 401 || response.status === 403) throw takesNoStrangers('registers only clients it knows')
  return clientIn(await readAnswer(response), { asked, server: wanted.server, response })
}

interface ClientMetadata {
  readonly redirect_uris: readonly [string]
  readonly token_endpoint_auth_method: OAuthClient['auth']
  readonly [member: string]: unknown
}

/** Returns what we ask to be: nothing that the server does not list. */
function clientMetadata({ server, redirectUri, scopes }: Registration): ClientMetadata {
  const { grantTypes } = server
  const grants = ['authorization_code', 'refresh_token'].filter((each) => grantTypes?.includes(each) ?? true)
  return {
    client_name: CLIENT_NAME,
    // OpenID Connect Registration, section 2: a web application may not come back to loopback.
    application_type: isLoopback(new URL(redirectUri).hostname) ? 'native' : 'web',
    redirect_uris: [redirectUri],
    response_types: ['code'],
    grant_types: grants,
    token_endpoint_auth_method: authMethod(server.clientAuth),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
}

/** How a client of ours can prove itself, the least first. */
export const CLIENT_AUTH_METHODS = ['none', 'client_secret_post', 'client_secret_basic'] as const

/** The least that the server lists; what it does not list it may still take, so that a server without a list is asked for none. */
function authMethod(listed: readonly string[] | undefined): OAuthClient['auth'] {
  return CLIENT_AUTH_METHODS.find((method) => listed?.includes(method) ?? true) ?? 'none'
}

interface AskedOf {
  readonly asked: ClientMetadata
  readonly server: OAuthServer
  readonly response: Response
}

function clientIn(answer: JsonObject, { asked, server, response }: AskedOf): ClientMade {
  const { client_id: id, client_secret: secret, redirect_uris: redirectUris } = answer
  const refuse = (problem: string) => new BadAnswer(problem, headOf(response))
  if (!isPrintable(id)) throw refuse('registered a client whose id cannot be one')
  if (secret !== undefined && secret !== null && secret !== '' && !isPrintable(secret))
    throw refuse('registered a client whose secret cannot be one')
  if (repeats(id, [secret, answer['registration_access_token']].filter(isPrintable).map(asSecret)))
    throw refuse('registered a client whose id gives its secret away')
  if (redirectUris !== undefined && JSON.stringify(redirectUris) !== JSON.stringify(asked.redirect_uris))
    throw refuse('registered another redirect URI than ours')
  const demand = DEMANDS.find(([member]) => answer[member] === true)
  if (demand) throw refuse(`registered a client that has to ${demand[1]}, which Broker does not do`)
  const auth = grantedAuth(answer, asked, server)
  if (auth === undefined) throw refuse('registered a client that has to prove itself in a way we do not know')
  if (auth === 'none' || !isPrintable(secret)) return { id, auth: 'none' }
  const expiresAt = answer['client_secret_expires_at']
  const ends = typeof expiresAt === 'number' && Number.isFinite(expiresAt) && expiresAt > 0
  return { id, auth, secret: new Secret(secret), ...(ends && { secretExpiresAt: expiresAt * 1000 }) }
}

/** RFC 9449, section 5.2; RFC 8705, section 3.4; RFC 9126, section 6; RFC 9101, section 10.5. */
const DEMANDS = [
  ['dpop_bound_access_tokens', 'bind its tokens to a key (DPoP)'],
  ['tls_client_certificate_bound_access_tokens', 'bind its tokens to a certificate'],
  ['require_pushed_authorization_requests', 'push its authorization requests (PAR)'],
  ['require_signed_request_object', 'sign its authorization requests (JAR)'],
] as const

/** As the server decided; where it does not say, as was asked, unless it made a secret that nobody asked for. */
function grantedAuth(answer: JsonObject, asked: ClientMetadata, { clientAuth }: OAuthServer) {
  const { token_endpoint_auth_method: said, client_secret: secret } = answer
  if (said !== undefined) return CLIENT_AUTH_METHODS.find((method) => method === said)
  if (asked.token_endpoint_auth_method !== 'none' || !isPrintable(secret)) return asked.token_endpoint_auth_method
  return clientAuth?.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post'
}

function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && /^[!-~](?:[ -~]{0,1998}[!-~])?$/.test(value)
}

function asSecret(text: string): Secret {
  return new Secret(text)
}

function takesNoStrangers(why: string): BrokerError {
  return new BrokerError('OperationNotAllowedError', `Cannot register at this server: it ${why}`, {
    hint: 'Make an OAuth app of your own there, and log in with --flow pkce.',
  })
}
