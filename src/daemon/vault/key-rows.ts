import type { EncryptionSource } from '../../protocol/index.ts'
import type { Db } from '../store/index.ts'

/** In the column of vaults: the master key, wrapped under a passphrase. No vault is called so: theirs are random. */
const PASSPHRASE = 'passphrase'
/** Where a master key of before may still be, until it is removed. */
const FORMER = 'former'
/** A key by which the audit log was signed up to the root that is its term, under the master key of before. */
export const AUDIT = 'audit'
/** Names in the column of vaults that stand for no vault. */
const NO_VAULTS: ReadonlySet<string> = new Set([PASSPHRASE, FORMER, AUDIT, 'rights'])

/** Returns whether the name of a key is that of a vault. */
export function isVault(name: string): boolean {
  return !NO_VAULTS.has(name)
}

/** A master key that the vault was under before. */
export interface FormerKey {
  readonly source: EncryptionSource
  readonly keyId: string
}

/** The one that is still to be removed; undefined where there is none. */
export async function formerKey(db: Db): Promise<FormerKey | undefined> {
  const row = await db.selectFrom('data_keys').select('wrapped').where('vault_id', '=', FORMER).executeTakeFirst()
  return row && (JSON.parse(Buffer.from(row.wrapped).toString()) as FormerKey)
}

/** Undefined where there is none any more. */
export async function storeFormer(tx: Db, former: FormerKey | undefined, created_at: string): Promise<void> {
  await tx.deleteFrom('data_keys').where('vault_id', '=', FORMER).execute()
  if (former === undefined) return
  const wrapped = Buffer.from(JSON.stringify(former))
  await tx.insertInto('data_keys').values({ vault_id: FORMER, term: 1, wrapped, created_at }).execute()
}

export async function wrappedMasterKey(db: Db): Promise<Uint8Array | undefined> {
  const row = await db.selectFrom('data_keys').select('wrapped').where('vault_id', '=', PASSPHRASE).executeTakeFirst()
  return row?.wrapped
}

/** Takes the place of one that is there; undefined removes it. */
export async function storeWrapped(tx: Db, wrapped: Uint8Array | undefined, created_at: string): Promise<void> {
  await tx.deleteFrom('data_keys').where('vault_id', '=', PASSPHRASE).execute()
  if (wrapped === undefined) return
  await tx.insertInto('data_keys').values({ vault_id: PASSPHRASE, term: 1, wrapped, created_at }).execute()
}

interface Standing {
  readonly source: string
  readonly term: number | null
  readonly generation: number | null
  readonly records: number
}

/** What the store says of the deployment and one vault of it, by one statement; undefined where nothing was made yet. */
export async function standingOf(db: Db, vaultId = ''): Promise<Standing | undefined> {
  const row = await db
    .selectFrom('vault_sources')
    .select((eb) => [
      'source',
      eb
        .selectFrom('data_keys')
        .select(({ fn }) => fn.max('term').as('term'))
        .where('vault_id', '=', vaultId)
        .as('term'),
      eb.selectFrom('manifests').select('generation').where('vault_id', '=', vaultId).as('generation'),
      eb
        .selectFrom('records')
        .select(({ fn }) => fn.countAll<number>().as('records'))
        .where('vault_id', '=', vaultId)
        .as('records'),
    ])
    .executeTakeFirst()
  return row && { ...row, records: Number(row.records) }
}
