import { LRUCache } from 'lru-cache'
import type { HostPattern } from '../../network/index.ts'
import { type Actor, type AuthType, BrokerError, type FlowName } from '../../protocol/index.ts'
import type {
  Approval,
  Approved,
  Connection,
  ConnectionDetail,
  ProviderDefinition,
  Revoked,
} from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import {
  type CredentialKind,
  type DestinationLines,
  destinationText,
  enteredOf,
  type Provider,
  type Providers,
} from '../providers/index.ts'
import { type ConnectionRow, type Db, SparseWrites, type Store } from '../store/index.ts'
import type { Vault } from '../vault/index.ts'
import { allowedHosts, approvedKind, differenceFor, isTakenNoMore } from './approval.ts'
import { type FailingRefresh, optionOf } from './attention.ts'
import type { ConnectionId } from './connection-id.ts'
import {
  addressesIn,
  deleteRow,
  findDefault,
  findRefresh,
  findRow,
  findSealed,
  forgetRefreshes,
  insertRow,
  namesIn,
  RECORD_ID,
  type SealedRow,
  updateRow,
  withRefreshes,
} from './connection-rows.ts'
import { connectionView, isApproved, redacted, type UsableConnection, usableConnection } from './connection-view.ts'
import {
  type Credential,
  type Fields,
  mapValues,
  parseCredential,
  recordId,
  recordOf,
  sameText,
  serialize,
} from './credential-record.ts'
import { destinationOf } from './destination.ts'
import { expiryColumns, LONGEST_RETRY_AFTER } from './freshness.ts'
import { type IssueOutcome, writeIssueOutcome } from './issue-outcome.ts'
import type { KeptClient, OAuthClients } from './oauth-clients.ts'
import { isLeased, LEASE_MS } from './refresh-lease.ts'
import {
  changedAgain,
  connectionExists,
  isRefreshing,
  needsApproval,
  noDefinition,
  notFound,
  nothingToApprove,
  tokenExpired,
} from './refusals.ts'
import { type ConnectionAddress, servingOf } from './serving.ts'
import { tokenStatus } from './token-status.ts'

/** What a login found out. */
export interface NewConnection {
  readonly provider: Provider
  readonly connection: string
  readonly flow: FlowName
  readonly credential: Credential
  readonly scopes: readonly string[]
  readonly baseUrl?: string
  /** Of the access token, milliseconds since 1970. */
  readonly expiresAt?: number
  readonly account?: NonNullable<Connection['account']>
  /** The OAuth client that the login found out, to be used by the next ones. */
  readonly client?: KeptClient
  readonly existing: 'refuse' | 'replace'
  /** `onboard`: found in the environment, not typed in. */
  readonly source: 'login' | 'onboard'
}

/** A connection whose tokens should be refreshed, and whose it is. */
export interface DueConnection extends ConnectionId {
  /** Of its credential. */
  readonly version: number
  readonly vaultId: string
  readonly principalId: string
}

export interface Connections {
  /** Of the actor's vault, sorted by provider and name. */
  list(actor: Actor): Promise<readonly Connection[]>
  /** Those of the actor's vault without a definition that they are approved for. */
  orphaned(actor: Actor): Promise<readonly OrphanedConnection[]>
  /** How many of the vault's connections each provider has. */
  counts(actor: Actor): Promise<ReadonlyMap<string, number>>
  /** Whether the name is taken. */
  exists(actor: Actor, provider: string, connection: string): Promise<boolean>
  /** With every secret redacted. @throws BrokerError ConnectionNotFoundError */
  inspect(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail>
  /** With the secrets themselves; writes `connection.revealed` first. Refused to the key of a run. */
  reveal(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail>
  /** Whether the connection holds exactly these values. */
  holds(actor: Actor, name: ConnectionId, entered: Fields): Promise<boolean>
  /** Seals and stores. @throws BrokerError ConnectionAlreadyExistsError */
  put(actor: Actor, wanted: NewConnection): Promise<void>
  /**
   * What a connection that needs approval could reach with it, and what no more.
   * @throws BrokerError ConnectionNotFoundError, NotFoundError where there is nothing to approve
   */
  approval(actor: Actor, id: ConnectionId): Promise<Approval>
  /**
   * Binds the credential to where the definition of today sends it; refused to the key of a run.
   * @param version of the difference that was looked at
   * @throws BrokerError as {@link Connections.approval}; OperationNotAllowedError while its token is being refreshed
   */
  approve(actor: Actor, id: ConnectionId, version?: string): Promise<Approved>
  /**
   * Removes one; the provider is not contacted. Where it was the default and one is left, that becomes it.
   * @throws BrokerError ConnectionNotFoundError
   */
  logout(actor: Actor, provider: string, connection: string): Promise<LeftBehind>
  /**
   * Removes all connections of a provider, and the OAuth clients it knew.
   * @param remote what came of asking the provider to end them
   * @throws BrokerError ConnectionNotFoundError where there is neither
   */
  revoke(actor: Actor, provider: string, remote: Revoked['remote']): Promise<Revoked>
  /** The names of a provider's connections, and how each logs in. */
  ofProvider(actor: Actor, provider: string): Promise<readonly LoggedIn[]>
  /**
   * Connections of all vaults whose tokens are due, and can be refreshed now; of those that nobody uses, only what has
   * rested for a day.
   */
  dueForRefresh(limit: number): Promise<readonly DueConnection[]>
  /** Removes all connections of a provider, and the OAuth clients it knew. How many there were. */
  removeAll(tx: Db, actor: Actor, provider: string): Promise<Removed>
  /**
   * Writes down what came of asking for a token with what the connection holds: `provider.refreshed`,
   * `provider.refresh_failed`, and what has to be told of the connection until there is one.
   */
  tokenIssued(actor: Actor, used: UsableConnection, outcome: IssueOutcome): Promise<void>
  /** @throws BrokerError ConnectionNotFoundError */
  setDefault(actor: Actor, provider: string, connection: string): Promise<void>
  /**
   * The named connection, or the provider's default, opened.
   * @param serves whether one with this address serves the request: where the default does not, another may
   * @throws BrokerError ConnectionNotFoundError, OperationNotAllowedError where the provider's definition has changed
   *   where the credential may go, CredentialMissingError where the record does not open, TokenExpiredError where
   *   nothing but a login helps
   */
  use(
    actor: Actor,
    provider: Provider,
    connection: string | undefined,
    serves?: (baseUrl: string | undefined) => boolean,
  ): Promise<UsableConnection>
  /** Where those of the actor's vault are for that have an address of their own. */
  addresses(actor: Actor): Promise<readonly ConnectionAddress[]>
  /**
   * Takes the vault as it is, after damage or a restored backup. The connections whose credentials were lost.
   */
  restore(actor: Actor): Promise<readonly ConnectionId[]>
  /** Why nothing of the actor's vault is given out, one sentence; undefined where it is whole. */
  breach(actor: Actor): Promise<string | undefined>
  /** Loads every record's columns. @throws where they cannot be read; returns sentences on what does not fit. */
  check(vaultId: string): Promise<readonly string[]>
}

/** One that no definition lets go where its credential was for: gone, broken, or changed since. */
export interface OrphanedConnection {
  readonly view: Connection
  readonly hosts: readonly HostPattern[]
}

/** What a logout of the default has left: of several, none is chosen for the user. */
interface LeftBehind {
  readonly newDefault?: string
  readonly left?: readonly string[]
}

/** A connection, and how it was logged in. */
export interface LoggedIn extends ConnectionId {
  readonly authType: AuthType
  readonly flow: FlowName
}

interface Removed {
  readonly connections: number
  readonly clients: number
}

export interface ConnectionsOptions {
  readonly store: Store
  readonly vault: Vault
  readonly audit: Audit
  readonly providers: Providers
  readonly clients: OAuthClients
  readonly now?: () => number
  readonly random?: () => number
}

export function openConnections(options: ConnectionsOptions): Connections {
  return new ConnectionsOfStore(options)
}

/** Nobody uses it: its refresh token shall not end for that. */
const REST_MS = 24 * 60 * 60_000
const MOST_REMEMBERED = 10_000
/** Looked at for one that can be refreshed. */
const MOST_DUE = 1_000

class ConnectionsOfStore implements Connections {
  readonly #store: Store
  readonly #vault: Vault
  readonly #audit: Audit
  readonly #providers: Providers
  readonly #clients: OAuthClients
  readonly #now: () => number
  readonly #random: () => number
  readonly #lastUse: SparseWrites
  readonly #unapprovedSince = new LRUCache<string, string>({ max: MOST_REMEMBERED })

  constructor(options: ConnectionsOptions) {
    const { store, vault, audit, providers, clients, now = Date.now, random = Math.random } = options
    this.#store = store
    this.#vault = vault
    this.#audit = audit
    this.#providers = providers
    this.#clients = clients
    this.#now = now
    this.#random = random
    this.#lastUse = new SparseWrites(now)
  }

  async list(actor: Actor): Promise<readonly Connection[]> {
    // Definitions may have changed on disk.
    this.#providers.list()
    const rows = await withRefreshes(this.#store.db)
      .where('connections.vault_id', '=', actor.vaultId)
      .orderBy('connections.provider')
      .orderBy('connections.connection')
      .execute()
    return rows.map((row) => this.#view(row))
  }

  async orphaned(actor: Actor): Promise<readonly OrphanedConnection[]> {
    const rows = await withRefreshes(this.#store.db).where('connections.vault_id', '=', actor.vaultId).execute()
    return rows
      .filter((row) => !isApproved(this.#definition(row), row))
      .map((row) => ({ view: this.#view(row), hosts: allowedHosts(row) }))
  }

  async counts(actor: Actor): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#store.db
      .selectFrom('connections')
      .select((eb) => ['provider', eb.fn.countAll<number>().as('count')])
      .where('vault_id', '=', actor.vaultId)
      .groupBy('provider')
      .execute()
    return new Map(rows.map(({ provider, count }) => [provider, Number(count)]))
  }

  async exists(actor: Actor, provider: string, connection: string): Promise<boolean> {
    return (await findRow(this.#store.db, actor, { provider, connection })) !== undefined
  }

  async inspect(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail> {
    const row = await this.#row(actor, { provider, connection })
    const { credential } = await this.#credentialOf(actor, row)
    return { ...(await this.#viewOf(row)), credential: redacted(this.#definition(row), credential) }
  }

  async reveal(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail> {
    if (actor.run) {
      throw new BrokerError('OperationNotAllowedError', 'The key of a run cannot reveal a credential', { provider })
    }
    const row = await this.#row(actor, { provider, connection })
    const { credential } = await this.#credentialOf(actor, row)
    await this.#record(actor, { event: 'connection.revealed', status: 'success', provider, connection })
    return { ...(await this.#viewOf(row)), credential: mapValues(credential.fields, (value) => value.reveal()) }
  }

  async holds(actor: Actor, id: ConnectionId, entered: Fields): Promise<boolean> {
    const row = await this.#row(actor, id)
    const stored = this.#entered(row, (await this.#credentialOf(actor, row)).credential)
    const names = Object.keys(stored)
    if (names.length !== Object.keys(entered).length) return false
    return names.every((name) => sameText(stored[name], entered[name]))
  }

  #entered(row: ConnectionRow, { kind, fields }: Credential): Fields {
    const definition = this.#definition(row)
    return definition && kind === 'client_credentials' ? enteredOf(definition, fields) : fields
  }

  async put(actor: Actor, wanted: NewConnection): Promise<void> {
    const { definition } = wanted.provider
    const id = { provider: definition.name, connection: wanted.connection }
    await this.#store.transaction(async (tx) => {
      // Removed while somebody was logging in.
      this.#providers.get(id.provider)
      const before = await findRow(tx, actor, id)
      if (before && wanted.existing === 'refuse') throw connectionExists(id)
      const { kind } = wanted.credential
      const bound = boundTo(definition, kind, wanted.baseUrl)
      await this.#vault.put(tx, recordOf(actor, id), bound.destination, serialize(wanted.credential))
      const given = {
        auth_type: authTypeOf(kind),
        flow: wanted.flow,
        base_url: wanted.baseUrl ?? null,
        scopes: JSON.stringify(wanted.scopes),
        account: wanted.account ? JSON.stringify(wanted.account) : null,
        ...bound,
        updated_at: this.#timestamp(),
        problem: null,
        problem_reason: null,
        ...this.#expiry(wanted),
      }
      // What was known of refreshes was about the credential before. All else of a connection stays at its next login.
      await forgetRefreshes(tx, actor, id)
      if (before) await updateRow(tx, actor, id, given)
      else await insertRow(tx, actor, id, { ...given, created_at: given.updated_at })
      if (wanted.client) await this.#clients.keep(tx, actor, wanted.provider, wanted.client, wanted.baseUrl)
      await this.#audit.record(tx, actor, { event: 'provider.login', status: 'success', ...id })
      if (wanted.source === 'onboard') {
        await this.#audit.record(tx, actor, { event: 'onboard.imported', status: 'success', ...id })
      }
    })
  }

  #expiry({ credential, expiresAt }: NewConnection) {
    const refreshable = credential.kind === 'oauth2' && 'refresh_token' in credential.fields
    return {
      refreshable: refreshable ? 1 : 0,
      ...expiryColumns(expiresAt, { refreshable, now: this.#now(), random: this.#random() }),
    }
  }

  async approval(actor: Actor, id: ConnectionId): Promise<Approval> {
    const row = await this.#row(actor, id)
    const { provider, connection } = row
    const { added, removed, isKnown, newDomains, version } = differenceFor(this.#unapproved(row), row)
    const difference = { added: copied(added), removed: copied(removed), known: isKnown }
    return { provider, connection, ...difference, new_domains: [...newDomains], version }
  }

  /** The definition that is to be approved. */
  #unapproved(row: ConnectionRow): ProviderDefinition {
    const definition = this.#definition(row)
    if (!definition) throw noDefinition(row)
    if (approvedKind(definition, row) !== undefined) throw nothingToApprove(row)
    if (isTakenNoMore(definition, row)) throw tokenExpired(row, 'needs_login')
    return definition
  }

  async approve(actor: Actor, id: ConnectionId, version?: string): Promise<Approved> {
    if (actor.run) {
      throw new BrokerError('OperationNotAllowedError', 'The key of a run cannot approve a connection', { ...id })
    }
    await this.#vault.requireWhole(actor.vaultId)
    return this.#store.transaction(async (tx) => {
      const row = await findSealed(tx, actor, id)
      if (!row) throw this.#notFound(id, 'approve')
      // Read once: it may be replaced while this goes on.
      const definition = this.#unapproved(row)
      const { added, removed, version: present } = differenceFor(definition, row)
      if (version !== undefined && version !== present) throw changedAgain(row)
      await this.#requireAtRest(tx, actor, row)
      await this.#bindAnew(tx, actor, { row, definition })
      const { provider, connection } = row
      await this.#audit.record(tx, actor, { event: 'connection.approved', status: 'success', provider, connection })
      const allowed = { added: Object.values(added).flat(), removed: Object.values(removed).flat() }
      return { status: 'ok' as const, provider, connection, allowed }
    })
  }

  /** What a provider grants meanwhile is for the credential that is stored now, and would be lost. */
  async #requireAtRest(tx: Db, actor: Actor, row: ConnectionRow): Promise<void> {
    const refresh = await findRefresh(tx, actor, row)
    if (isLeased(refresh, await this.#store.clock(tx))) throw isRefreshing(row)
  }

  async #bindAnew(
    tx: Db,
    actor: Actor,
    { row, definition }: { readonly row: SealedRow; readonly definition: ProviderDefinition },
  ): Promise<void> {
    if (!row.record) throw this.#notFound(row, 'approve')
    const { plaintext } = await this.#vault.unseal(tx, recordOf(actor, row), row.destination, row.record)
    const credential = parseCredential(plaintext, row, definition)
    const bound = boundTo(definition, credential.kind, row.base_url ?? undefined)
    await this.#vault.put(tx, recordOf(actor, row), bound.destination, serialize(credential))
    await updateRow(tx, actor, row, { ...bound, updated_at: this.#timestamp() })
  }

  async logout(actor: Actor, provider: string, connection: string): Promise<LeftBehind> {
    return this.#store.transaction(async (tx) => {
      const row = await findRow(tx, actor, { provider, connection })
      if (!row) throw this.#notFound({ provider, connection }, 'log out')
      await this.#remove(tx, actor, row)
      await this.#audit.record(tx, actor, { event: 'provider.logout', status: 'success', provider, connection })
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
    const removed = await this.#store.transaction(async (tx) => {
      const { connections, clients } = await this.removeAll(tx, actor, provider)
      if (connections + clients === 0) throw this.#notFound({ provider }, 'revoke')
      const outcome = failed ? { status: 'failure' as const, reason: 'remote_failed' } : { status: 'success' as const }
      await this.#audit.record(tx, actor, { event: 'provider.revoked', provider, ...outcome })
      return connections
    })
    return { status: failed ? 'partial' : 'ok', provider, removed, remote }
  }

  async ofProvider(actor: Actor, provider: string) {
    const rows = await namesOf(this.#store.db, actor, provider)
    return rows.map(({ connection, auth_type, flow }) => ({
      provider,
      connection,
      authType: auth_type as AuthType,
      flow: flow as FlowName,
    }))
  }

  async dueForRefresh(limit: number): Promise<readonly DueConnection[]> {
    const now = this.#now()
    const rows = await this.#store.db
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
      .where('refresh_due_at', '<=', this.#timestamp())
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
      .filter((row) => isApproved(this.#definition(row), row))
      .slice(0, limit)
      .map(({ vault_id: vaultId, principal_id: principalId, provider, connection, version }) => ({
        vaultId,
        principalId,
        provider,
        connection,
        version,
      }))
  }

  async removeAll(tx: Db, actor: Actor, provider: string): Promise<Removed> {
    const rows = await namesOf(tx, actor, provider)
    for (const row of rows) await this.#remove(tx, actor, row)
    return { connections: rows.length, clients: await this.#clients.forgetAll(tx, actor, provider) }
  }

  async #remove(tx: Db, actor: Actor, id: ConnectionId): Promise<void> {
    await this.#vault.remove(tx, recordOf(actor, id))
    await deleteRow(tx, actor, id)
  }

  async setDefault(actor: Actor, provider: string, connection: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      if (!(await findRow(tx, actor, { provider, connection }))) throw this.#notFound({ provider, connection }, 'use')
      await this.#clearDefault(tx, actor, provider)
      await this.#makeDefault(tx, actor, { provider, connection })
    })
  }

  async #makeDefault(tx: Db, actor: Actor, { provider, connection }: ConnectionId): Promise<void> {
    await updateRow(tx, actor, { provider, connection }, { is_default: 1 })
    await this.#audit.record(tx, actor, { event: 'connection.default_set', status: 'success', provider, connection })
  }

  async #clearDefault(tx: Db, actor: Actor, provider: string): Promise<void> {
    await tx
      .updateTable('connections')
      .set({ is_default: 0 })
      .where('vault_id', '=', actor.vaultId)
      .where('provider', '=', provider)
      .execute()
  }

  addresses(actor: Actor): Promise<readonly ConnectionAddress[]> {
    return addressesIn(this.#store.db, actor)
  }

  async use(
    actor: Actor,
    provider: Provider,
    connection: string | undefined,
    serves?: (baseUrl: string | undefined) => boolean,
  ): Promise<UsableConnection> {
    const { name } = provider.definition
    const row = await this.#rowFor(actor, { provider: name, connection }, serves)
    if (!row) throw notFound(connection === undefined ? { provider: name } : { provider: name, connection }, 'use')
    const kind = approvedKind(provider.definition, row)
    if (!kind) throw isTakenNoMore(provider.definition, row) ? tokenExpired(row, 'needs_login') : needsApproval(row)
    const status = tokenStatus(row, this.#now())
    if (status !== 'connected') throw tokenExpired(row, status, optionOf(provider.definition, kind))
    const opened = await this.#credentialOf(actor, row)
    this.#noteUse(actor, row)
    return usableConnection(row, opened, this.#now())
  }

  /** The default costs no further question: most requests are for it. */
  async #rowFor(
    actor: Actor,
    id: Parameters<typeof findSealed>[2],
    serves: ((baseUrl: string | undefined) => boolean) | undefined,
  ): Promise<SealedRow | undefined> {
    const { db } = this.#store
    const row = await findSealed(db, actor, id)
    if (id.connection !== undefined || !serves || (row && serves(row.base_url ?? undefined))) return row
    const chosen = servingOf(await addressesIn(db, actor, id.provider), ({ base_url }) => serves(base_url))
    return chosen ? findSealed(db, actor, chosen) : row
  }

  async tokenIssued(actor: Actor, used: UsableConnection, outcome: IssueOutcome): Promise<void> {
    const { provider, connection } = used
    await this.#store.transaction(async (tx) => {
      await writeIssueOutcome(tx, actor, used, { outcome, now: this.#now() })
      await this.#audit.record(tx, actor, {
        provider,
        connection,
        ...(outcome.kind === 'issued'
          ? { event: 'provider.refreshed', status: 'success' }
          : { event: 'provider.refresh_failed', status: 'failure', reason: outcome.reason }),
      })
    })
  }

  async breach(actor: Actor): Promise<string | undefined> {
    if (this.#vault.status().kind === 'sealed') return undefined
    try {
      await this.#vault.requireWhole(actor.vaultId)
      return undefined
    } catch (error) {
      if (error instanceof BrokerError) return `${error.message}. ${error.options.hint ?? ''}`.trim()
      throw error
    }
  }

  async restore(actor: Actor): Promise<readonly ConnectionId[]> {
    return this.#store.transaction(async (tx) => {
      await this.#vault.restore(tx, actor.vaultId)
      const { rows, records } = await namesIn(tx, actor.vaultId)
      const sealed = new Set(records.map(({ id }) => id))
      const named = new Set(rows.map(recordId))
      for (const { id } of records.filter(({ id }) => !named.has(id))) {
        await this.#vault.remove(tx, { vaultId: actor.vaultId, kind: 'connection', id })
      }
      const lost = rows.filter((row) => !sealed.has(recordId(row)))
      for (const row of lost) await deleteRow(tx, actor, row)
      const reason = `connections lost: ${lost.length}`
      await this.#audit.record(tx, actor, { event: 'vault.restored', status: 'success', reason })
      return lost
    })
  }

  #noteUse(actor: Actor, id: ConnectionId): void {
    this.#lastUse.note(`${actor.vaultId}/${recordId(id)}`, (last_used_at) =>
      updateRow(this.#store.db, actor, id, { last_used_at }),
    )
  }

  async check(vaultId: string): Promise<readonly string[]> {
    const { rows, records } = await this.#store.snapshot((tx) => namesIn(tx, vaultId))
    const sealed = new Set(records.map(({ id }) => id))
    const named = new Set(rows.map(recordId))
    const withoutRecord = rows.filter((row) => !sealed.has(recordId(row)))
    const withoutRow = records.filter(({ id }) => !named.has(id))
    return [
      ...withoutRecord.map(
        ({ provider, connection }) => `Connection "${connection}" of ${provider} has no credential.`,
      ),
      ...withoutRow.map(({ id }) => `The credential "${id}" belongs to no connection.`),
    ]
  }

  async #row(actor: Actor, id: ConnectionId): Promise<SealedRow> {
    const row = await findSealed(this.#store.db, actor, id)
    if (!row) throw this.#notFound(id, 'use')
    return row
  }

  async #credentialOf(
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
    await this.#vault.requireWhole(actor.vaultId)
    const opened = await this.#vault.unseal(this.#store.db, recordOf(actor, row), row.destination, row.record)
    return { credential: parseCredential(opened.plaintext, row, this.#definition(row)), version: opened.version }
  }

  async #viewOf(row: ConnectionRow): Promise<Connection> {
    const refresh = await findRefresh(this.#store.db, { vaultId: row.vault_id }, row)
    return this.#view({ ...row, ...refresh })
  }

  #view(row: ConnectionRow & FailingRefresh): Connection {
    const seenSince = (row: ConnectionRow) => this.#approvalSince(row)
    return connectionView(this.#definition(row), row, { now: this.#now(), seenSince })
  }

  #approvalSince({ vault_id, provider, connection, destination }: ConnectionRow): string {
    const key = `${vault_id}/${provider}/${connection}/${destination}`
    const since = this.#unapprovedSince.get(key) ?? this.#timestamp()
    this.#unapprovedSince.set(key, since)
    return since
  }

  #definition({ provider }: ConnectionRow): ProviderDefinition | undefined {
    return this.#providers.find(provider)?.definition
  }

  #notFound(
    id: { provider: string; connection?: string },
    action: 'use' | 'log out' | 'revoke' | 'approve',
  ): BrokerError {
    // Where the provider is unknown, that is the better thing to say.
    this.#providers.get(id.provider)
    return notFound(id, action)
  }

  async #record(actor: Actor, event: Parameters<Audit['record']>[2]): Promise<void> {
    await this.#store.transaction((tx) => this.#audit.record(tx, actor, event))
  }

  #timestamp(): string {
    return new Date(this.#now()).toISOString()
  }
}

/** The columns of a row that say where its credential may go. */
function boundTo(definition: ProviderDefinition, kind: CredentialKind, baseUrl: string | undefined) {
  return {
    destination: destinationOf(definition, kind, baseUrl),
    allowed: destinationText(definition, kind, baseUrl),
  }
}

function copied({ hosts, injections, endpoints }: DestinationLines): Approval['added'] {
  return { hosts: [...hosts], injections: [...injections], endpoints: [...endpoints] }
}

async function namesOf(db: Db, { vaultId }: Actor, provider: string) {
  return db
    .selectFrom('connections')
    .select(['provider', 'connection', 'auth_type', 'flow'])
    .where('vault_id', '=', vaultId)
    .where('provider', '=', provider)
    .execute()
}

/** What its requests carry. */
function authTypeOf(kind: CredentialKind): AuthType {
  return kind === 'oauth2' || kind === 'client_credentials' ? 'oauth2' : 'api_key'
}
