import * as oauth from 'oauth4webapi'
import type { ProviderDefinition } from '../../schemas/index.ts'
import type { AssertingClient, OAuthClient, OAuthServer, Party } from './flows.ts'
import type { Reach } from './guarded-lookup.ts'
import type { Outbound } from './outbound-request.ts'
import { BadAnswer, ProviderRefusal } from './provider-failure.ts'
import { quirk, type RequestKind, withQuirks } from './quirks.ts'
import { clientAuth, type LibraryParty } from './secret-requests.ts'

/** What no server may sign with: nothing, and secrets that a client has too. The signature itself is TLS's to replace. */
const SIGNATURES = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** Seconds by which clocks may differ. */
export const CLOCK_TOLERANCE = 60

export function libraryParty({
  server,
  client,
}: Pick<Party, 'server'> & { readonly client: OAuthClient | AssertingClient }): LibraryParty {
  return {
    as: {
      issuer: issuerName(server),
      id_token_signing_alg_values_supported: SIGNATURES,
      authorization_response_iss_parameter_supported: server.sendsIssuer,
      ...(server.authorizationUrl && { authorization_endpoint: server.authorizationUrl }),
      ...(server.tokenUrl && { token_endpoint: server.tokenUrl }),
      ...(server.deviceAuthorizationUrl && { device_authorization_endpoint: server.deviceAuthorizationUrl }),
      ...(server.revocationUrl && { revocation_endpoint: server.revocationUrl }),
      ...(server.registrationUrl && { registration_endpoint: server.registrationUrl }),
    },
    client: { client_id: client.id, [oauth.clockTolerance]: CLOCK_TOLERANCE },
    auth: clientAuth(client),
  }
}

/** A name for every server; one that has none goes by its origin. */
export function issuerName({ issuer, authorizationUrl, tokenUrl }: OAuthServer): string {
  return issuer ?? new URL(tokenUrl ?? authorizationUrl ?? 'about:blank').origin
}

/**
 * The library's refusals as ours: it keeps what it read with its errors, and that may hold a token. Its messages are
 * fixed sentences.
 */
export async function understood<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError)
      throw new ProviderRefusal(error.error, error.error_description)
    if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
      throw new BadAnswer(`broke the protocol: ${error.message}`)
    throw error
  }
}

/** For the library's requests: our own way out, with the provider's quirks on the way. */
export function fetchOptions(party: Pick<Party, 'definition' | 'server'>, kind: RequestKind, ask: Outbound) {
  return {
    // What may be asked without TLS is the way out's to say: loopback, and nothing else.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: async (
      url: string,
      { headers, body }: { headers: Record<string, string>; body: URLSearchParams },
    ) => {
      const { authorization } = headers
      const { response } = await ask({
        method: 'POST',
        url,
        reach: reachOf(party, url),
        headers: {
          ...fixedHeaders(party.definition, url),
          ...(authorization !== undefined && { authorization }),
          'content-type': contentType(party.definition),
        },
        body: encoded(party.definition, withQuirks(party.definition, kind, body)),
      })
      return response
    },
  } as const
}

/** Of an API that is asked for tokens at its own host too: Notion wants its version there as well. */
function fixedHeaders({ hosts, headers = {} }: ProviderDefinition, url: string): Readonly<Record<string, string>> {
  if (!hosts.includes(new URL(url).host)) return {}
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function contentType(definition: ProviderDefinition): string {
  return quirk(definition, 'json') ? 'application/json' : 'application/x-www-form-urlencoded;charset=UTF-8'
}

function encoded(definition: ProviderDefinition, parameters: URLSearchParams): string {
  return quirk(definition, 'json') ? JSON.stringify(Object.fromEntries(parameters)) : parameters.toString()
}

/** Tells what the definition names, which a person chose and may be anywhere, from what a server named. */
export function reachOf(
  { definition: { oauth: named = { scopes: [] } }, server }: Pick<Party, 'definition' | 'server'>,
  url: string,
): Reach {
  const own = [
    named.token_url,
    named.refresh_url,
    named.device_authorization_url,
    named.revocation_url,
    named.registration_url,
    named.userinfo_url,
  ]
  return server.isPrivate === true || own.some((each) => each !== undefined && leadsTo(each, url))
    ? 'private'
    : 'public'
}

/** The definition's endpoint may be the tenant's: then all but its beginning is the definition's. */
function leadsTo(named: string, url: string): boolean {
  if (named.startsWith('{base_url}/')) return url.endsWith(named.slice('{base_url}'.length))
  return URL.parse(named)?.href === url
}
