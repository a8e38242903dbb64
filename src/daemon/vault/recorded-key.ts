import { keyIdOf } from './key-hierarchy.ts'
import {
  existingMasterKey,
  type KeyInStore,
  type MasterKey,
  MasterKeyError,
  type MasterKeySettings,
} from './master-key-source.ts'
import { settledLate } from './staged-key.ts'

/**
 * The key that the store was made with: from where the setting says, or else from where it is recorded to be, or was about to
 * be when the daemon was ended. Whoever hands over a key means that one, and no other.
 * @throws MasterKeyError
 */
export async function recordedMasterKey(
  settings: MasterKeySettings,
  stored: KeyInStore,
  keyId: string,
): Promise<MasterKey> {
  const { deploymentId } = stored
  const isElsewhere = !['auto', 'passphrase', 'env', stored.source].includes(settings.mode)
  try {
    const found = await existingMasterKey(settings, stored)
    if (keyIdOf(found.bytes) === keyId) return found
    throw new MasterKeyError(`the key from ${found.backend} is not the one this vault was made with`)
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error
    const late = await settledLate(settings, stored.source, { deploymentId, keyId })
    if (late) return late
    if (!isElsewhere) throw error
    const found = await recordedMasterKey({ ...settings, mode: 'auto' }, stored, keyId)
    const notice = `BROKER_ENCRYPTION_MODE is ${settings.mode}, and the key of this vault is in ${stored.source}: set auto.`
    return { ...found, warnings: [...found.warnings, notice] }
  }
}
