import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

/** What a ciphertext is bound to, in order. Each part is length-prefixed, so that no two lists read alike. */
export type AssociatedData = readonly string[]

const ALGORITHM = 'aes-256-gcm'
const MAGIC = Buffer.from('BRK\x01', 'latin1')
const NONCE_LENGTH = 12
const TAG_LENGTH = 16
const HEADER_LENGTH = MAGIC.length + NONCE_LENGTH

/** AES-256-GCM: magic (4) | nonce (12) | ciphertext | tag (16). */
export function seal(key: KeyObject, plaintext: Uint8Array, associated: AssociatedData): Buffer {
  const nonce = randomBytes(NONCE_LENGTH)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_LENGTH }).setAAD(encode(associated))
  return Buffer.concat([MAGIC, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/** The caller wipes what it gets. @throws Error where key, bytes or associated data are not those it was sealed with. */
export function open(key: KeyObject, sealed: Uint8Array, associated: AssociatedData): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes.length < HEADER_LENGTH + TAG_LENGTH || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new Error('Not a sealed value of this version')
  }
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(MAGIC.length, HEADER_LENGTH), {
    authTagLength: TAG_LENGTH,
  })
  decipher.setAAD(encode(associated)).setAuthTag(bytes.subarray(-TAG_LENGTH))
  const plaintext = decipher.update(bytes.subarray(HEADER_LENGTH, -TAG_LENGTH))
  try {
    decipher.final()
    return plaintext
  } catch (error) {
    plaintext.fill(0)
    throw error
  }
}

/** Returns what `use` makes of secret bytes, which are overwritten then. */
export function wiped<Result>(bytes: Buffer, use: (bytes: Buffer) => Result): Result {
  try {
    return use(bytes)
  } finally {
    bytes.fill(0)
  }
}

function encode(associated: AssociatedData): Buffer {
  return Buffer.concat(associated.flatMap((part) => lengthPrefixed(Buffer.from(part, 'utf8'))))
}

function lengthPrefixed(bytes: Buffer): [Buffer, Buffer] {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return [length, bytes]
}
