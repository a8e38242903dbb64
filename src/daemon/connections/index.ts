/**
 * Named credential records of a vault: what may be listed of them, their default, redaction, and the one place that
 * opens them for use. Every act on one is audited here. Must never ask a provider anything.
 */
export { attentionIn, noDefault } from './attention.ts'
export { catalogueState, resetCatalogue, updateCatalogue } from './catalogue-change.ts'
export type { ConnectionId } from './connection-id.ts'
export type { UsableConnection } from './connection-view.ts'
export type {
  CheckedConnections,
  Connections,
  DueConnection,
  ListedConnections,
  LoggedIn,
  LoginConnections,
  ManagedConnections,
  NewConnection,
  OrphanedConnection,
  ServingConnections,
} from './connections.ts'
export type { Fields } from './credential-record.ts'
export {
  type ForcedRefresh,
  leftOfForced,
  leftOfPause,
  type Pause,
  pauseAfter,
  pauseAfterForced,
  refreshDueAt,
  usableUntil,
} from './freshness.ts'
export {
  type KeptClient,
  type OAuthClients,
  openOAuthClients,
} from './oauth-clients.ts'
export { openConnections } from './open-connections.ts'
export {
  openRefreshes,
  type RefreshBeginning,
  type RefreshCause,
  type Refreshes,
  type RefreshLease,
  type StoringOutcome,
} from './open-refreshes.ts'
export {
  type DefinitionsOptions,
  registerDefinition,
  registerDefinitions,
  removeDefinition,
  removeUnusedDefinition,
} from './provider-definitions.ts'
export { RENEW_EVERY_MS } from './refresh-lease.ts'
export { connectionExists, notUsable, tokenExpired } from './refusals.ts'
export { type ConnectionAddress, servingOf } from './serving.ts'
