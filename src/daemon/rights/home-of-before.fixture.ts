import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type AttackedHome, atStore, type Row } from '../../../test/rights-world.ts'
import { chainedHash } from '../audit/chain.ts'
import type { AuditEventRow } from '../store/index.ts'
import { migrations, oldStore } from '../store/old-store.fixture.ts'
import { deriveKeys } from '../vault/key-hierarchy.ts'
import { type Manifest, openManifest, sealManifest } from '../vault/manifest.ts'

/** A row of `manifests`. */
interface StoredManifest {
  readonly vault_id: string
  readonly generation: number
  readonly sealed: Uint8Array
}

/** The manifests of vaults as they were before rows were sealed; lists there were none. */
export function manifestsOfBefore(
  masterKey: Buffer,
  deploymentId: string,
  rows: readonly StoredManifest[],
): readonly StoredManifest[] {
  const keys = deriveKeys(masterKey, deploymentId)
  return rows
    .filter(({ vault_id }) => !vault_id.startsWith('rights'))
    .map(({ vault_id, generation, sealed }) => {
      const { count, fingerprint } = openManifest<Manifest>(keys, vault_id, generation, sealed)
      return { vault_id, generation, sealed: sealManifest(keys, vault_id, generation, { count, fingerprint }) }
    })
}

/** Events as they were chained before some of them had details. */
function eventsOfBefore(rows: readonly AuditEventRow[]): readonly Row[] {
  let hash = ''
  return rows.map((row) => {
    const before = { ...row, details: null }
    hash = chainedHash(hash, before)
    return { ...before, hash }
  })
}

/** Makes the store of a home whose daemon has stopped what the first few migrations would have left of it. */
export function takeBack({ home }: AttackedHome, migrationCount: 1 | 2 | 3): void {
  const path = join(home, 'server/broker.db')
  const rows = atStore(home, (store) => {
    const of = (query: string) => store.all(query)
    const withHandle = (table: string) =>
      of(
        `select ${table}.*, identities.handle as handle from ${table} join identities on identities.id = ${table}.identity_id`,
      )
    return {
      principals: of(`select * from principals ${migrationCount < 3 ? 'where local_owner = 1' : ''}`),
      identities: of('select * from identities'),
      claims: withHandle('claims'),
      runs: withHandle('runs'),
      accounts: of('select * from accounts'),
      browser_sessions: of('select *, null as opened_by from browser_sessions'),
      vault_sources: of('select * from vault_sources'),
      data_keys: of(`select * from data_keys where vault_id <> 'rights'`),
      manifests: of('select * from manifests'),
      records: of('select * from records'),
      connections: of('select * from connections'),
      audit_events: eventsOfBefore(of('select * from audit_events order by seq') as unknown as AuditEventRow[]),
    }
  })
  const deploymentId = String(rows.vault_sources[0]?.['deployment_id'])
  const masterKey = Buffer.from(readFileSync(join(home, 'server/master.key'), 'utf8'), 'base64')
  const manifests = manifestsOfBefore(masterKey, deploymentId, rows.manifests as unknown as StoredManifest[])
  const isKept = ({ principal_id }: Row) =>
    principal_id === null || rows.principals.some(({ id }) => id === principal_id)
  const content = { ...rows, identities: rows.identities.filter(isKept), manifests: manifests as unknown as Row[] }

  const old = oldStore(`${path}.old`)
  for (const { statements } of migrations.slice(0, migrationCount)) old.run(statements)
  for (const [table, all] of Object.entries(content)) {
    const columns = old.database
      .prepare(`select name from pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => String(name))
    if (columns.length === 0) continue
    const insert = old.database.prepare(`insert into ${table} values (${columns.map(() => '?').join()})`)
    for (const row of all) insert.run(...columns.map((column) => row[column] ?? null))
  }
  old.run([
    `update audit_head set seq = (select max(seq) from audit_events),
     hash = (select hash from audit_events order by seq desc limit 1)`,
  ])
  old.record(migrations.slice(0, migrationCount).map(({ name }) => name))
  old.database.close()
  for (const file of [path, `${path}-wal`, `${path}-shm`, join(home, 'server/vault-anchor.json')])
    rmSync(file, { force: true })
  renameSync(`${path}.old`, path)
}
