import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { basename } from 'node:path'
import type { EncryptionMode, EncryptionSource, Secret } from '../../protocol/index.ts'
import { wiped } from './aead.ts'
import type { Keyring } from './keyring.ts'
import { readKeyringKey, storeKeyringKey } from './keyring.ts'

export interface MasterKeySettings {
  readonly mode: EncryptionMode
  /** Text of `BROKER_MASTER_KEY`. */
  readonly masterKey?: Secret
  /** Path of `BROKER_MASTER_KEY_FILE`. */
  readonly masterKeyFile?: string
  /** Where `local_key` keeps its key. */
  readonly localKeyPath: string
  /** Writes a file whole and durably where there is none, or an empty one. */
  readonly createFile: (path: string, text: Buffer) => unknown
  readonly keyring: Keyring
}

export interface MasterKey {
  /** 32 bytes. */
  readonly bytes: Buffer
  readonly source: EncryptionSource
  /** For people: what holds the key. */
  readonly backend: string
  readonly warnings: readonly string[]
}

/** Why there is no master key. The text goes to people: it names files and variables, never a value. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/**
 * The key that an existing vault was made with, from its recorded source or the one the setting names.
 * Never makes a key.
 * @throws MasterKeyError
 */
export async function existingMasterKey(
  settings: MasterKeySettings,
  recorded: EncryptionSource,
  deploymentId: string,
): Promise<MasterKey> {
  const source = settings.mode === 'auto' ? recorded : settings.mode
  if (source === 'env') return environmentKey(settings)
  if (source === 'local_key') return requireLocalKey(settings.localKeyPath)
  if (source === 'keyring') return requireKeyringKey(settings.keyring, deploymentId)
  throw new MasterKeyError(`the vault's key source "${source}" is not known to this version`)
}

/** A key for a vault that is about to be made: the named source, or for `auto` the first that can be used. */
export async function newMasterKey(settings: MasterKeySettings, deploymentId: string): Promise<MasterKey> {
  if (settings.mode === 'env') return environmentKey(settings)
  if (settings.mode === 'keyring') return makeKeyringKey(settings.keyring, deploymentId)
  if (settings.mode === 'local_key') return makeLocalKey(settings)
  if (settings.masterKey || settings.masterKeyFile) return environmentKey(settings)
  try {
    return await makeKeyringKey(settings.keyring, deploymentId)
  } catch (cause) {
    if (cause instanceof MasterKeyError) return makeLocalKey(settings)
    throw cause
  }
}

function environmentKey({ masterKey, masterKeyFile }: MasterKeySettings): MasterKey {
  if (masterKey) {
    const bytes = parseKey(Buffer.from(masterKey.reveal()), 'BROKER_MASTER_KEY')
    return { bytes, source: 'env', backend: 'environment variable BROKER_MASTER_KEY', warnings: [] }
  }
  if (masterKeyFile) {
    const { bytes, warnings } = readKeyFile(masterKeyFile, 'BROKER_MASTER_KEY_FILE')
    return { bytes, source: 'env', backend: 'file named by BROKER_MASTER_KEY_FILE', warnings }
  }
  throw new MasterKeyError('neither BROKER_MASTER_KEY nor BROKER_MASTER_KEY_FILE is set')
}

/**
 * 32 bytes in base64, base64url or hex. The text is overwritten; it comes as bytes, for what is read or written as a
 * string leaves copies behind that nobody can wipe. @throws MasterKeyError
 */
function parseKey(text: Buffer, name: string): Buffer {
  const trimmed = wiped(text, String).trim()
  const bytes = /^[0-9a-fA-F]{64}$/.test(trimmed) ? Buffer.from(trimmed, 'hex') : fromBase64(trimmed)
  if (bytes?.length !== 32) throw new MasterKeyError(`${name} must hold 32 bytes in base64 or hex`)
  if (bytes.every((byte) => byte === bytes[0]))
    throw new MasterKeyError(`${name} holds one byte repeated, which is no key`)
  return bytes
}

/** In base64, with a line's end. The key is overwritten. */
function textOf(key: Buffer): Buffer {
  return wiped(key, (bytes) => Buffer.from(`${bytes.toString('base64')}\n`))
}

function fromBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

function requireLocalKey(path: string): MasterKey {
  const { bytes, warnings } = readKeyFile(path, basename(path))
  return { bytes, source: 'local_key', backend: `key file server/${basename(path)}`, warnings }
}

function makeLocalKey({ localKeyPath, createFile }: MasterKeySettings): MasterKey {
  // A key that is there already belongs to a vault whose database is gone; it is as good as a new one.
  wiped(textOf(randomBytes(32)), (text) => createFile(localKeyPath, text))
  return requireLocalKey(localKeyPath)
}

function readKeyFile(path: string, name: string): { bytes: Buffer; warnings: string[] } {
  const descriptor = openKeyFile(path, name)
  try {
    const stat = fstatSync(descriptor)
    const warnings = checkKeyFile(stat, name)
    const text = readFileSync(descriptor)
    if (text.length === 0) throw new MasterKeyError(`the key file "${name}" is empty: put it back from a backup`)
    return { bytes: parseKey(text, name), warnings }
  } finally {
    closeSync(descriptor)
  }
}

function openKeyFile(path: string, name: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    throw new MasterKeyError(`the key file "${name}" ${missing ? 'is missing' : 'cannot be opened'}`, { cause })
  }
}

function checkKeyFile(stat: Stats, name: string): string[] {
  if (!stat.isFile() || stat.size > 4096) throw new MasterKeyError(`"${name}" is not a key file`)
  if (process.getuid !== undefined && stat.uid !== process.getuid()) {
    throw new MasterKeyError(`the key file "${name}" belongs to another user`)
  }
  const mode = stat.mode & 0o777
  if ((mode & 0o022) !== 0) throw new MasterKeyError(`the key file "${name}" may be written by others`)
  if ((mode & 0o077) === 0) return []
  return [`The key file "${name}" has mode 0${mode.toString(8)}, so others may read it: chmod 600 it.`]
}

async function requireKeyringKey(keyring: Keyring, deploymentId: string): Promise<MasterKey> {
  const text = await readKeyringKey(keyring, deploymentId).catch((cause) => {
    throw new MasterKeyError('the OS keyring that holds the key does not answer; is it locked?', { cause })
  })
  if (!text) throw new MasterKeyError('the OS keyring has no key of this vault')
  return {
    bytes: parseKey(Buffer.from(text.reveal()), 'the OS keyring'),
    source: 'keyring',
    backend: keyring.description,
    warnings: [],
  }
}

async function makeKeyringKey(keyring: Keyring, deploymentId: string): Promise<MasterKey> {
  try {
    await storeKeyringKey(keyring, deploymentId, randomBytes(32))
  } catch (cause) {
    throw new MasterKeyError('the OS keyring cannot be used', { cause })
  }
  return requireKeyringKey(keyring, deploymentId)
}
