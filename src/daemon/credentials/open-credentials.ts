import type { ResolvedCredential } from '../../injection/index.ts'
import type { Actor } from '../../protocol/index.ts'
import type { Explanation, ResolveRequest, Revoked, Routes, StartRun } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import type { ConnectionId, OAuthClients, Refreshes } from '../connections/index.ts'
import type { Flows } from '../flows/index.ts'
import type { Providers } from '../providers/index.ts'
import { type ExplainedRequest, explainRequest } from './explain.ts'
import { GrantState } from './grant-state.ts'
import { keepFresh } from './keep-fresh.ts'
import { MintedState } from './minted-state.ts'
import { openSources } from './open-sources.ts'
import { Renewals } from './renewals.ts'
import { resolveCredential } from './resolve.ts'
import { type RevokeOptions, revokeProvider } from './revoke.ts'
import { type RouteScope, routesFor } from './routes.ts'
import { requireGrantable } from './run-grants.ts'

/** Credentials of requests: which, from where, and as long as they last. */
export interface Credentials {
  /**
   * The credential for one request, opened for it alone, and got anew before where it has ended.
   * @throws BrokerError ProviderNotFoundError where no provider, or more than one, matches; ConnectionNotFoundError,
   *   OperationNotAllowedError, CredentialMissingError, TokenExpiredError, RefreshFailedError as the connection says
   */
  resolve(actor: Actor, request: ResolveRequest): Promise<ResolvedCredential>
  /** Returns what a proxy of this actor would do with the request, found by what decides it, and the command that mends it. */
  explain(actor: Actor, request: ExplainedRequest): Promise<Explanation>
  /** Returns which hosts the proxy may intercept for this actor. Hosts that two providers match equally are left out. */
  routes(actor: Actor, scope: RouteScope): Promise<Routes>
  /**
   * Refuses a run that asks for what is not there: a typing error should end it before it starts, not each of its requests.
   * @throws BrokerError ProviderNotFoundError, ConnectionNotFoundError
   */
  requireGrantable(actor: Actor, run: StartRun): Promise<void>
  /**
   * Asks the provider to end what it granted, where it can be asked, and removes all of its connections, whatever it says.
   * @throws BrokerError ProviderNotFoundError, ConnectionNotFoundError
   */
  revoke(actor: Actor, provider: string): Promise<Revoked>
  /** Lets go of what was got for a connection that is gone. */
  forget(actor: Actor, id: ConnectionId): void
  /** Begins to refresh ahead of requests. */
  keepFresh(): void
  /** Asks no provider any more, and waits for those that were asked: what they grant is stored. */
  close(): Promise<void>
}

export interface CredentialsOptions {
  readonly providers: Providers
  readonly connections: RevokeOptions['connections']
  readonly refreshes: Refreshes
  readonly clients: OAuthClients
  readonly flows: Flows
  readonly audit: Audit
  /** An error that is nobody's fault but ours. */
  readonly onFailure: (error: unknown) => void
  readonly now?: () => number
  readonly random?: () => number
  /** How often to look for what is to be refreshed, in milliseconds. */
  readonly lookEveryMs?: number
}

export function openCredentials(options: CredentialsOptions): Credentials {
  const { providers, connections, onFailure, lookEveryMs, now = Date.now, random = Math.random } = options
  const grantState = new GrantState(options)
  const grants = new Renewals(grantState, onFailure)
  const mintedState = new MintedState({ ...options, now, random })
  const minted = new Renewals(mintedState, onFailure)
  const source = openSources({ grants, minted: { state: mintedState, renewals: minted }, now })
  const rooms = { ...options, now }
  let stopKeeping = () => {}
  return {
    resolve: (actor, request) => resolveCredential({ ...rooms, source }, actor, request),
    explain: (actor, request) => explainRequest(rooms, actor, request),
    routes: (actor, scope) => routesFor(rooms, actor, scope),
    requireGrantable: (actor, run) => requireGrantable(rooms, actor, run),
    revoke: (actor, provider) => revokeProvider({ ...rooms, grants: grantState, minted: mintedState }, actor, provider),
    forget: (actor, id) => mintedState.forget(actor, id),
    keepFresh: () => {
      stopKeeping = keepFresh({
        providers,
        connections,
        renewals: grants,
        onFailure,
        ...(lookEveryMs && { lookEveryMs }),
      })
    },
    close: async () => {
      stopKeeping()
      await Promise.all([grants.close(), minted.close()])
    },
  }
}
