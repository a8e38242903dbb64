import { setImmediate } from 'node:timers/promises'
import type { Db, RecordRow, Store } from '../store/index.ts'
import { open } from './aead.ts'
import type { Anchor } from './anchor.ts'
import type { DataKey, KeyHierarchy } from './key-hierarchy.ts'
import { emptyManifest, type Manifest, openManifest, withRecord } from './manifest.ts'
import { recordContext } from './record-context.ts'

/** What an integrity pass found. `issues` are sentences for people; none holds a secret. */
export interface Integrity {
  readonly records: number
  readonly issues: readonly string[]
  /** The one among them by which nothing of the vault can be trusted: it does not hold what it last did. */
  readonly breach?: string
  /** Of each record, by `kind/id`. */
  readonly versions: ReadonlyMap<string, number>
}

export interface IntegrityPass {
  readonly store: Store
  readonly keys: KeyHierarchy
  readonly anchor: Anchor
  readonly vaultId: string
  readonly dataKeyOf: (db: Db, term: number) => Promise<DataKey>
}

// Opening ten thousand records takes a tenth of a second: others get their turn in between.
const RECORDS_AT_ONCE = 200

/** Opens every record of a vault, holds them all against its manifest, and its manifest against the anchor. */
export async function checkIntegrity(pass: IntegrityPass): Promise<Integrity> {
  // Asked for first: whoever reads just before a change must not find a thief.
  const floor = pass.anchor.isRolledBack(pass.vaultId) ? 0 : pass.anchor.reached(pass.vaultId)
  const { manifest, rows, terms, dataKeys } = await readVault(pass)
  const dataKeyOf: IntegrityPass['dataKeyOf'] = async (db, term) => dataKeys.get(term) ?? pass.dataKeyOf(db, term)
  const issues: string[] = []
  let found: Manifest = emptyManifest()
  for (const [index, row] of rows.entries()) {
    if (index % RECORDS_AT_ONCE === 0) await setImmediate()
    if (!(await opens({ ...pass, dataKeyOf, db: pass.store.db }, row)))
      issues.push(`The stored ${row.kind} "${row.id}" was changed outside of Broker.`)
    found = withRecord(pass.keys, found, row)
  }
  if (manifest !== undefined && manifest.generation < floor) pass.anchor.noteRollback(pass.vaultId)
  const breach = manifestBreach(pass, manifest, found) ?? dataKeyBreach(terms, rows)
  // Other daemons may have brought it further than this one knows.
  if (breach === undefined && manifest !== undefined) pass.anchor.advance([[pass.vaultId, manifest.generation]])
  const all = [...issues, ...(breach === undefined ? anchorIssues(pass.anchor) : [breach])]
  const versions = new Map(rows.map(({ kind, id, version }) => [`${kind}/${id}`, version] as const))
  return { records: rows.length, issues: all, versions, ...(breach !== undefined && { breach }) }
}

interface StoredManifest {
  readonly generation: number
  readonly sealed: Uint8Array
}

async function readVault({ store, vaultId, dataKeyOf }: IntegrityPass) {
  return store.snapshot(async (tx) => {
    const manifest = await tx.selectFrom('manifests').selectAll().where('vault_id', '=', vaultId).executeTakeFirst()
    const rows = await tx.selectFrom('records').selectAll().where('vault_id', '=', vaultId).execute()
    const stored = await tx.selectFrom('data_keys').select('term').where('vault_id', '=', vaultId).execute()
    const terms = stored.map(({ term }) => term)
    // Those of before may be gone as soon as this state of the store is.
    const keys = new Map<number, DataKey>()
    for (const term of terms) {
      const dataKey = await dataKeyOf(tx, term).catch(() => undefined)
      if (dataKey) keys.set(term, dataKey)
    }
    return { manifest, rows, terms, dataKeys: keys }
  })
}

/** Returns whether the record is one that this vault sealed, unchanged. */
export async function opens(
  { db, keys, vaultId, dataKeyOf }: Pick<IntegrityPass, 'keys' | 'vaultId' | 'dataKeyOf'> & { readonly db: Db },
  row: RecordRow,
): Promise<boolean> {
  try {
    const { key } = await dataKeyOf(db, row.term)
    open(key, row.sealed, recordContext(keys, { vaultId, kind: row.kind, id: row.id }, row)).fill(0)
    return true
  } catch {
    return false
  }
}

export const DATA_KEY_MISSING = 'The data key of the vault is missing'

/** A daemon that knows one goes on, and nobody after it. */
function dataKeyBreach(terms: readonly number[], rows: readonly RecordRow[]): string | undefined {
  const isMissing = terms.length === 0 || rows.some(({ term }) => !terms.includes(term))
  return isMissing ? `${DATA_KEY_MISSING}. Where a daemon runs that has it: broker doctor --accept-restore` : undefined
}

function manifestBreach(
  { keys, anchor, vaultId }: IntegrityPass,
  stored: StoredManifest | undefined,
  found: Manifest,
): string | undefined {
  if (!stored) return 'The manifest of the vault is missing.'
  const expected = openedManifest(keys, vaultId, stored)
  if (!expected) return 'The manifest of the vault was changed outside of Broker.'
  if (expected.count !== found.count) return `The vault holds ${found.count} records, not ${expected.count}.`
  if (expected.fingerprint !== found.fingerprint) return 'A record of the vault was replaced by an older one.'
  if (!anchor.isRolledBack(vaultId)) return undefined
  return 'The whole store is older than the last one seen here. If you restored a backup on purpose: broker doctor --accept-restore'
}

function openedManifest(keys: KeyHierarchy, vaultId: string, stored: StoredManifest): Manifest | undefined {
  try {
    return openManifest(keys, vaultId, stored.generation, stored.sealed)
  } catch {
    return undefined
  }
}

function anchorIssues(anchor: Anchor): readonly string[] {
  if (anchor.damaged) return [`The file ${anchor.name} was changed outside of Broker.`]
  return anchor.isWritten() ? [] : [`The file ${anchor.name} cannot be written.`]
}
