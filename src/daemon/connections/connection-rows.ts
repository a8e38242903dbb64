import type { Actor } from '../../protocol/index.ts'
import { type Db, preparedQuery } from '../store/index.ts'
import type { ConnectionId } from './connection-id.ts'

export function findRow(db: Db, { vaultId }: Actor, { provider, connection }: ConnectionId) {
  return namedConnection(db, { vaultId, provider, connection })
}

export function findDefault(db: Db, { vaultId }: Actor, provider: string) {
  return defaultConnection(db, { vaultId, provider })
}

type InVault = Pick<Actor, 'vaultId'>

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
    .where('is_default', '=', 1),
)

/** With it goes what was known of its refreshes: it was about that credential alone. */
export async function deleteRow(tx: Db, actor: Actor, { provider, connection }: ConnectionId): Promise<void> {
  for (const table of ['refreshes', 'connections'] as const) {
    await tx
      .deleteFrom(table)
      .where('vault_id', '=', actor.vaultId)
      .where('provider', '=', provider)
      .where('connection', '=', connection)
      .execute()
  }
}

/** Which connections a vault lists, and for which it has sealed records. */
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
