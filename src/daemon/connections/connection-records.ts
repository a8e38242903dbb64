import { LRUCache } from 'lru-cache'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Connection, ProviderDefinition } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Providers } from '../providers/index.ts'
import type { ConnectionRow, Store } from '../store/index.ts'
import type { Vault } from '../vault/index.ts'
import type { FailingRefresh } from './attention.ts'
import type { ConnectionId } from './connection-id.ts'
import { findRefresh, findSealed, type SealedRow } from './connection-rows.ts'
import { connectionView } from './connection-view.ts'
import { type Credential, parseCredential, recordOf } from './credential-record.ts'
import type { OAuthClients } from './oauth-clients.ts'
import { notFound } from './refusals.ts'

export interface ConnectionsOptions {
  readonly store: Store
  readonly vault: Vault
  readonly audit: Audit
  readonly providers: Providers
  readonly clients: OAuthClients
  readonly now?: () => number
  readonly random?: () => number
}

const MOST_REMEMBERED = 10_000

/** The rows and sealed records of connections, as all who work on them need them. */
export class ConnectionRecords {
  readonly store: Store
  readonly vault: Vault
  readonly audit: Audit
  readonly providers: Providers
  readonly clients: OAuthClients
  readonly now: () => number
  readonly random: () => number
  readonly #unapprovedSince = new LRUCache<string, string>({ max: MOST_REMEMBERED })

  constructor({ store, vault, audit, providers, clients, now = Date.now, random = Math.random }: ConnectionsOptions) {
    this.store = store
    this.vault = vault
    this.audit = audit
    this.providers = providers
    this.clients = clients
    this.now = now
    this.random = random
  }

  async row(actor: Actor, id: ConnectionId): Promise<SealedRow> {
    const row = await findSealed(this.store.db, actor, id)
    if (!row) throw this.notFound(id, 'use')
    return row
  }

  async credentialOf(
    actor: Actor,
    row: SealedRow,
  ): Promise<{ readonly credential: Credential; readonly version: number }> {
    if (!row.record) {
      throw new BrokerError(
        'CredentialMissingError',
        `Connection "${row.connection}" of ${row.provider} has no credential`,
        {
          provider: row.provider,
          connection: row.connection,
          hint: `Log in again: broker login ${row.provider} --connection ${row.connection} --force`,
        },
      )
    }
    await this.vault.requireWhole(actor.vaultId)
    const opened = await this.vault.unseal(this.store.db, recordOf(actor, row), row.destination, row.record)
    return { credential: parseCredential(opened.plaintext, row, this.definition(row)), version: opened.version }
  }

  async viewOf(row: ConnectionRow): Promise<Connection> {
    const refresh = await findRefresh(this.store.db, { vaultId: row.vault_id }, row)
    return this.view({ ...row, ...refresh })
  }

  view(row: ConnectionRow & FailingRefresh): Connection {
    const seenSince = (row: ConnectionRow) => this.#approvalSince(row)
    const unused = this.providers.problem()
    return connectionView(this.definition(row), row, { now: this.now(), seenSince, unused })
  }

  definition({ provider }: ConnectionRow): ProviderDefinition | undefined {
    return this.providers.find(provider)?.definition
  }

  notFound(
    id: { provider: string; connection?: string },
    action: 'use' | 'log out' | 'revoke' | 'approve',
  ): BrokerError {
    // Where the provider is unknown, that is the better thing to say.
    this.providers.get(id.provider)
    return notFound(id, action)
  }

  async record(actor: Actor, event: Parameters<Audit['record']>[2]): Promise<void> {
    await this.audit.recordAll([{ actor, event }], 'flushed')
  }

  timestamp(): string {
    return new Date(this.now()).toISOString()
  }

  #approvalSince({ vault_id, provider, connection, destination }: ConnectionRow): string {
    const key = `${vault_id}/${provider}/${connection}/${destination}`
    const since = this.#unapprovedSince.get(key) ?? this.timestamp()
    this.#unapprovedSince.set(key, since)
    return since
  }
}
