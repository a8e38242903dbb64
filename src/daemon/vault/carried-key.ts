import { BrokerError, type EncryptionSource, Secret } from '../../protocol/index.ts'
import type { Db } from '../store/index.ts'
import { wiped } from './aead.ts'
import { keyIdOf } from './key-hierarchy.ts'
import { wrappedMasterKey } from './key-rows.ts'
import { MasterKeyError, type MasterKeySettings, parseKey, textOf } from './master-key-source.ts'
import { recordedMasterKey } from './recorded-key.ts'
import { nextOf, settleLocal } from './staged-key.ts'

interface Recorded {
  readonly source: EncryptionSource
  readonly deploymentId: string
  readonly keyId: string
}

async function recordedIn(db: Db): Promise<Recorded> {
  const row = await db.selectFrom('vault_sources').selectAll().executeTakeFirst()
  if (row === undefined) throw new BrokerError('NotFoundError', 'There is no vault in this store yet')
  return { source: row.source as EncryptionSource, deploymentId: row.deployment_id, keyId: row.key_id }
}

/**
 * The master key of a store, in base64, for a copy that is encrypted itself. Undefined where the store has it, wrapped.
 * @throws BrokerError DaemonUnavailableError where it cannot be had
 */
export async function masterKeyOf(db: Db, settings: MasterKeySettings): Promise<Secret | undefined> {
  const { source, deploymentId, keyId } = await recordedIn(db)
  if (source === 'passphrase') return undefined
  try {
    const stored = { source, deploymentId, wrapped: undefined, passphrase: undefined }
    const { bytes } = await recordedMasterKey(settings, stored, keyId)
    return new Secret(wiped(textOf(bytes), String).trim())
  } catch (cause) {
    if (!(cause instanceof MasterKeyError)) throw cause
    throw new BrokerError('DaemonUnavailableError', `The master key cannot be copied: ${cause.message}`, {
      hint: 'Give this command what the daemon has of it, or leave it out: --without-key.',
      cause,
    })
  }
}

/**
 * Makes sure that a store which is being made will open here: its key is where the settings say, or in the store itself, or
 * else the one that came with it is put beside the key file.
 * @returns what gives that its place, once the store has its own
 * @throws BrokerError CredentialMissingError where no key fits
 */
export async function settleKeyFor(
  tx: Db,
  settings: MasterKeySettings,
  carried: Secret | undefined,
): Promise<() => void> {
  const { source, deploymentId, keyId } = await recordedIn(tx)
  if (source === 'passphrase' && (await wrappedMasterKey(tx)) !== undefined) return () => undefined
  const stored = { source, deploymentId, wrapped: undefined, passphrase: undefined }
  const own = await recordedMasterKey({ ...settings, mode: 'auto' }, stored, keyId).catch(() => undefined)
  if (own) return () => undefined
  const bytes = carried && parseKey(Buffer.from(carried.reveal()), 'the backup')
  if (bytes === undefined || keyIdOf(bytes) !== keyId || settings.files === undefined) {
    throw new BrokerError('CredentialMissingError', 'No key here opens what is in the backup, and none came with it', {
      hint: `Give the master key of then (it was in ${source}) to this command, and run it again; nothing was changed.`,
    })
  }
  const text = textOf(bytes)
  settings.files.replace(nextOf(settings.localKeyPath), text)
  text.fill(0)
  await tx.updateTable('vault_sources').set({ source: 'local_key' }).execute()
  return () => settleLocal(settings)
}
