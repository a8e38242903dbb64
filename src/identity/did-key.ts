import { createPublicKey, type KeyObject } from 'node:crypto'
import { base58 } from '@scure/base'

const PREFIX = 'did:key:z'
/** Multicodec of an Ed25519 public key, as a varint. */
const ED25519 = Uint8Array.of(0xed, 0x01)
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex')

/** did:key of a raw 32-byte Ed25519 public key (W3C did:key, contract section 4). */
export function didOf(publicKey: Uint8Array): string {
  return PREFIX + base58.encode(Uint8Array.of(...ED25519, ...publicKey))
}

/** The key a did:key names, or undefined where it names none that may be trusted with a signature. */
export function publicKeyOf(did: string): KeyObject | undefined {
  const raw = rawKeyOf(did)
  if (!raw || !isStrong(raw)) return undefined
  return createPublicKey({ key: Buffer.concat([SPKI_HEADER, raw]), format: 'der', type: 'spki' })
}

function rawKeyOf(did: string): Uint8Array | undefined {
  if (!did.startsWith(PREFIX) || did.length > 80) return undefined
  const bytes = decodeBase58(did.slice(PREFIX.length))
  if (bytes?.length !== 34 || bytes[0] !== ED25519[0] || bytes[1] !== ED25519[1]) return undefined
  const raw = bytes.subarray(2)
  return didOf(raw) === did ? raw : undefined
}

function decodeBase58(text: string): Uint8Array | undefined {
  try {
    return base58.decode(text)
  } catch {
    return undefined
  }
}

// OpenSSL verifies against points of small order and against y at or above the field's prime; a signature by such a
// key fits more than one message or more than one spelling of the key (CCTV's Ed25519 vectors), so neither may register.
const SMALL_ORDER_Y = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

function isStrong(raw: Uint8Array): boolean {
  const y = Buffer.from(raw)
  y.writeUInt8(y.readUInt8(31) & 0x7f, 31)
  return isBelowPrime(y) && !SMALL_ORDER_Y.has(y.toString('hex'))
}

function isBelowPrime(y: Buffer): boolean {
  const highBytesFull = y.readUInt8(31) === 0x7f && y.subarray(1, 31).every((byte) => byte === 0xff)
  return !highBytesFull || y.readUInt8(0) < 0xed
}
