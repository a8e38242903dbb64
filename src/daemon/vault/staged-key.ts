import { randomBytes } from 'node:crypto'
import { BrokerError, type EncryptionSource, type Secret } from '../../protocol/index.ts'
import { keyIdOf } from './key-hierarchy.ts'
import type { FormerKey } from './key-rows.ts'
import { removeKeyringKey, storeKeyringKey } from './keyring.ts'
import {
  commandKey,
  environmentKey,
  MasterKeyError,
  type MasterKeySettings,
  type NewMasterKey,
  passphraseKey,
  requireKeyringKey,
  requireLocalKey,
  textOf,
} from './master-key-source.ts'

/** What a person gave for a key that takes the place of another. */
export interface GivenKey {
  readonly passphrase?: Secret
  /** Text of a key for `env`, in place of what the daemon was started with. */
  readonly masterKey?: Secret
}

/** A key that was read back from where it is to be, beside the one that is there; and what gives it that one's place. */
export interface StagedKey extends NewMasterKey {
  settle(): Promise<void>
}

/**
 * Has the next master key where it is to be, and reads it back from there.
 * @throws BrokerError InvalidRequestError, DaemonUnavailableError; the key of now is untouched
 */
export async function stageKey(
  settings: MasterKeySettings,
  to: EncryptionSource,
  deploymentId: string,
  given: GivenKey,
): Promise<StagedKey> {
  try {
    return await STAGES[to](settings, deploymentId, given)
  } catch (cause) {
    if (!(cause instanceof MasterKeyError)) throw cause
    throw new BrokerError('InvalidRequestError', `The key stays where it is: ${cause.message}`, { cause })
  }
}

type Stage = (settings: MasterKeySettings, deploymentId: string, given: GivenKey) => Promise<StagedKey>

const nothing = async () => undefined

const STAGES: Readonly<Record<EncryptionSource, Stage>> = {
  async local_key(settings) {
    const { files, localKeyPath } = settings
    if (files === undefined) throw new MasterKeyError('this daemon writes no key files')
    const text = textOf(randomBytes(32))
    files.replace(nextOf(localKeyPath), text)
    text.fill(0)
    return { ...requireLocalKey(nextOf(localKeyPath)), settle: async () => settleLocal(settings) }
  },
  async keyring({ keyring }, deploymentId) {
    const item = nextOf(deploymentId)
    await storeKeyringKey(keyring, item, randomBytes(32)).catch((cause) => {
      throw new MasterKeyError('the OS keyring cannot be used', { cause })
    })
    const key = await requireKeyringKey(keyring, item)
    return { ...key, settle: async () => settleKeyring({ keyring }, deploymentId) }
  },
  async env(settings, _, { masterKey }) {
    return { ...environmentKey(masterKey ? { ...settings, masterKey } : settings), settle: nothing }
  },
  async passphrase(settings, deploymentId, { passphrase }) {
    return { ...(await passphraseKey(settings, deploymentId, passphrase)), settle: nothing }
  },
  async command(settings) {
    return { ...(await commandKey(settings)), settle: nothing }
  },
}

/** Beside the key of now, until the store is under it. */
export function nextOf(name: string): string {
  return `${name}.next`
}

export function settleLocal({ files, localKeyPath }: MasterKeySettings): void {
  files?.move(nextOf(localKeyPath), localKeyPath)
}

async function settleKeyring({ keyring }: Pick<MasterKeySettings, 'keyring'>, deploymentId: string): Promise<void> {
  const { bytes } = await requireKeyringKey(keyring, nextOf(deploymentId))
  await storeKeyringKey(keyring, deploymentId, bytes)
  await removeKeyringKey(keyring, nextOf(deploymentId))
}

/** The key of that id that was to take its place when the daemon was ended, with its place; undefined where there is none. */
export async function settledLate(
  settings: MasterKeySettings,
  source: EncryptionSource,
  { deploymentId, keyId }: { readonly deploymentId: string; readonly keyId: string },
): Promise<NewMasterKey | undefined> {
  try {
    if (source === 'local_key') {
      if (keyIdOf(requireLocalKey(nextOf(settings.localKeyPath)).bytes) !== keyId) return undefined
      settleLocal(settings)
      return requireLocalKey(settings.localKeyPath)
    }
    if (source !== 'keyring') return undefined
    const { bytes } = await requireKeyringKey(settings.keyring, nextOf(deploymentId))
    if (keyIdOf(bytes) !== keyId) return undefined
    await settleKeyring(settings, deploymentId)
    return await requireKeyringKey(settings.keyring, deploymentId)
  } catch (error) {
    if (error instanceof MasterKeyError) return undefined
    throw error
  }
}

/** Removes a key file that was to take the place of the other, and did not, unless the vault is under it. */
export function forgetStaged({ files, localKeyPath }: MasterKeySettings, keyId: string): void {
  try {
    if (keyIdOf(requireLocalKey(nextOf(localKeyPath)).bytes) === keyId) return
    files?.remove(nextOf(localKeyPath))
  } catch {
    // There is none, or a disk that fails keeps it until a later start.
  }
}

/** Removes a key that nothing is under any more, where it is still there. @throws where it cannot be removed */
export async function removeFormer(
  settings: MasterKeySettings,
  { source, keyId }: FormerKey,
  deploymentId: string,
): Promise<void> {
  if (source === 'local_key' && (await isStill(keyId, async () => requireLocalKey(settings.localKeyPath))))
    settings.files?.remove(settings.localKeyPath)
  if (source === 'keyring' && (await isStill(keyId, () => requireKeyringKey(settings.keyring, deploymentId))))
    await removeKeyringKey(settings.keyring, deploymentId)
}

async function isStill(keyId: string, read: () => Promise<{ readonly bytes: Buffer }>): Promise<boolean> {
  try {
    return keyIdOf((await read()).bytes) === keyId
  } catch (error) {
    if (error instanceof MasterKeyError) return false
    throw error
  }
}
