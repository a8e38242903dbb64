import { sql } from 'kysely'
import type { Actor } from '../../protocol/index.ts'
import {
  type ColumnTypes,
  type ConnectionRow,
  type Db,
  jsonRows,
  preparedQuery,
  type RefreshRow,
  type Store,
} from '../store/index.ts'
import type { SealedRecord } from '../vault/index.ts'
import type { ConnectionId } from './connection-id.ts'
import type { ConnectionAddress } from './serving.ts'

export function findRow(db: Db, { vaultId }: Actor, { provider, connection }: ConnectionId) {
  return namedConnection(db, { vaultId, provider, connection })
}

export function findDefault(db: Db, { vaultId }: Actor, provider: string) {
  return defaultConnection(db, { vaultId, provider })
}

/** A connection with its record, both as they were at one moment: another daemon may be storing new ones. */
export type SealedRow = ConnectionRow & { readonly record: SealedRecord | undefined }

/** The named connection, or the provider's default. */
export async function findSealed(
  db: Db,
  { vaultId }: Actor,
  { provider, connection }: { readonly provider: string; readonly connection: string | undefined },
): Promise<SealedRow | undefined> {
  const found = await (connection === undefined
    ? defaultWithRecord(db, { vaultId, provider })
    : namedWithRecord(db, { vaultId, provider, connection }))
  if (!found) return undefined
  const { version, term, sealed, ...row } = found
  const isThere = version !== null && term !== null && sealed !== null
  return { ...row, record: isThere ? { version, term, sealed } : undefined }
}

type InVault = Pick<Actor, 'vaultId'>

const namedWithRecord = preparedQuery(['vaultId', 'provider', 'connection'], (db, id: ConnectionId & InVault) =>
  withRecords(db, id).where('connection', '=', id.connection),
)

const defaultWithRecord = preparedQuery(['vaultId', 'provider'], (db, id: Pick<ConnectionId, 'provider'> & InVault) =>
  // As a parameter it would have SQLite plan the statement anew each time: an index is of these rows alone.
  withRecords(db, id).where('is_default', '=', sql.lit(1)),
)

function withRecords(db: Db, { vaultId, provider }: Pick<ConnectionId, 'provider'> & InVault) {
  return db
    .selectFrom('connections')
    .leftJoin('records', (join) =>
      join
        .onRef('records.vault_id', '=', 'connections.vault_id')
        .on('records.kind', '=', 'connection')
        .on('records.id', '=', RECORD_ID),
    )
    .selectAll('connections')
    .select(['records.version', 'records.term', 'records.sealed'])
    .where('connections.vault_id', '=', vaultId)
    .where('provider', '=', provider)
}

/** Returns where connections are for: those of one provider, or all that have an address of their own. */
export async function addressesIn(
  db: Db,
  { vaultId }: Pick<Actor, 'vaultId'>,
  provider?: string,
): Promise<readonly ConnectionAddress[]> {
  const query = db
    .selectFrom('connections')
    .select(['provider', 'connection', 'base_url', 'is_default', 'created_at'])
    .where('vault_id', '=', vaultId)
  const rows = await (provider === undefined
    ? query.where('base_url', 'is not', null)
    : query.where('provider', '=', provider)
  ).execute()
  return rows.map(({ base_url, is_default, ...id }) => ({
    ...id,
    is_default: is_default === 1,
    ...(base_url !== null && { base_url }),
  }))
}

/** Connections with what is known of their refreshes. */
export function withRefreshes(db: Db) {
  return db
    .selectFrom('connections')
    .leftJoin('refreshes', (join) =>
      join
        .onRef('refreshes.vault_id', '=', 'connections.vault_id')
        .onRef('refreshes.provider', '=', 'connections.provider')
        .onRef('refreshes.connection', '=', 'connections.connection'),
    )
    .selectAll('connections')
    .select(['refreshes.failures', 'refreshes.failing_since', 'refreshes.failure_reason', 'refreshes.forced_at'])
}

/** `recordId` of {@link import('./credential-record.ts')}, in SQL. */
export const RECORD_ID = sql<string>`connections.provider || '/' || connections.connection`

const namedConnection = preparedQuery(['vaultId', 'provider', 'connection'], (db, id: ConnectionId & InVault) =>
  db
    .selectFrom('connections')
    .selectAll()
    .where('vault_id', '=', id.vaultId)
    .where('provider', '=', id.provider)
    .where('connection', '=', id.connection),
)

const defaultConnection = preparedQuery(['vaultId', 'provider'], (db, id: Pick<ConnectionId, 'provider'> & InVault) =>
  db
    .selectFrom('connections')
    .selectAll()
    .where('vault_id', '=', id.vaultId)
    .where('provider', '=', id.provider)
    .where('is_default', '=', sql.lit(1)),
)

/** Returns what is known of the connection's refreshes. */
export async function findRefresh(
  tx: Db,
  { vaultId }: Pick<Actor, 'vaultId'>,
  id: ConnectionId,
): Promise<RefreshRow | undefined> {
  return tx
    .selectFrom('refreshes')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .where('provider', '=', id.provider)
    .where('connection', '=', id.connection)
    .executeTakeFirst()
}

/** The first connection of a provider is its default. */
export async function insertRow(
  tx: Db,
  actor: Actor,
  id: ConnectionId,
  given: Omit<ConnectionRow, 'vault_id' | 'provider' | 'connection' | 'is_default' | 'last_used_at'>,
): Promise<void> {
  const is_default = (await findDefault(tx, actor, id.provider)) ? 0 : 1
  const { provider, connection } = id
  await tx
    .insertInto('connections')
    .values({ vault_id: actor.vaultId, provider, connection, is_default, last_used_at: null, ...given })
    .execute()
}

export async function updateRow(
  tx: Db,
  { vaultId }: Pick<Actor, 'vaultId'>,
  { provider, connection }: ConnectionId,
  change: Partial<Omit<ConnectionRow, 'vault_id' | 'provider' | 'connection'>>,
): Promise<void> {
  await tx
    .updateTable('connections')
    .set(change)
    .where('vault_id', '=', vaultId)
    .where('provider', '=', provider)
    .where('connection', '=', connection)
    .execute()
}

export type UsedConnection = Pick<ConnectionRow, 'vault_id' | 'provider' | 'connection'>

type LastUse = UsedConnection & { readonly last_used_at: string }

const LAST_USE: ColumnTypes<LastUse> = { vault_id: 'text', provider: 'text', connection: 'text', last_used_at: 'text' }

/** Rows that somebody changes just now are left out: they are as good as used, and nobody is to wait for them. */
export async function writeLastUses(db: Db, dialect: Store['dialect'], uses: readonly LastUse[]): Promise<void> {
  const unlocked = dialect === 'postgres' ? sql`for update of own skip locked` : sql``
  await sql`update connections set last_used_at = used.last_used_at
    from (select given.* from ${jsonRows(dialect, LAST_USE, uses)} as given join connections as own
      on own.vault_id = given.vault_id and own.provider = given.provider and own.connection = given.connection
      ${unlocked}) as used
    where connections.vault_id = used.vault_id and connections.provider = used.provider
      and connections.connection = used.connection`.execute(db)
}

/** With it goes what was known of its refreshes: it was about that credential alone. */
export async function deleteRow(tx: Db, actor: Actor, id: ConnectionId): Promise<void> {
  await deleteIn(tx, 'refreshes', actor, id)
  await deleteIn(tx, 'connections', actor, id)
}

/** Forgets what was known of a connection's refreshes. */
export async function forgetRefreshes(tx: Db, actor: Actor, id: ConnectionId): Promise<void> {
  await deleteIn(tx, 'refreshes', actor, id)
}

async function deleteIn(
  tx: Db,
  table: 'refreshes' | 'connections',
  { vaultId }: Actor,
  { provider, connection }: ConnectionId,
): Promise<void> {
  await tx
    .deleteFrom(table)
    .where('vault_id', '=', vaultId)
    .where('provider', '=', provider)
    .where('connection', '=', connection)
    .execute()
}

/** The connections of one provider. */
export async function namesOf(db: Db, { vaultId }: Actor, provider: string) {
  return db
    .selectFrom('connections')
    .select(['provider', 'connection', 'auth_type', 'flow'])
    .where('vault_id', '=', vaultId)
    .where('provider', '=', provider)
    .execute()
}

/** Returns which connections a vault lists, and for which it has sealed records. */
export async function namesIn(tx: Db, vaultId: string) {
  return {
    rows: await tx
      .selectFrom('connections')
      .select(['provider', 'connection'])
      .where('vault_id', '=', vaultId)
      .execute(),
    records: await tx
      .selectFrom('records')
      .select('id')
      .where('vault_id', '=', vaultId)
      .where('kind', '=', 'connection')
      .execute(),
  }
}
