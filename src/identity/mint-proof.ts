import { hash, randomBytes } from 'node:crypto'
import type { SigningKey } from './signing-key.ts'

export interface ProofTarget {
  /** Handle of the identity that acts (`sub`). */
  readonly handle: string
  /** Upper case. */
  readonly method: string
  /** Absolute, with its query, byte for byte as it will be sent. */
  readonly url: string
  /** Raw bytes of the body; empty where there is none. */
  readonly body: Uint8Array
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

const HEADER = encode({ typ: 'pop+jwt', alg: 'EdDSA' })
const LIFETIME_SECONDS = 30

/** The JWT for `Authorization: PoP <jwt>`: good for one request, for 30 seconds (contract section 4). */
export function mintProof(key: SigningKey, { handle, method, url, body, now = Date.now }: ProofTarget): string {
  const iat = Math.floor(now() / 1000)
  const claims = {
    iss: key.did,
    sub: handle,
    htm: method,
    htu: url,
    body_sha256: hash('sha256', body, 'base64url'),
    iat,
    exp: iat + LIFETIME_SECONDS,
    jti: randomBytes(16).toString('base64url'),
  }
  const signingInput = `${HEADER}.${encode(claims)}`
  return `${signingInput}.${key.sign(Buffer.from(signingInput)).toString('base64url')}`
}

function encode(json: object): string {
  return Buffer.from(JSON.stringify(json)).toString('base64url')
}
