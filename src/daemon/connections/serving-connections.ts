import type { Actor } from '../../protocol/index.ts'
import type { Provider } from '../providers/index.ts'
import { LastUses } from '../store/index.ts'
import { approvedKind, isTakenNoMore } from './approval.ts'
import { optionOf } from './attention.ts'
import type { ConnectionRecords } from './connection-records.ts'
import {
  addressesIn,
  findSealed,
  RECORD_ID,
  type SealedRow,
  type UsedConnection,
  writeLastUses,
} from './connection-rows.ts'
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
  readonly #lastUses: LastUses<UsedConnection>

  constructor(records: ConnectionRecords) {
    this.#records = records
    const { db, dialect } = records.store
    this.#lastUses = new LastUses({ dialect, now: records.now, write: (rows) => writeLastUses(db, dialect, rows) })
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
    this.#noteUse(row)
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

  /** Each version by itself: one that is used since its last refresh is refreshed ahead. */
  #noteUse(row: SealedRow): void {
    const { vault_id, provider, connection } = row
    this.#lastUses.note(`${vault_id}/${recordId(row)}/${row.record?.version}`, { vault_id, provider, connection })
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
    const due = rows.filter((row) => isApproved(this.#records.definition(row), row))
    // Daemons of one store look at the same moment: each begins with others.
    return inAnyOrder(due, this.#records.random)
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

function inAnyOrder<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}
