import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
  verify,
} from 'node:crypto'
import { BrokerError, Secret } from '../protocol/index.ts'
import { didOf, publicKeyOf } from './did-key.ts'

/** An Ed25519 key that signs; its private half leaves only as PKCS#8 PEM. */
export interface SigningKey {
  /** did:key of the public half. */
  readonly did: string
  sign(data: Uint8Array): Buffer
  toPem(): Secret
}

export function generateSigningKey(): SigningKey {
  return signingKey(generateKeyPairSync('ed25519').privateKey)
}

/**
 * @param name of the file it comes from, for the error
 * @throws BrokerError AuthenticationFailedError where the text is not the PEM of an Ed25519 private key
 */
export function signingKeyFromPem(pem: Secret, name: string): SigningKey {
  const key = parsePem(pem)
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw new BrokerError('AuthenticationFailedError', `The key "${name}" is not an Ed25519 private key in PEM form`)
  }
  return signingKey(key)
}

function parsePem(pem: Secret): KeyObject | undefined {
  try {
    return createPrivateKey(pem.reveal())
  } catch {
    return undefined
  }
}

function signingKey(key: KeyObject): SigningKey {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    did: didOf(spki.subarray(-32)),
    sign: (data) => signBytes(null, data, key),
    toPem: () => new Secret(key.export({ format: 'pem', type: 'pkcs8' }).toString()),
  }
}

/** Returns whether the key that `did` names made this signature. False for every malformed input. */
export function verifySignature(did: string, data: Uint8Array, signature: Uint8Array): boolean {
  const key = rememberedKeyOf(did)
  return key !== undefined && signature.length === 64 && verify(null, data, key, signature)
}

// Building the key object costs as much as half a verification, and the same few identities sign every request.
const REMEMBERED_KEYS = 256
const remembered = new Map<string, KeyObject>()

function rememberedKeyOf(did: string): KeyObject | undefined {
  const known = remembered.get(did)
  if (known) return known
  const key = publicKeyOf(did)
  if (!key) return undefined
  if (remembered.size >= REMEMBERED_KEYS) remembered.clear()
  remembered.set(did, key)
  return key
}
