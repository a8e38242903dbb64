import type { TokenEndpointResponse } from 'oauth4webapi'
import { Secret } from '../../protocol/index.ts'
import { repeats } from './echo.ts'
import type { Party, Tokens } from './flows.ts'
import type { Outbound } from './outbound-request.ts'
import { BadAnswer } from './provider-failure.ts'
import { scopesIn, type TokenAnswer } from './token-answer.ts'

/** What is asked of the provider, and with what. */
export interface Means {
  readonly ask: Outbound
  readonly now: () => number
}

export interface TokenRequest {
  /** Scopes, for a provider that does not say. */
  readonly asked: readonly string[]
  readonly now: number
  /** Secrets that it carried. */
  readonly sent: readonly Secret[]
}

/** Tokens out of an answer that the library has passed. What is no secret of it repeats none. */
export function tokensOf(
  body: TokenEndpointResponse,
  { apiUrl }: TokenAnswer,
  { asked, now, sent }: TokenRequest,
): Tokens {
  // DPoP, which the library knows: our requests prove no key.
  if (body.token_type !== 'bearer') throw new BadAnswer('granted a token that is no bearer token')
  const granted = grantedIn(body)
  const isSecret = (text: string) => repeats(text, [...sent, ...Object.values(granted)])
  return {
    ...granted,
    ...(body.expires_in !== undefined && { expiresAt: now + body.expires_in * 1000 }),
    scopes: body.scope === undefined || isSecret(body.scope) ? asked : scopesIn(body.scope),
    ...(apiUrl !== undefined && !isSecret(new URL(apiUrl).host) && { apiUrl }),
  }
}

/** The secrets of an answer. */
export function grantedIn({ access_token: accessToken, refresh_token: refreshToken }: TokenEndpointResponse) {
  return {
    accessToken: new Secret(accessToken),
    ...(refreshToken !== undefined && { refreshToken: new Secret(refreshToken) }),
  }
}

/** Returns what every token request of a provider carries beside the grant (RFC 8707: the resource). */
export function furtherParameters({
  definition,
  server,
}: Pick<Party, 'definition' | 'server'>): Record<string, string> {
  const { token_params: parameters = {}, grant } = definition.oauth ?? {}
  // What has values of a client in it is for the client's own tokens.
  const own = Object.entries(parameters).filter(([, value]) => grant !== 'client_credentials' || !/\{[a-z]/.test(value))
  return { ...Object.fromEntries(own), ...(server.resource !== undefined && { resource: server.resource }) }
}

/** Scopes in one parameter, as the provider separates them; nothing where there are none. */
export function scopeParameter(
  { definition }: Pick<Party, 'definition'>,
  scopes: readonly string[],
): { readonly scope?: string } {
  return scopes.length === 0 ? {} : { scope: scopes.join(definition.oauth?.scope_separator ?? ' ') }
}

/** An ID token counts where it was asked for, and where one can say whose it has to be. */
export function idTokenOf({ server }: Pick<Party, 'server'>, scopes: readonly string[]): 'wanted' | 'ignored' {
  return server.issuer !== undefined && scopes.includes('openid') ? 'wanted' : 'ignored'
}
