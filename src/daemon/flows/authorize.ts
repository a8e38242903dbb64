import * as oauth from 'oauth4webapi'
import { Secret } from '../../protocol/index.ts'
import type { AuthorizationRequest, OAuthServer, Party, StartedAuthorization } from './flows.ts'
import { BadAnswer } from './provider-failure.ts'
import { withQuirks } from './quirks.ts'
import { idTokenOf, scopeParameter } from './tokens.ts'

/** Authorization code with PKCE S256 (RFC 7636), state and, for OpenID, nonce: 256 random bits each. */
export async function authorize(request: AuthorizationRequest): Promise<StartedAuthorization> {
  requireChallengeMethod(request.server)
  const state = oauth.generateRandomState()
  const verifier = oauth.generateRandomCodeVerifier()
  const nonce = idTokenOf(request, request.scopes) === 'wanted' ? oauth.generateRandomNonce() : undefined
  const parameters = {
    ...request.definition.oauth?.authorize_params,
    response_type: 'code',
    client_id: request.client.id,
    redirect_uri: request.redirectUri,
    ...scopeParameter(request, request.scopes),
    ...promptFor(request),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(nonce !== undefined && { nonce }),
    ...(request.server.resource !== undefined && { resource: request.server.resource }),
  }
  const url = authorizationUrl(request, new URLSearchParams(parameters))
  return { ...request, url, state, verifier: new Secret(verifier), ...(nonce !== undefined && { nonce }) }
}

/** Without it a server of OpenID may leave out what it was asked for (OpenID Connect Core, section 11). */
function promptFor({ definition, server, scopes }: AuthorizationRequest): { readonly prompt?: 'consent' } {
  const { scopes: named, authorize_params: own } = definition.oauth ?? { scopes: [] }
  const isDiscovered = server.scopesSupported?.includes('offline_access') && !named.includes('offline_access')
  return isDiscovered && scopes.includes('offline_access') && own?.['prompt'] === undefined ? { prompt: 'consent' } : {}
}

/** The endpoint's own query stays. Spaces are sent as %20: some do not know `+`. */
function authorizationUrl({ definition, server }: Party, parameters: URLSearchParams): string {
  const url = new URL(server.authorizationUrl ?? noEndpoint())
  for (const [name, value] of withQuirks(definition, 'authorization', parameters)) url.searchParams.set(name, value)
  url.search = url.search.replaceAll('+', '%20')
  return url.href
}

function noEndpoint(): never {
  throw new BadAnswer('names no authorization endpoint')
}

/** No server may be used that says it does not know S256. @throws BadAnswer */
export function requireChallengeMethod({ challengeMethods }: OAuthServer): void {
  if (challengeMethods?.includes('S256') ?? true) return
  throw new BadAnswer('does not protect logins by PKCE with S256')
}
