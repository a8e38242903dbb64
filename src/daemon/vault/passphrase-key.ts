import { argon2, createSecretKey, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { BrokerError, type Secret } from '../../protocol/index.ts'
import { type AssociatedData, open, seal, wiped } from './aead.ts'

const derive = promisify(argon2)

/** RFC 9106, the second recommended choice: 64 MiB, three passes, four lanes. A store that asks for less is not believed. */
const COST = { memory: 65_536, passes: 3, parallelism: 4 } as const
/** What one unlocking may take of the machine, whatever the store says. */
const MOST = { memory: 1_048_576, passes: 16, parallelism: 16 } as const
const SALT_BYTES = 16
const LEAST_CHARACTERS = 8

/** As it is stored: how the wrapping key is made, and the master key under it. */
interface Wrapped {
  readonly kdf: 'argon2id'
  /** KiB. */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  /** base64, as `sealed`. */
  readonly salt: string
  readonly sealed: string
}

/** @throws BrokerError InvalidRequestError for one that is too short to be any */
export function requirePassphrase(passphrase: Secret): void {
  if ([...normal(passphrase)].length >= LEAST_CHARACTERS) return
  throw new BrokerError('InvalidRequestError', `A passphrase has at least ${LEAST_CHARACTERS} characters`, {
    hint: 'Five words that have nothing to do with each other are easy to keep, and hard to guess.',
  })
}

/** Wraps the master key under a key made from the passphrase; it takes 64 MiB and a core. The key stays the caller's. */
export async function wrapByPassphrase(masterKey: Buffer, passphrase: Secret, deploymentId: string): Promise<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const about = { kdf: 'argon2id', ...COST, salt: salt.toString('base64') } as const
  const key = await keyFrom(passphrase, { ...COST, salt })
  const sealed = seal(key, masterKey, context(deploymentId, about)).toString('base64')
  return Buffer.from(JSON.stringify({ ...about, sealed } satisfies Wrapped))
}

/** Unwraps it; undefined for another passphrase. @throws Error where what is stored was changed or is too weak */
export async function unwrapByPassphrase(
  stored: Uint8Array,
  passphrase: Secret,
  deploymentId: string,
): Promise<Buffer | undefined> {
  const { sealed, ...about } = JSON.parse(Buffer.from(stored).toString()) as Wrapped
  const { memory, passes, parallelism, salt } = about
  if (about.kdf !== 'argon2id' || !isWithinBounds({ memory, passes, parallelism })) {
    throw new Error('The store asks for another way from the passphrase to the key than this version takes')
  }
  const key = await keyFrom(passphrase, { memory, passes, parallelism, salt: Buffer.from(salt, 'base64') })
  try {
    return open(key, Buffer.from(sealed, 'base64'), context(deploymentId, about))
  } catch {
    return undefined
  }
}

type Cost = Pick<Wrapped, 'memory' | 'passes' | 'parallelism'>

function isWithinBounds(cost: Cost): boolean {
  const names = ['memory', 'passes', 'parallelism'] as const
  return names.every((name) => Number.isInteger(cost[name]) && cost[name] >= COST[name] && cost[name] <= MOST[name])
}

async function keyFrom(passphrase: Secret, { salt, ...cost }: Cost & { readonly salt: Buffer }) {
  const message = Buffer.from(normal(passphrase))
  try {
    return wiped(await derive('argon2id', { ...cost, message, nonce: salt, tagLength: 32 }), createSecretKey)
  } finally {
    message.fill(0)
  }
}

// One spelling of what can be typed in several ways (RFC 8265).
function normal(passphrase: Secret): string {
  return passphrase.reveal().normalize('NFKC')
}

function context(deploymentId: string, { kdf, memory, passes, parallelism, salt }: Omit<Wrapped, 'sealed'>) {
  const numbers = [memory, passes, parallelism].map(String)
  return ['broker/passphrase/v1', deploymentId, kdf, ...numbers, salt] satisfies AssociatedData
}
