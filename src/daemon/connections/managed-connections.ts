import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Approval, Approved, ConnectionDetail, ProviderDefinition, Revoked } from '../../schemas/index.ts'
import { type DestinationLines, enteredOf } from '../providers/index.ts'
import type { ConnectionRow, Db } from '../store/index.ts'
import { approvedKind, differenceFor, isTakenNoMore } from './approval.ts'
import type { ConnectionId } from './connection-id.ts'
import type { ConnectionRecords } from './connection-records.ts'
import {
  deleteRow,
  findDefault,
  findRefresh,
  findRow,
  findSealed,
  namesOf,
  type SealedRow,
  updateRow,
} from './connection-rows.ts'
import { redacted } from './connection-view.ts'
import type { LeftBehind, ManagedConnections, Removed } from './connections.ts'
import {
  type Credential,
  type Fields,
  mapValues,
  parseCredential,
  recordOf,
  sameText,
  serialize,
} from './credential-record.ts'
import { boundTo } from './destination.ts'
import { isLeased } from './refresh-lease.ts'
import { changedAgain, isRefreshing, noDefinition, nothingToApprove, tokenExpired } from './refusals.ts'

export class ManagedConnectionsOfStore implements ManagedConnections {
  readonly #records: ConnectionRecords

  constructor(records: ConnectionRecords) {
    this.#records = records
  }

  async inspect(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail> {
    const row = await this.#records.row(actor, { provider, connection })
    const { credential } = await this.#records.credentialOf(actor, row)
    return { ...(await this.#records.viewOf(row)), credential: redacted(this.#records.definition(row), credential) }
  }

  async reveal(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail> {
    if (actor.run) {
      throw new BrokerError('OperationNotAllowedError', 'The key of a run cannot reveal a credential', { provider })
    }
    const row = await this.#records.row(actor, { provider, connection })
    const { credential } = await this.#records.credentialOf(actor, row)
    await this.#records.record(actor, { event: 'connection.revealed', status: 'success', provider, connection })
    return { ...(await this.#records.viewOf(row)), credential: mapValues(credential.fields, (value) => value.reveal()) }
  }

  async holds(actor: Actor, id: ConnectionId, entered: Fields): Promise<boolean> {
    const row = await this.#records.row(actor, id)
    const stored = this.#entered(row, (await this.#records.credentialOf(actor, row)).credential)
    const names = Object.keys(stored)
    if (names.length !== Object.keys(entered).length) return false
    return names.every((name) => sameText(stored[name], entered[name]))
  }

  #entered(row: ConnectionRow, { kind, fields }: Credential): Fields {
    const definition = this.#records.definition(row)
    return definition && kind === 'client_credentials' ? enteredOf(definition, fields) : fields
  }

  async approval(actor: Actor, id: ConnectionId): Promise<Approval> {
    const row = await this.#records.row(actor, id)
    const { provider, connection } = row
    const { added, removed, isKnown, newDomains, version } = differenceFor(this.#unapproved(row), row)
    const difference = { added: copied(added), removed: copied(removed), known: isKnown }
    return { provider, connection, ...difference, new_domains: [...newDomains], version }
  }

  /** The definition that is to be approved. */
  #unapproved(row: ConnectionRow): ProviderDefinition {
    const definition = this.#records.definition(row)
    if (!definition) throw noDefinition(row)
    if (approvedKind(definition, row) !== undefined) throw nothingToApprove(row)
    if (isTakenNoMore(definition, row)) throw tokenExpired(row, 'needs_login')
    return definition
  }

  async approve(actor: Actor, id: ConnectionId, version?: string): Promise<Approved> {
    if (actor.run) {
      throw new BrokerError('OperationNotAllowedError', 'The key of a run cannot approve a connection', { ...id })
    }
    await this.#records.vault.requireWhole(actor.vaultId)
    return this.#records.store.vaultTransaction(actor.vaultId, async (tx) => {
      const row = await findSealed(tx, actor, id)
      if (!row) throw this.#records.notFound(id, 'approve')
      // Read once: it may be replaced while this goes on.
      const definition = this.#unapproved(row)
      const { added, removed, version: present } = differenceFor(definition, row)
      if (version !== undefined && version !== present) throw changedAgain(row)
      await this.#requireAtRest(tx, actor, row)
      await this.#bindAnew(tx, actor, { row, definition })
      const { provider, connection } = row
      await this.#records.audit.record(tx, actor, {
        event: 'connection.approved',
        status: 'success',
        provider,
        connection,
      })
      const allowed = { added: Object.values(added).flat(), removed: Object.values(removed).flat() }
      return { status: 'ok' as const, provider, connection, allowed }
    })
  }

  /** Refuses a change during a refresh: what the provider grants meanwhile is for the credential that is stored now, and would be lost. */
  async #requireAtRest(tx: Db, actor: Actor, row: ConnectionRow): Promise<void> {
    const refresh = await findRefresh(tx, actor, row)
    if (isLeased(refresh, await this.#records.store.clock(tx))) throw isRefreshing(row)
  }

  async #bindAnew(
    tx: Db,
    actor: Actor,
    { row, definition }: { readonly row: SealedRow; readonly definition: ProviderDefinition },
  ): Promise<void> {
    if (!row.record) throw this.#records.notFound(row, 'approve')
    const { plaintext } = await this.#records.vault.unseal(tx, recordOf(actor, row), row.destination, row.record)
    const credential = parseCredential(plaintext, row, definition)
    const bound = boundTo(definition, credential.kind, row.base_url ?? undefined)
    await this.#records.vault.put(tx, recordOf(actor, row), bound.destination, serialize(credential))
    await updateRow(tx, actor, row, { ...bound, updated_at: this.#records.timestamp() })
  }

  async setDefault(actor: Actor, provider: string, connection: string): Promise<void> {
    await this.#records.store.vaultTransaction(actor.vaultId, async (tx) => {
      if (!(await findRow(tx, actor, { provider, connection })))
        throw this.#records.notFound({ provider, connection }, 'use')
      await this.#clearDefault(tx, actor, provider)
      await this.#makeDefault(tx, actor, { provider, connection })
    })
  }

  async #makeDefault(tx: Db, actor: Actor, { provider, connection }: ConnectionId): Promise<void> {
    await updateRow(tx, actor, { provider, connection }, { is_default: 1 })
    await this.#records.audit.record(tx, actor, {
      event: 'connection.default_set',
      status: 'success',
      provider,
      connection,
    })
  }

  async #clearDefault(tx: Db, actor: Actor, provider: string): Promise<void> {
    await tx
      .updateTable('connections')
      .set({ is_default: 0 })
      .where('vault_id', '=', actor.vaultId)
      .where('provider', '=', provider)
      .execute()
  }

  async logout(actor: Actor, provider: string, connection: string): Promise<LeftBehind> {
    return this.#records.store.vaultTransaction(actor.vaultId, async (tx) => {
      const row = await findRow(tx, actor, { provider, connection })
      if (!row) throw this.#records.notFound({ provider, connection }, 'log out')
      await this.#remove(tx, actor, row)
      await this.#records.audit.record(tx, actor, { event: 'provider.logout', status: 'success', provider, connection })
      return this.#leftBehind(tx, actor, provider)
    })
  }

  async #leftBehind(tx: Db, actor: Actor, provider: string): Promise<LeftBehind> {
    if (await findDefault(tx, actor, provider)) return {}
    const left = (await namesOf(tx, actor, provider)).map(({ connection }) => connection)
    const [only] = left
    if (only === undefined) return {}
    if (left.length > 1) return { left }
    await this.#makeDefault(tx, actor, { provider, connection: only })
    return { newDefault: only }
  }

  async revoke(actor: Actor, provider: string, remote: Revoked['remote']): Promise<Revoked> {
    const failed = remote === 'failed'
    const removed = await this.#records.store.vaultTransaction(actor.vaultId, async (tx) => {
      const { connections, clients } = await this.removeAll(tx, actor, provider)
      if (connections + clients === 0) throw this.#records.notFound({ provider }, 'revoke')
      const outcome = failed ? { status: 'failure' as const, reason: 'remote_failed' } : { status: 'success' as const }
      await this.#records.audit.record(tx, actor, { event: 'provider.revoked', provider, ...outcome })
      return connections
    })
    return { status: failed ? 'partial' : 'ok', provider, removed, remote }
  }

  async removeAll(tx: Db, actor: Actor, provider: string): Promise<Removed> {
    const rows = await namesOf(tx, actor, provider)
    for (const row of rows) await this.#remove(tx, actor, row)
    return { connections: rows.length, clients: await this.#records.clients.forgetAll(tx, actor, provider) }
  }

  async #remove(tx: Db, actor: Actor, id: ConnectionId): Promise<void> {
    await this.#records.vault.remove(tx, recordOf(actor, id))
    await deleteRow(tx, actor, id)
  }
}

function copied({ hosts, injections, endpoints }: DestinationLines): Approval['added'] {
  return { hosts: [...hosts], injections: [...injections], endpoints: [...endpoints] }
}
