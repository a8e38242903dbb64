/** The one place where the secrets of a request to a provider become its body and headers. */
import * as oauth from 'oauth4webapi'
import type { Secret } from '../../protocol/index.ts'
import type { AssertingClient, OAuthClient } from './flows.ts'

/** A party as the library wants it. */
export interface LibraryParty {
  readonly as: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly auth: oauth.ClientAuth
}

type Options = oauth.TokenEndpointRequestOptions

/** RFC 6749 section 6. */
export function requestRefresh({ as, client, auth }: LibraryParty, refreshToken: Secret, options: Options) {
  return oauth.refreshTokenGrantRequest(as, client, auth, refreshToken.reveal(), options)
}

export interface CheckedReturn {
  /** What the library has made of the query that the browser came back with. */
  readonly checked: URLSearchParams
  readonly redirectUri: string
  readonly verifier: Secret
}

/** RFC 6749 section 4.1.3, RFC 7636 section 4.5. */
export function requestExchange(
  { as, client, auth }: LibraryParty,
  { checked, redirectUri, verifier }: CheckedReturn,
  options: Options,
) {
  return oauth.authorizationCodeGrantRequest(as, client, auth, checked, redirectUri, verifier.reveal(), options)
}

/** RFC 8628 section 3.4. */
export function requestDeviceToken({ as, client, auth }: LibraryParty, deviceCode: Secret, options: Options) {
  return oauth.deviceCodeGrantRequest(as, client, auth, deviceCode.reveal(), options)
}

/** RFC 7009 section 2.1. */
export function requestRevocation(
  { as, client, auth }: LibraryParty,
  token: Secret,
  options: oauth.RevocationRequestOptions,
) {
  return oauth.revocationRequest(as, client, auth, token.reveal(), options)
}

/** The body of RFC 7523 section 2.1. */
export function assertionBody(assertion: Secret): string {
  return new URLSearchParams({ grant_type: JWT_BEARER, assertion: assertion.reveal() }).toString()
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** The header of RFC 6750 section 2.1. */
export function bearer(token: Secret): string {
  return `Bearer ${token.reveal()}`
}

/** Returns how a client shows itself. */
export function clientAuth(client: OAuthClient | AssertingClient): oauth.ClientAuth {
  if (client.auth === 'private_key_jwt') return clientAssertion(client.assertion.reveal())
  const { auth, secret } = client
  if (auth === 'none' || secret === undefined) return oauth.None()
  return auth === 'client_secret_basic' ? clientSecretBasic(secret.reveal()) : oauth.ClientSecretPost(secret.reveal())
}

/** As the library does it, but `-`, `.` and `_` stay as they are: many a provider compares without decoding. */
function clientSecretBasic(secret: string): oauth.ClientAuth {
  return (_as, { client_id }, _body, headers) => {
    const credentials = `${formEncoded(client_id)}:${formEncoded(secret)}`
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`)
  }
}

/** RFC 7523 section 2.2. The id stands beside it: not every server looks for it in the assertion. */
function clientAssertion(assertion: string): oauth.ClientAuth {
  return (_as, { client_id }, body) => {
    body.set('client_id', client_id)
    body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    body.set('client_assertion', assertion)
  }
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
