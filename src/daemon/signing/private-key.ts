import { createPrivateKey, type KeyObject } from 'node:crypto'

const SMALLEST_MODULUS = 2048

/** A key that an OAuth client signs with, and the algorithm that goes with it (RFC 7518 section 3.1). */
export interface ClientKey {
  readonly alg: 'RS256' | 'ES256'
  readonly key: KeyObject
}

/** An RSA key of 2048 bits or more, PKCS #1 or PKCS #8 as PEM, without a passphrase. Undefined for all else. */
export function parsePrivateKey(pem: string): KeyObject | undefined {
  const key = parsePem(pem)
  return key && isRsa(key) ? key : undefined
}

/** Such an RSA key, or one of the curve P-256. */
export function parseClientKey(pem: string): ClientKey | undefined {
  const key = parsePem(pem)
  if (!key) return undefined
  if (isRsa(key)) return { alg: 'RS256', key }
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? { alg: 'ES256', key } : undefined
}

function parsePem(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    // What it says of the key is not for anyone's eyes.
    return undefined
  }
}

function isRsa({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= SMALLEST_MODULUS
}
