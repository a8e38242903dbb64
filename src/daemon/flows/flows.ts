import type { Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'

/** Who we are to a provider. */
export interface OAuthClient {
  readonly id: string
  readonly secret?: Secret
  readonly auth: 'none' | 'client_secret_post' | 'client_secret_basic'
}

/** The same by an assertion of its own, which is good for one request (RFC 7523 section 2.2). */
export interface AssertingClient {
  readonly id: string
  readonly auth: 'private_key_jwt'
  readonly assertion: Secret
}

/** A client that a server made for us (RFC 7591). Good for this issuer and this redirect URI alone. */
export interface RegisteredClient extends OAuthClient {
  readonly issuer: string
  readonly redirectUri: string
  /** Milliseconds since 1970; absent where the secret does not end. */
  readonly secretExpiresAt?: number
}

/**
 * What a server may insist on: authorization requests that are pushed (RFC 9126) or signed (RFC 9101), tokens that are
 * bound to a key (RFC 9449).
 */
export type Demand = 'pushed_requests' | 'signed_requests' | 'bound_tokens'

/** The endpoints of one authorization server: out of a definition, or discovered. */
export interface OAuthServer {
  /** Absent where the definition names endpoints and no issuer. */
  readonly issuer?: string
  readonly authorizationUrl?: string
  readonly tokenUrl?: string
  /** Where refreshes go, if not to `tokenUrl`. */
  readonly refreshUrl?: string
  readonly deviceAuthorizationUrl?: string
  readonly revocationUrl?: string
  readonly registrationUrl?: string
  readonly userinfoUrl?: string
  /** The protected resource that tokens are asked for (RFC 8707). */
  readonly resource?: string
  /** Scopes that the resource itself asks for (RFC 9728, `WWW-Authenticate`). */
  readonly resourceScopes?: readonly string[]
  /** The server says that its redirects carry `iss` (RFC 9207). */
  readonly sendsIssuer: boolean
  /** How clients may authenticate at the token endpoint; absent where it does not say. */
  readonly clientAuth?: readonly string[]
  readonly grantTypes?: readonly string[]
  /** It takes the URL of a metadata document for a client id. */
  readonly takesMetadataDocument: boolean
  /** PKCE methods it lists; absent where it lists none. */
  readonly challengeMethods?: readonly string[]
  /** Scopes it lists; absent where it lists none. */
  readonly scopesSupported?: readonly string[]
  /** Ways in which it wants to be asked, and only so, that are not ours; absent where there are none. */
  readonly demands?: readonly Demand[]
  /** What it said of itself came from a private address: so may what it names. */
  readonly isPrivate?: boolean
}

/** What a provider granted. */
export interface Tokens {
  readonly accessToken: Secret
  readonly refreshToken?: Secret
  /** Milliseconds since 1970; absent where the provider does not say. */
  readonly expiresAt?: number
  /** As granted; those that were asked for where the answer does not say. */
  readonly scopes: readonly string[]
  /** Where the answer says the API is, as it says it; only with a quirk that looks for it. */
  readonly apiUrl?: string
  readonly account?: { readonly id?: string; readonly label?: string }
}

/** One client at one server of one provider. */
export interface Party {
  readonly definition: ProviderDefinition
  readonly server: OAuthServer
  readonly client: OAuthClient
}

export interface AuthorizationRequest extends Party {
  readonly redirectUri: string
  readonly scopes: readonly string[]
}

export type RegistrationRequest = Omit<AuthorizationRequest, 'client'>

/** A browser is on its way to the provider; held in memory until it comes back. */
export interface StartedAuthorization extends AuthorizationRequest {
  /** https, or http on loopback. */
  readonly url: string
  readonly state: string
  readonly verifier: Secret
  readonly nonce?: string
}

export interface DeviceRequest extends Party {
  readonly scopes: readonly string[]
}

export interface StartedDevice extends DeviceRequest {
  readonly deviceCode: Secret
  readonly userCode: string
  /** https, or http on loopback. */
  readonly verificationUri: string
  readonly verificationUriComplete?: string
  /** Seconds between polls, 1 to 60. */
  readonly interval: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

export type DevicePoll =
  | { readonly kind: 'granted'; readonly tokens: Tokens }
  /** Not yet; `interval` is what to keep from now on, in seconds. */
  | { readonly kind: 'pending'; readonly interval: number }

export interface RefreshRequest extends Party {
  readonly refreshToken: Secret
  /** What the tokens were granted for. */
  readonly scopes: readonly string[]
}

export type RefreshOutcome =
  | { readonly kind: 'refreshed'; readonly tokens: Tokens }
  /** The provider will never take this refresh token again. `reason` is its error code, or ours. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /**
   * It may take it later. `retryAfter`: seconds the provider asks for. `answered`: it said so itself, or was never
   * asked; without an answer it may have spent the token. `refused`: it said no, in words that no standard has.
   */
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly retryAfter?: number
      readonly answered: boolean
      readonly refused?: true
    }

/** Asks for a token for the client itself (RFC 6749 section 4.4). */
export interface ClientRequest extends Omit<Party, 'client'> {
  readonly client: OAuthClient | AssertingClient
  readonly scopes: readonly string[]
  /** Beside what the grant needs. */
  readonly parameters: Readonly<Record<string, string>>
}

/** Asks for a token with an assertion that was signed for it. */
export interface AssertionRequest {
  readonly definition: ProviderDefinition
  /** `grant`: RFC 7523 section 2.1. `caller`: it says who is asking, and the URL for what, as GitHub has it. */
  readonly shown: 'grant' | 'caller'
  /** The definition's own. */
  readonly tokenUrl: string
  readonly assertion: Secret
  readonly scopes: readonly string[]
}

/** What is left to revoke of a connection. */
export interface RevocationRequest extends Omit<Party, 'client'> {
  readonly client: OAuthClient | AssertingClient
  readonly accessToken: Secret
  readonly refreshToken?: Secret
}

export type RevocationOutcome = 'revoked' | 'unsupported' | 'failed'

/** How providers are asked. Keeps nothing. */
export interface Flows {
  /**
   * The server of a provider: what the definition names, and what its issuer or its resource says of itself.
   * `baseUrl` is the tenant's, for endpoints on it.
   * @throws BrokerError EndpointUnreachableError, AuthenticationFailedError where the metadata cannot be trusted
   */
  discover(definition: ProviderDefinition, baseUrl?: string): Promise<OAuthServer>
  /** @throws BrokerError EndpointUnreachableError, AuthenticationFailedError, OperationNotAllowedError where it takes no strangers */
  register(request: RegistrationRequest): Promise<RegisteredClient>
  /** Authorization code with PKCE S256. */
  authorize(request: AuthorizationRequest): Promise<StartedAuthorization>
  /**
   * Takes what the browser brought back. Its `state` has been compared.
   * @throws BrokerError AuthenticationFailedError, EndpointUnreachableError
   */
  exchange(started: StartedAuthorization, callback: URLSearchParams): Promise<Tokens>
  /** @throws BrokerError AuthenticationFailedError, EndpointUnreachableError */
  startDevice(request: DeviceRequest): Promise<StartedDevice>
  /** Asks once. `interval` is that of the last answer. @throws BrokerError AuthenticationFailedError: denied, expired, refused */
  pollDevice(started: StartedDevice, interval: number): Promise<DevicePoll>
  /** Spends the refresh token. Never throws for what a provider or a network may do. */
  refresh(request: RefreshRequest): Promise<RefreshOutcome>
  /** Gets a first token for a client. @throws BrokerError AuthenticationFailedError, EndpointUnreachableError */
  logInAsClient(request: ClientRequest): Promise<Tokens>
  /** Gets a token for a client that has had one. Never throws for what a provider or a network may do. */
  grantToClient(request: ClientRequest): Promise<RefreshOutcome>
  /** Exchanges an assertion for a token. Never throws for what a provider or a network may do. */
  assert(request: AssertionRequest): Promise<RefreshOutcome>
  /** RFC 7009, the refresh token first. Never throws for what a provider or a network may do. */
  revoke(request: RevocationRequest): Promise<RevocationOutcome>
}
