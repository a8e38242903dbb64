import { BrokerError } from '../../protocol/index.ts'
import type { Db, RecordRow } from '../store/index.ts'
import { type DataKey, type KeyHierarchy, unwrapDataKey, wrapDataKey } from './key-hierarchy.ts'
import { AUDIT, isVault } from './key-rows.ts'
import { emptyManifest, type Manifest, openManifest, sealManifest, withRecord } from './manifest.ts'
import { isListName } from './rights-seals.ts'

/** The keys that the master key of before made, and those of the next one. */
export interface KeyChange {
  readonly before: KeyHierarchy
  readonly after: KeyHierarchy
}

/** Keys that are no vault's, under the same key as those of vaults. */
const WRAPPED: ReadonlySet<string> = new Set(['rights', AUDIT])

/**
 * Has everything that was sealed by keys made from one master key sealed by those of another: the data keys, the key of
 * rows, the manifests of vaults and the lists. Records stay as they are, under their data keys.
 * @throws BrokerError CredentialMissingError where something is not as this deployment wrote it; nothing is changed then
 */
export async function sealUnder(tx: Db, change: KeyChange): Promise<void> {
  for (const row of await tx.selectFrom('data_keys').selectAll().execute()) {
    if (WRAPPED.has(row.vault_id) || isVault(row.vault_id)) await wrapAnew(tx, change, row)
  }
  for (const row of await tx.selectFrom('manifests').selectAll().execute()) {
    const { vault_id, generation, sealed } = row
    const content = whole(vault_id, () => openManifest<Manifest>(change.before, vault_id, generation, sealed))
    const next = isListName(vault_id) ? content : await printedAnew(tx, change, vault_id, content)
    await tx
      .updateTable('manifests')
      .set({ sealed: sealManifest(change.after, vault_id, generation, next) })
      .where('vault_id', '=', vault_id)
      .execute()
  }
}

async function wrapAnew(
  tx: Db,
  { before, after }: KeyChange,
  { vault_id, term, wrapped }: { readonly vault_id: string; readonly term: number; readonly wrapped: Uint8Array },
): Promise<void> {
  const dataKey = whole(vault_id, () => unwrapDataKey(before, vault_id, term, wrapped))
  await tx
    .updateTable('data_keys')
    .set({ wrapped: wrapDataKey(after, vault_id, dataKey) })
    .where('vault_id', '=', vault_id)
    .where('term', '=', term)
    .execute()
}

/** The same manifest with fingerprints by the other key: of the records that it was made of, and of no others. */
async function printedAnew(
  tx: Db,
  { before, after }: KeyChange,
  vaultId: string,
  manifest: Manifest,
): Promise<Manifest> {
  const rows = await tx.selectFrom('records').selectAll().where('vault_id', '=', vaultId).execute()
  const found = fingerprintOf(before, rows)
  if (found.count !== manifest.count || found.fingerprint !== manifest.fingerprint) throw notWhole(vaultId)
  const { count, fingerprint } = fingerprintOf(after, rows)
  return { ...manifest, count, fingerprint }
}

function fingerprintOf(keys: KeyHierarchy, rows: readonly RecordRow[]): Manifest {
  let manifest = emptyManifest()
  for (const row of rows) manifest = withRecord(keys, manifest, row)
  return manifest
}

function whole<Result>(name: string, work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    throw notWhole(name, cause)
  }
}

function notWhole(name: string, cause?: unknown): BrokerError {
  const message = `The key stays as it is: what the store has of "${name}" was changed outside of Broker`
  return new BrokerError('CredentialMissingError', message, {
    hint: 'See `broker doctor`; `broker doctor --accept-restore` takes it as it is. Then try again.',
    cause,
  })
}

/** Keeps the key by which the audit log was signed until now, for the roots up to the newest. */
export async function keepAuditKey(
  tx: Db,
  { before, after }: KeyChange,
  { newestRoot, created_at }: { readonly newestRoot: number; readonly created_at: string },
): Promise<void> {
  const kept = await tx.selectFrom('data_keys').select('term').where('vault_id', '=', AUDIT).execute()
  // Nothing was signed since the key changed last.
  if (newestRoot === 0 || kept.some(({ term }) => term >= newestRoot)) return
  const wrapped = wrapDataKey(after, AUDIT, { term: newestRoot, key: before.auditRoots })
  await tx.insertInto('data_keys').values({ vault_id: AUDIT, term: newestRoot, wrapped, created_at }).execute()
}

/** Returns the keys by which the audit log was signed once, oldest first; `term` is the last root of each. */
export async function auditKeysOfBefore(db: Db, keys: KeyHierarchy): Promise<readonly DataKey[]> {
  const rows = await db
    .selectFrom('data_keys')
    .select(['term', 'wrapped'])
    .where('vault_id', '=', AUDIT)
    .orderBy('term')
    .execute()
  return rows.map(({ term, wrapped }) => whole(AUDIT, () => unwrapDataKey(keys, AUDIT, term, wrapped)))
}
