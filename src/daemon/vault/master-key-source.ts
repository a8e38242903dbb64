import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { basename } from 'node:path'
import { type EncryptionMode, type EncryptionSource, Secret } from '../../protocol/index.ts'
import { wiped } from './aead.ts'
import { printedBy } from './command-key.ts'
import type { Keyring } from './keyring.ts'
import { readKeyringKey, storeKeyringKey } from './keyring.ts'
import { requirePassphrase, unwrapByPassphrase, wrapByPassphrase } from './passphrase-key.ts'

export interface MasterKeySettings {
  readonly mode: EncryptionMode
  /** Text of `BROKER_MASTER_KEY`. */
  readonly masterKey?: Secret | undefined
  /** Path of `BROKER_MASTER_KEY_FILE`. */
  readonly masterKeyFile?: string
  /** Where `local_key` keeps its key. */
  readonly localKeyPath: string
  /** Path of `BROKER_PASSPHRASE_FILE`: a passphrase for daemons that nobody sits at. */
  readonly passphraseFile?: string
  /** `BROKER_MASTER_KEY_COMMAND`: a command line that prints the key, and the environment it runs with. */
  readonly command?: { readonly line: string; readonly environment: Readonly<Record<string, string>> }
  /** Writes a file whole and durably where there is none, or an empty one. */
  readonly createFile: (path: string, text: Buffer) => unknown
  /** The same for a key that takes the place of another; no key is changed where absent. */
  readonly files?: {
    readonly replace: (path: string, text: Buffer) => void
    readonly move: (from: string, to: string) => void
    readonly remove: (path: string) => void
  }
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
  /** Set where a passphrase is waited for. */
  readonly awaitsPassphrase: boolean

  constructor(message: string, options?: ErrorOptions & { readonly awaitsPassphrase?: true }) {
    super(message, options)
    this.awaitsPassphrase = options?.awaitsPassphrase === true
  }
}

/** What the store and a person say of the key of an existing vault. */
export interface KeyInStore {
  readonly source: EncryptionSource
  readonly deploymentId: string
  /** The key, wrapped under a passphrase; undefined where it is not. */
  readonly wrapped: Uint8Array | undefined
  /** That somebody gave just now. */
  readonly passphrase: Secret | undefined
}

/**
 * The key that an existing vault was made with, from its recorded source or the one the setting names.
 * Never makes a key.
 * @throws MasterKeyError
 */
export async function existingMasterKey(settings: MasterKeySettings, stored: KeyInStore): Promise<MasterKey> {
  const { source: recorded, deploymentId, wrapped } = stored
  const source = settings.mode === 'auto' ? recorded : settings.mode
  if (source === 'env') return environmentKey(settings)
  if (source === 'local_key') return requireLocalKey(settings.localKeyPath)
  if (source === 'keyring') return requireKeyringKey(settings.keyring, deploymentId)
  if (source === 'command') return commandKey(settings)
  if (wrapped === undefined) {
    const hint = `start the daemon with BROKER_ENCRYPTION_MODE=${recorded}, then run \`broker vault rekey --to passphrase\``
    throw new MasterKeyError(`the key of this vault is not under a passphrase: ${hint}`)
  }
  const passphrase = stored.passphrase ?? passphraseInFile(settings)
  if (passphrase === undefined) throw new MasterKeyError('it waits for its passphrase', { awaitsPassphrase: true })
  const bytes = await unwrapByPassphrase(wrapped, passphrase, deploymentId).catch((cause) => {
    throw new MasterKeyError('what the store has of the key was changed outside of Broker', { cause })
  })
  if (bytes === undefined) throw new MasterKeyError('the passphrase is another one', { awaitsPassphrase: true })
  return underPassphrase(bytes)
}

/** A new key, and how it is stored where that is under a passphrase. */
export interface NewMasterKey extends MasterKey {
  readonly wrapped?: Uint8Array
}

/** A key for a vault that is about to be made: the named source, or for `auto` the first that can be used. */
export async function newMasterKey(
  settings: MasterKeySettings,
  deploymentId: string,
  passphrase: Secret | undefined,
): Promise<NewMasterKey> {
  if (settings.mode === 'env') return environmentKey(settings)
  if (settings.mode === 'keyring') return makeKeyringKey(settings.keyring, deploymentId)
  if (settings.mode === 'local_key') return makeLocalKey(settings)
  if (settings.mode === 'command') return commandKey(settings)
  if (settings.mode === 'passphrase') return passphraseKey(settings, deploymentId, passphrase)
  if (settings.masterKey || settings.masterKeyFile) return environmentKey(settings)
  try {
    return await makeKeyringKey(settings.keyring, deploymentId)
  } catch (cause) {
    if (cause instanceof MasterKeyError) return makeLocalKey(settings)
    throw cause
  }
}

export async function passphraseKey(
  settings: MasterKeySettings,
  deploymentId: string,
  given: Secret | undefined,
): Promise<NewMasterKey> {
  const passphrase = given ?? passphraseInFile(settings)
  if (passphrase === undefined) {
    throw new MasterKeyError('no passphrase was chosen yet', { awaitsPassphrase: true })
  }
  requirePassphrase(passphrase)
  const bytes = randomBytes(32)
  return { ...underPassphrase(bytes), wrapped: await wrapByPassphrase(bytes, passphrase, deploymentId) }
}

function underPassphrase(bytes: Buffer): MasterKey {
  return { bytes, source: 'passphrase', backend: 'passphrase (Argon2id)', warnings: [] }
}

/** @throws MasterKeyError where others than its owner may read it */
function passphraseInFile({ passphraseFile }: MasterKeySettings): Secret | undefined {
  if (passphraseFile === undefined) return undefined
  const name = 'BROKER_PASSPHRASE_FILE'
  const { text, warnings } = readKeyText(passphraseFile, name)
  const [tooOpen] = warnings
  const passphrase = wiped(text, String).replace(/\r?\n$/, '')
  if (tooOpen !== undefined) throw new MasterKeyError(tooOpen.replace(/\.$/, '').replace('The key', 'the'))
  return new Secret(passphrase)
}

export async function commandKey({ command }: MasterKeySettings): Promise<MasterKey> {
  if (command === undefined) throw new MasterKeyError('BROKER_MASTER_KEY_COMMAND is not set')
  const text = await printedBy(command.line, command.environment).catch((cause) => {
    const how = cause instanceof Error ? cause.message : 'it failed'
    throw new MasterKeyError(`the command that prints the key cannot be used: ${how}`, { cause })
  })
  const bytes = parseKey(text, 'what BROKER_MASTER_KEY_COMMAND prints')
  return { bytes, source: 'command', backend: 'command BROKER_MASTER_KEY_COMMAND', warnings: [] }
}

export function environmentKey({ masterKey, masterKeyFile }: MasterKeySettings): MasterKey {
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
export function parseKey(text: Buffer, name: string): Buffer {
  const trimmed = wiped(text, String).trim()
  const bytes = /^[0-9a-fA-F]{64}$/.test(trimmed) ? Buffer.from(trimmed, 'hex') : fromBase64(trimmed)
  if (bytes?.length !== 32) throw new MasterKeyError(`${name} must hold 32 bytes in base64 or hex`)
  if (bytes.every((byte) => byte === bytes[0]))
    throw new MasterKeyError(`${name} holds one byte repeated, which is no key`)
  return bytes
}

/** In base64, with a line's end. The key is overwritten. */
export function textOf(key: Buffer): Buffer {
  return wiped(key, (bytes) => Buffer.from(`${bytes.toString('base64')}\n`))
}

function fromBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

export function requireLocalKey(path: string): MasterKey {
  const { bytes, warnings } = readKeyFile(path, basename(path))
  return { bytes, source: 'local_key', backend: `key file server/${basename(path)}`, warnings }
}

function makeLocalKey({ localKeyPath, createFile }: MasterKeySettings): MasterKey {
  // A key that is there already belongs to a vault whose database is gone; it is as good as a new one.
  wiped(textOf(randomBytes(32)), (text) => createFile(localKeyPath, text))
  return requireLocalKey(localKeyPath)
}

function readKeyFile(path: string, name: string): { bytes: Buffer; warnings: string[] } {
  const { text, warnings } = readKeyText(path, name)
  return { bytes: parseKey(text, name), warnings }
}

function readKeyText(path: string, name: string): { text: Buffer; warnings: string[] } {
  const descriptor = openKeyFile(path, name)
  try {
    const stat = fstatSync(descriptor)
    const warnings = checkKeyFile(stat, name)
    const text = readFileSync(descriptor)
    if (text.length === 0) throw new MasterKeyError(`the key file "${name}" is empty: put it back from a backup`)
    return { text, warnings }
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

export async function requireKeyringKey(keyring: Keyring, deploymentId: string): Promise<MasterKey> {
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
