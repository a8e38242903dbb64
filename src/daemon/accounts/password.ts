import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Secret } from '../../protocol/index.ts'

const derive = promisify(argon2)

/** What a hash takes: KiB of memory, how often all of it is filled, and in how many lanes. */
export type PasswordCost = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism'>

/** RFC 9106, the second recommended choice: 64 MiB, three passes, four lanes. */
const COST: PasswordCost = { memory: 65_536, passes: 3, parallelism: 4 }
const SALT_BYTES = 16
const TAG_BYTES = 32

/**
 * Argon2id, on the thread pool; it takes 64 MiB and a core.
 * @returns a PHC string: `$argon2id$v=19$m=…,t=…,p=…$salt$tag`
 */
export async function hashPassword(password: Secret, cost = COST): Promise<string> {
  const nonce = randomBytes(SALT_BYTES)
  const tag = await derive('argon2id', { ...cost, message: bytesOf(password), nonce, tagLength: TAG_BYTES })
  return phcOf(cost, base64(nonce), base64(tag))
}

/** @param stored undefined where there is no account: false, after as long as with one */
export async function verifyPassword(password: Secret, stored: string | undefined, cost = COST): Promise<boolean> {
  const { tag, ...parameters } = parsePhc(stored ?? nobodys(cost))
  const found = await derive('argon2id', { ...parameters, message: bytesOf(password), tagLength: tag.length })
  return timingSafeEqual(found, tag) && stored !== undefined
}

// One spelling of what can be typed in several ways (RFC 8265).
function bytesOf(password: Secret): Buffer {
  return Buffer.from(password.reveal().normalize('NFKC'))
}

/** Verified where there is no account, so that its absence takes as long as its presence. */
function nobodys(cost: PasswordCost): string {
  return phcOf(cost, 'A'.repeat(22), 'A'.repeat(43))
}

type Stored = PasswordCost & {
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

function phcOf({ memory, passes, parallelism }: PasswordCost, salt: string, tag: string): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${salt}$${tag}`
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
