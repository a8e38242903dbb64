import type { Actor } from '../../protocol/index.ts'
import type { Provider } from '../providers/index.ts'
import { ThrottledWrites } from '../store/index.ts'
import { approvedKind, isTakenNoMore } from './approval.ts'
import { optionOf } from './attention.ts'
import type { ConnectionId } from './connection-id.ts'
import type { ConnectionRecords } from './connection-records.ts'
import { addressesIn, findSealed, RECORD_ID, type SealedRow, updateRow } from './connection-rows.ts'
import { isApproved, type UsableConnection, usableConnection } from './connection-view.ts'
import type { DueConnection, ServingConnections } from './connections.ts'
import { recordId } from './credential-record.ts'
import { LONGEST_RETRY_AFTER } from './freshness.ts'
import { type IssueOutcome, writeIssueOutcome } from './issue-outcome.ts'
import { LEASE_MS } from './refresh-lease.ts'
import { needsApproval, notUsable, tokenExpired } from './refusals.ts'
import { servingOf } from './serving.ts'
import { tokenStatus } from './token-status.ts'

/** Nobody uses it: its refresh token shall not end for that. */
const REST_MS = 24 * 60 * 60_000
/** Looked at for one that can be refreshed. */
const MOST_DUE = 1_000

export class ServingConnectionsOfStore implements ServingConnections {
  readonly #records: ConnectionRecords
  readonly #lastUse: ThrottledWrites

  constructor(records: ConnectionRecords) {
    this.#records = records
    this.#lastUse = new ThrottledWrites(records.now)
  }

  async use(actor: Actor, provider: Provider, connection: string | undefined): Promise<UsableConnection> {
    const used = await this.find(actor, provider, connection)
    if (used) return used
    throw notUsable(provider.definition.name, connection)
  }

  async find(
    actor: Actor,
    provider: Provider,
    connection: string | undefined,
    serves?: (baseUrl: string | undefined) => boolean,
  ): Promise<UsableConnection | undefined> {
    const row = await this.#rowFor(actor, { provider: provider.definition.name, connection }, serves)
    if (!row) return undefined
    const kind = approvedKind(provider.definition, row)
    if (!kind) throw isTakenNoMore(provider.definition, row) ? tokenExpired(row, 'needs_login') : needsApproval(row)
    const status = tokenStatus(row, this.#records.now())
    if (status !== 'connected') throw tokenExpired(row, status, optionOf(provider.definition, kind))
    const opened = await this.#records.credentialOf(actor, row)
    this.#noteUse(actor, row)
    return usableConnection(row, opened, this.#records.now())
  }

  /** The default costs no further question: most requests are for it. */
  async #rowFor(
    actor: Actor,
    id: Parameters<typeof findSealed>[2],
    serves: ((baseUrl: string | undefined) => boolean) | undefined,
  ): Promise<SealedRow | undefined> {
    const { db } = this.#records.store
    const row = await findSealed(db, actor, id)
    if (id.connection !== undefined || !serves || (row && serves(row.base_url ?? undefined))) return row
    const chosen = servingOf(await addressesIn(db, actor, id.provider), ({ base_url }) => serves(base_url))
    return chosen ? findSealed(db, actor, chosen) : row
  }

  #noteUse(actor: Actor, id: ConnectionId): void {
    this.#lastUse.note(`${actor.vaultId}/${recordId(id)}`, (last_used_at) =>
      updateRow(this.#records.store.db, actor, id, { last_used_at }),
    )
  }

  async dueForRefresh(limit: number): Promise<readonly DueConnection[]> {
    const now = this.#records.now()
    const rows = await this.#records.store.db
      .selectFrom('connections')
      .innerJoin('principals', 'principals.vault_id', 'connections.vault_id')
      .innerJoin('records', (join) =>
        join
          .onRef('records.vault_id', '=', 'connections.vault_id')
          .on('records.kind', '=', 'connection')
          .on('records.id', '=', RECORD_ID),
      )
      .leftJoin('refreshes', (join) =>
        join
          .onRef('refreshes.vault_id', '=', 'connections.vault_id')
          .onRef('refreshes.provider', '=', 'connections.provider')
          .onRef('refreshes.connection', '=', 'connections.connection'),
      )
      .selectAll('connections')
      .select(['principals.id as principal_id', 'records.version'])
      .where('refresh_due_at', '<=', this.#records.timestamp())
      .where((eb) =>
        eb.or([
          eb('last_used_at', '>=', eb.ref('updated_at')),
          eb('updated_at', '<=', new Date(now - REST_MS).toISOString()),
        ]),
      )
      .where((eb) =>
        eb.or([
          eb('retry_at', 'is', null),
          eb('retry_at', '<=', now),
          eb('retry_at', '>', eb(eb.fn.coalesce('retry_pause', eb.val(LONGEST_RETRY_AFTER)), '+', now)),
        ]),
      )
      .where((eb) =>
        eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', now), eb('leased_until', '>', now + LEASE_MS)]),
      )
      .orderBy('refresh_due_at')
      .limit(MOST_DUE)
      .execute()
    return rows
      .filter((row) => isApproved(this.#records.definition(row), row))
      .slice(0, limit)
      .map(({ vault_id: vaultId, principal_id: principalId, provider, connection, version }) => ({
        vaultId,
        principalId,
        provider,
        connection,
        version,
      }))
  }

  async tokenIssued(actor: Actor, used: UsableConnection, outcome: IssueOutcome): Promise<void> {
    const { provider, connection } = used
    await this.#records.store.vaultTransaction(actor.vaultId, async (tx) => {
      await writeIssueOutcome(tx, actor, used, { outcome, now: this.#records.now() })
      await this.#records.audit.record(tx, actor, {
        provider,
        connection,
        ...(outcome.kind === 'issued'
          ? { event: 'provider.refreshed', status: 'success' }
          : { event: 'provider.refresh_failed', status: 'failure', reason: outcome.reason }),
      })
    })
  }
}
