import type { HostPattern } from '../../network/index.ts'
import type { Actor, AuthType, FlowName } from '../../protocol/index.ts'
import type { Approval, Approved, Connection, ConnectionDetail, Revoked } from '../../schemas/index.ts'
import type { Provider } from '../providers/index.ts'
import type { Db } from '../store/index.ts'
import type { ConnectionId } from './connection-id.ts'
import type { UsableConnection } from './connection-view.ts'
import type { Credential, Fields } from './credential-record.ts'
import type { IssueOutcome } from './issue-outcome.ts'
import type { KeptClient } from './oauth-clients.ts'
import type { ConnectionAddress } from './serving.ts'

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

/** What there is, for everybody who has to know it. Nothing is opened. */
export interface ListedConnections {
  /** Of the actor's vault, sorted by provider and name. */
  list(actor: Actor): Promise<readonly Connection[]>
  /** Those of the actor's vault without a definition that they are approved for. */
  orphaned(actor: Actor): Promise<readonly OrphanedConnection[]>
  /** Returns how many of the vault's connections each provider has. */
  counts(actor: Actor): Promise<ReadonlyMap<string, number>>
  /** Returns whether the name is taken. */
  exists(actor: Actor, provider: string, connection: string): Promise<boolean>
  /** Returns the addresses of those of the actor's vault that have their own. */
  addresses(actor: Actor): Promise<readonly ConnectionAddress[]>
  /** The names of a provider's connections, and how each logs in. */
  ofProvider(actor: Actor, provider: string): Promise<readonly LoggedIn[]>
}

/** For those who make requests with credentials. */
export interface ServingConnections {
  /**
   * The named connection, or the provider's default, opened.
   * @throws BrokerError ConnectionNotFoundError, OperationNotAllowedError where the provider's definition has changed
   *   where the credential may go, CredentialMissingError where the record does not open, TokenExpiredError where
   *   nothing but a login helps
   */
  use(actor: Actor, provider: Provider, connection: string | undefined): Promise<UsableConnection>
  /**
   * The same; undefined where there is none.
   * @param serves whether one with this address serves the request: where the default does not, another may
   */
  find(
    actor: Actor,
    provider: Provider,
    connection: string | undefined,
    serves?: (baseUrl: string | undefined) => boolean,
  ): Promise<UsableConnection | undefined>
  /**
   * Connections of all vaults whose tokens are due, and can be refreshed now; of those that nobody uses, only what has
   * rested for a day.
   */
  dueForRefresh(limit: number): Promise<readonly DueConnection[]>
  /**
   * Writes down what came of asking for a token with what the connection holds: `provider.refreshed`,
   * `provider.refresh_failed`, and what has to be told of the connection until there is one.
   */
  tokenIssued(actor: Actor, used: UsableConnection, outcome: IssueOutcome): Promise<void>
}

/** For logins. */
export interface LoginConnections {
  /** Seals and stores. @throws BrokerError ConnectionAlreadyExistsError */
  put(actor: Actor, wanted: NewConnection): Promise<void>
}

/** For people: to look at one, to change what it is, to end it. */
export interface ManagedConnections {
  /** With every secret redacted. @throws BrokerError ConnectionNotFoundError */
  inspect(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail>
  /** With the secrets themselves; writes `connection.revealed` first. Refused to the key of a run. */
  reveal(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail>
  /** Returns whether the connection holds exactly these values. */
  holds(actor: Actor, name: ConnectionId, entered: Fields): Promise<boolean>
  /**
   * Returns what a connection that needs approval could reach with it, and what no more.
   * @throws BrokerError ConnectionNotFoundError, NotFoundError where there is nothing to approve
   */
  approval(actor: Actor, id: ConnectionId): Promise<Approval>
  /**
   * Binds the credential to where the definition of today sends it; refused to the key of a run.
   * @param version of the difference that was looked at
   * @throws BrokerError as {@link ManagedConnections.approval}; OperationNotAllowedError while its token is being refreshed
   */
  approve(actor: Actor, id: ConnectionId, version?: string): Promise<Approved>
  /** @throws BrokerError ConnectionNotFoundError */
  setDefault(actor: Actor, provider: string, connection: string): Promise<void>
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
  /** Removes all connections of a provider, and the OAuth clients it knew. How many there were. */
  removeAll(tx: Db, actor: Actor, provider: string): Promise<Removed>
}

/** For whoever wants to know whether all of it is there and whole. */
export interface CheckedConnections {
  /** Why nothing of the actor's vault is given out, one sentence; undefined where it is whole. */
  breach(actor: Actor): Promise<string | undefined>
  /**
   * Takes the vault as it is, after damage or a restored backup. The connections whose credentials were lost.
   */
  restore(actor: Actor): Promise<readonly ConnectionId[]>
  /** Loads every record's columns. @throws where they cannot be read; returns sentences on what does not fit. */
  check(vaultId: string): Promise<readonly string[]>
}

export interface Connections
  extends ListedConnections,
    ServingConnections,
    LoginConnections,
    ManagedConnections,
    CheckedConnections {}

/** One that no definition lets go where its credential was for: gone, broken, or changed since. */
export interface OrphanedConnection {
  readonly view: Connection
  readonly hosts: readonly HostPattern[]
}

/** What a logout of the default has left: of several, none is chosen for the user. */
export interface LeftBehind {
  readonly newDefault?: string
  readonly left?: readonly string[]
}

/** A connection, and how it was logged in. */
export interface LoggedIn extends ConnectionId {
  readonly authType: AuthType
  readonly flow: FlowName
}

export interface Removed {
  readonly connections: number
  readonly clients: number
}
