import { sql } from 'kysely'
import type { IdentityActor } from '../../protocol/index.ts'
import { type Evidence, LISTS } from '../rights/index.ts'
import {
  type ColumnTypes,
  type Db,
  type IdentityRow,
  jsonRows,
  type PrincipalRow,
  preparedQuery,
  type RunRow,
  type Store,
} from '../store/index.ts'

/** An identity with its principal, and how far that one's list has come. */
export interface ActingRow {
  readonly id: string
  readonly handle: string
  readonly did: string
  readonly principal_id: string | null
  readonly created_at: string
  readonly mac: string | null
  readonly role: PrincipalRow['role'] | null
  readonly vault_id: string | null
  readonly local_owner: number | null
  readonly epoch: number | null
  readonly principal_created_at: string | null
  readonly principal_mac: string | null
  readonly generation: number | null
}

/** The same, of a run of that identity. */
export interface ActingRunRow extends ActingRow {
  readonly run_id: string
  readonly run_did: string
  readonly grants: string
  readonly run_epoch: number
  readonly run_created_at: string
  readonly expires_at: string
  readonly ended_at: string | null
  readonly run_mac: string | null
}

export const identityByDid = preparedQuery(['did'], (db, { did }: Pick<IdentityRow, 'did'>) =>
  identitiesWithPrincipals(db).where('identities.did', '=', did),
)

export const runByDid = preparedQuery(['did'], (db, { did }: Pick<RunRow, 'did'>) =>
  identitiesWithPrincipals(db)
    .innerJoin('runs', 'runs.identity_id', 'identities.id')
    .select([
      'runs.id as run_id',
      'runs.did as run_did',
      'runs.grants',
      'runs.epoch as run_epoch',
      'runs.created_at as run_created_at',
      'runs.expires_at',
      'runs.ended_at',
      'runs.mac as run_mac',
    ])
    .where('runs.did', '=', did),
)

function identitiesWithPrincipals(db: Db) {
  return db
    .selectFrom('identities')
    .leftJoin('principals', 'principals.id', 'identities.principal_id')
    .leftJoin('manifests', (join) =>
      join.on('manifests.vault_id', '=', sql<string>`${sql.lit(LISTS)} || identities.principal_id`),
    )
    .select([
      'identities.id',
      'identities.handle',
      'identities.did',
      'identities.principal_id',
      'identities.created_at',
      'identities.mac',
      'principals.role',
      'principals.vault_id',
      'principals.local_owner',
      'principals.epoch',
      'principals.created_at as principal_created_at',
      'principals.mac as principal_mac',
      'manifests.generation',
    ])
}

/** Returns what speaks for an identity: its row, and where it is claimed its principal's. */
export function evidenceOf(row: ActingRow): Evidence {
  const { principal_id: principalId, generation } = row
  const principal = principalOf(row)
  const rows = [
    { table: 'identities', row } as const,
    ...(principal ? [{ table: 'principals', row: principal } as const] : []),
  ]
  return { principalId, generation, rows }
}

/** Returns what speaks for a run: its own row, and all that speaks for its identity. */
export function runEvidenceOf(row: ActingRunRow): Evidence {
  const { rows, ...rest } = evidenceOf(row)
  const run = {
    id: row.run_id,
    did: row.run_did,
    identity_id: row.id,
    grants: row.grants,
    epoch: row.run_epoch,
    created_at: row.run_created_at,
    expires_at: row.expires_at,
    ended_at: row.ended_at,
    mac: row.run_mac,
  }
  return { ...rest, rows: [{ table: 'runs', row: run }, ...rows] }
}

/** Undefined where nobody has claimed the identity. */
export function actorOf(row: ActingRow): IdentityActor | undefined {
  const principal = principalOf(row)
  if (!principal) return undefined
  return {
    kind: 'identity',
    identity: row.handle,
    identityId: row.id,
    did: row.did,
    principalId: principal.id,
    vaultId: principal.vault_id,
    role: principal.role,
  }
}

function principalOf(row: ActingRow): PrincipalRow | undefined {
  const { principal_id: id, role, vault_id, local_owner, epoch, principal_created_at: created_at } = row
  if (id === null || role === null || vault_id === null || created_at === null) return undefined
  return { id, role, vault_id, created_at, local_owner: local_owner ?? 0, epoch: epoch ?? 0, mac: row.principal_mac }
}

type LastUse = Pick<IdentityRow, 'id'> & { readonly last_used_at: string }

const LAST_USE: ColumnTypes<LastUse> = { id: 'text', last_used_at: 'text' }

/** Rows that somebody changes just now are left out: nobody is to wait for them. */
export async function writeLastUses(db: Db, dialect: Store['dialect'], uses: readonly LastUse[]): Promise<void> {
  const unlocked = dialect === 'postgres' ? sql`for update of own skip locked` : sql``
  await sql`update identities set last_used_at = used.last_used_at
    from (select given.* from ${jsonRows(dialect, LAST_USE, uses)} as given join identities as own
      on own.id = given.id ${unlocked}) as used
    where identities.id = used.id`.execute(db)
}
