import type { Actor, AuthType, FlowName } from '../../protocol/index.ts'
import type { Connection } from '../../schemas/index.ts'
import { allowedHosts } from './approval.ts'
import type { ConnectionRecords } from './connection-records.ts'
import { addressesIn, findRow, namesOf, withRefreshes } from './connection-rows.ts'
import { isApproved } from './connection-view.ts'
import type { ListedConnections, OrphanedConnection } from './connections.ts'
import type { ConnectionAddress } from './serving.ts'

export class ListedConnectionsOfStore implements ListedConnections {
  readonly #records: ConnectionRecords

  constructor(records: ConnectionRecords) {
    this.#records = records
  }

  async list(actor: Actor): Promise<readonly Connection[]> {
    // Definitions may have changed on disk.
    this.#records.providers.list()
    const rows = await withRefreshes(this.#records.store.db)
      .where('connections.vault_id', '=', actor.vaultId)
      .orderBy('connections.provider')
      .orderBy('connections.connection')
      .execute()
    return rows.map((row) => this.#records.view(row))
  }

  async orphaned(actor: Actor): Promise<readonly OrphanedConnection[]> {
    const rows = await withRefreshes(this.#records.store.db).where('connections.vault_id', '=', actor.vaultId).execute()
    return rows
      .filter((row) => !isApproved(this.#records.definition(row), row))
      .map((row) => ({ view: this.#records.view(row), hosts: allowedHosts(row) }))
  }

  async counts(actor: Actor): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#records.store.db
      .selectFrom('connections')
      .select((eb) => ['provider', eb.fn.countAll<number>().as('count')])
      .where('vault_id', '=', actor.vaultId)
      .groupBy('provider')
      .execute()
    return new Map(rows.map(({ provider, count }) => [provider, Number(count)]))
  }

  async exists(actor: Actor, provider: string, connection: string): Promise<boolean> {
    return (await findRow(this.#records.store.db, actor, { provider, connection })) !== undefined
  }

  addresses(actor: Actor): Promise<readonly ConnectionAddress[]> {
    return addressesIn(this.#records.store.db, actor)
  }

  async ofProvider(actor: Actor, provider: string) {
    const rows = await namesOf(this.#records.store.db, actor, provider)
    return rows.map(({ connection, auth_type, flow }) => ({
      provider,
      connection,
      authType: auth_type as AuthType,
      flow: flow as FlowName,
    }))
  }
}
