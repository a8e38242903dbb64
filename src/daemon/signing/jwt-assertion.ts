import { type KeyObject, sign } from 'node:crypto'
import { Secret } from '../../protocol/index.ts'
import type { ServiceAccount } from './service-account.ts'

const HOUR = 3600
/** A clock that is behind ours must not find it issued in the future. */
const BACKDATED = 60
/** GitHub takes ten minutes at most, by its own clock. */
const APP_LIFETIME = 9 * 60

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
  return rs256({ ...(keyId !== undefined && { kid: keyId }) }, claims, key)
}

/** Says who an app is, for less than ten minutes. @param now in milliseconds */
export function appAssertion(appId: string, key: KeyObject, now: number): Secret {
  const at = Math.floor(now / 1000)
  return rs256({}, { iat: at - BACKDATED, exp: at + APP_LIFETIME, iss: appId }, key)
}

function rs256(header: object, claims: object, key: KeyObject): Secret {
  const content = [{ alg: 'RS256', typ: 'JWT', ...header }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return new Secret(`${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`)
}
