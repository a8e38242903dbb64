import { createPrivateKey, type KeyObject } from 'node:crypto'

const SMALLEST_MODULUS = 2048

/** An RSA key of 2048 bits or more, PKCS #1 or PKCS #8 as PEM, without a passphrase. Undefined for all else. */
export function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey({ key: pem, format: 'pem' })
    const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
    return key.asymmetricKeyType === 'rsa' && modulusLength >= SMALLEST_MODULUS ? key : undefined
  } catch {
    // What it says of the key is not for anyone's eyes.
    return undefined
  }
}
