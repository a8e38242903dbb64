import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Secret } from '../../protocol/index.ts'

const derive = promisify(argon2)

/** RFC 9106, the second recommended choice: 64 MiB, three passes, four lanes. */
const COST = { memory: 65_536, passes: 3, parallelism: 4 } as const
/** Nobody's: verified where there is no account, so that its absence takes as long as its presence. */
const NOBODY = phcOf('A'.repeat(22), 'A'.repeat(43))
const SALT_BYTES = 16
const TAG_BYTES = 32

/**
 * Argon2id, on the thread pool; it takes 64 MiB and a core.
 * @returns a PHC string: `$argon2id$v=19$m=…,t=…,p=…$salt$tag`
 */
export async function hashPassword(password: Secret): Promise<string> {
  const nonce = randomBytes(SALT_BYTES)
  const tag = await derive('argon2id', { ...COST, message: bytesOf(password), nonce, tagLength: TAG_BYTES })
  return phcOf(base64(nonce), base64(tag))
}

/** @param stored undefined where there is no account: false, after as long as with one */
export async function verifyPassword(password: Secret, stored: string | undefined): Promise<boolean> {
  const { tag, ...parameters } = parsePhc(stored ?? NOBODY)
  const found = await derive('argon2id', { ...parameters, message: bytesOf(password), tagLength: tag.length })
  return timingSafeEqual(found, tag) && stored !== undefined
}

// One spelling of what can be typed in several ways (RFC 8265).
function bytesOf(password: Secret): Buffer {
  return Buffer.from(password.reveal().normalize('NFKC'))
}

type Stored = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism'> & {
  readonly nonce: Buffer
  readonly tag: Buffer
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

function parsePhc(text: string): Stored {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = PHC.exec(text) ?? []
  if (tag === '') throw new Error('a password hash in the store is none')
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    nonce: Buffer.from(nonce, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

function phcOf(salt: string, tag: string): string {
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${salt}$${tag}`
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
