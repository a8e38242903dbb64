import type { Db, RecordRow, Store } from '../store/index.ts'
import { open, seal, wiped } from './aead.ts'
import { type DataKey, type KeyHierarchy, makeDataKey } from './key-hierarchy.ts'
import { isVault } from './key-rows.ts'
import { type Manifest, withoutRecord, withRecord } from './manifest.ts'
import { recordContext } from './record-context.ts'

/** What the vault does for a rotation of one of its data keys. */
export interface RotationParts {
  readonly store: Store
  readonly keys: KeyHierarchy
  readonly dataKey: (db: Db, vaultId: string, term: number) => Promise<DataKey>
  /** Takes the vault's lock, one generation further. */
  readonly beginChange: (tx: Db, vaultId: string) => Promise<{ generation: number; manifest: Manifest }>
  readonly endChange: (tx: Db, vaultId: string, generation: number, manifest: Manifest) => Promise<void>
  /** ISO-8601. */
  readonly time: () => string
}

/** Records that are sealed anew by one transaction: requests that change something of the vault wait for it. */
const RECORDS_AT_ONCE = 100

/** Returns the terms that the vault has keys of, newest first. */
async function termsOf(db: Db, vaultId: string): Promise<readonly number[]> {
  const rows = await db.selectFrom('data_keys').select('term').where('vault_id', '=', vaultId).execute()
  return rows.map(({ term }) => term).sort((one, other) => other - one)
}

/** Has everything that is sealed from now on sealed under another data key; one that is under way goes on. */
export async function beginRotation({ keys, time }: RotationParts, tx: Db, vaultId: string): Promise<number> {
  const [newest = 0, ...older] = await termsOf(tx, vaultId)
  if (older.length > 0) return newest
  const term = newest + 1
  const { wrapped } = makeDataKey(keys, vaultId, term)
  await tx.insertInto('data_keys').values({ vault_id: vaultId, term, wrapped, created_at: time() }).execute()
  return term
}

/** Returns the vaults whose records are not all sealed under their newest key, or that have older keys still. */
export async function unfinishedRotations(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('data_keys')
    .select('vault_id')
    .groupBy('vault_id')
    .having((eb) => eb.fn.countAll(), '>', 1)
    .execute()
  return rows.map(({ vault_id }) => vault_id).filter(isVault)
}

/** Returns how many records of the vault are not sealed under its newest key yet. */
export async function leftToSeal(db: Db, vaultId: string): Promise<number> {
  const [newest = 0] = await termsOf(db, vaultId)
  const { left } = await db
    .selectFrom('records')
    .select((eb) => eb.fn.countAll().as('left'))
    .where('vault_id', '=', vaultId)
    .where('term', '<', newest)
    .executeTakeFirstOrThrow()
  return Number(left)
}

/**
 * Seals some records anew, each in its version: nothing of them has changed. Without any left, the older keys go.
 * @param done happens in the transaction that removes them
 * @throws Error where a record does not open: it stays, and so does its key
 */
export function sealSomeAnew(
  parts: RotationParts,
  vaultId: string,
  done: (tx: Db) => Promise<void>,
): Promise<'more' | 'done' | 'none'> {
  return parts.store.vaultTransaction(vaultId, async (tx) => {
    const [newest = 0, ...older] = await termsOf(tx, vaultId)
    if (older.length === 0) return 'none'
    const rows = await tx
      .selectFrom('records')
      .selectAll()
      .where('vault_id', '=', vaultId)
      .where('term', '<', newest)
      .limit(RECORDS_AT_ONCE)
      .execute()
    if (rows.length > 0) {
      await sealAnew(parts, tx, { vaultId, rows, term: newest })
      return 'more'
    }
    await tx.deleteFrom('data_keys').where('vault_id', '=', vaultId).where('term', '<', newest).execute()
    await done(tx)
    return 'done'
  })
}

interface Batch {
  readonly vaultId: string
  readonly rows: readonly RecordRow[]
  readonly term: number
}

async function sealAnew(parts: RotationParts, tx: Db, { vaultId, rows, term }: Batch): Promise<void> {
  const { keys, dataKey } = parts
  const change = await parts.beginChange(tx, vaultId)
  const { key } = await dataKey(tx, vaultId, term)
  let { manifest } = change
  for (const row of rows) {
    const before = await dataKey(tx, vaultId, row.term)
    const ref = { vaultId, kind: row.kind, id: row.id }
    const plaintext = open(before.key, row.sealed, recordContext(keys, ref, row))
    const next = { ...row, term }
    const sealed = wiped(plaintext, (bytes) => seal(key, bytes, recordContext(keys, ref, next)))
    manifest = withRecord(keys, withoutRecord(keys, manifest, row), { ...next, sealed })
    await tx
      .updateTable('records')
      .set({ term, sealed })
      .where('vault_id', '=', vaultId)
      .where('kind', '=', row.kind)
      .where('id', '=', row.id)
      .execute()
  }
  await parts.endChange(tx, vaultId, change.generation, manifest)
}
