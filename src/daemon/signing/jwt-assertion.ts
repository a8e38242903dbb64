import { type KeyObject, randomUUID, sign } from 'node:crypto'
import { Secret } from '../../protocol/index.ts'
import type { ClientKey } from './private-key.ts'
import type { ServiceAccount } from './service-account.ts'

const HOUR = 3600
/** A clock that is behind ours must not find it issued in the future. */
const BACKDATED = 60
/** GitHub takes ten minutes at most, by its own clock. */
const APP_LIFETIME = 9 * 60
/** It is shown once, at once. */
const CLIENT_LIFETIME = 2 * 60

export interface Grant {
  /** Where it will be shown, exactly. */
  readonly tokenUrl: string
  readonly scopes: readonly string[]
  /** The user that the account acts for, by domain-wide delegation. */
  readonly subject?: string
}

/** Says who a service account is, to one token endpoint, for an hour (RFC 7523 section 3). @param now in milliseconds */
export function serviceAccountAssertion(
  { email, keyId, key }: ServiceAccount,
  { tokenUrl, scopes, subject }: Grant,
  now: number,
): Secret {
  const issuedAt = Math.floor(now / 1000)
  const claims = {
    iss: email,
    ...(subject !== undefined && { sub: subject }),
    aud: tokenUrl,
    scope: scopes.join(' '),
    iat: issuedAt,
    exp: issuedAt + HOUR,
  }
  return signedJwt({ ...(keyId !== undefined && { kid: keyId }) }, claims, { alg: 'RS256', key })
}

/** Says who an app is, for less than ten minutes. @param now in milliseconds */
export function appAssertion(appId: string, key: KeyObject, now: number): Secret {
  const at = Math.floor(now / 1000)
  return signedJwt({}, { iat: at - BACKDATED, exp: at + APP_LIFETIME, iss: appId }, { alg: 'RS256', key })
}

export interface Client {
  readonly id: string
  readonly keyId?: string
  readonly key: ClientKey
}

/**
 * Says who an OAuth client is, for one request (RFC 7523 section 3, OpenID Connect Core section 9).
 * @param audience the server that it is for, as that wants to be called
 * @param now in milliseconds
 */
export function clientAssertion({ id, keyId, key }: Client, audience: string, now: number): Secret {
  const issuedAt = Math.floor(now / 1000)
  const claims = {
    iss: id,
    sub: id,
    aud: audience,
    jti: randomUUID(),
    iat: issuedAt - BACKDATED,
    exp: issuedAt + CLIENT_LIFETIME,
  }
  return signedJwt({ ...(keyId !== undefined && { kid: keyId }) }, claims, key)
}

function signedJwt(header: object, claims: object, { alg, key }: ClientKey): Secret {
  const content = [{ alg, typ: 'JWT', ...header }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  // RFC 7518 section 3.4: the two numbers of an ES256 signature side by side, not as DER.
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' })
  return new Secret(`${content}.${signature.toString('base64url')}`)
}
