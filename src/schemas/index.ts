/**
 * The shapes on the wire, as schemas: the daemon validates with them and its OpenAPI document is made from them.
 * The daemon alone imports them at run time; client, proxy and command line import only their types, and so start
 * without the schema library. Must never do anything but describe.
 */
export {
  type AccountList,
  type BrowserSession,
  confirmedClaim,
  type DashboardLink,
  type Me,
  type PasswordReset,
} from './account.ts'
export {
  type AuditCounts,
  type AuditCountsQuery,
  type AuditEvent,
  type AuditPage,
  type AuditQuery,
  type ChannelEvents,
  channelEvents,
  type LogExamination,
  type LogFinding,
  type Overrides,
  type ShippedEvent,
} from './audit.ts'
export {
  type AuthSession,
  authSession,
  type CheckedAuthSession,
  type Field,
  field,
  type StartAuthSession,
} from './auth-session.ts'
export type { CatalogueChange, CatalogueState } from './catalogue.ts'
export { connectionName, providerName } from './common.ts'
export type {
  Approval,
  Approved,
  Attention,
  AttentionOf,
  Connection,
  ConnectionDetail,
  ConnectionList,
  LoggedOut,
  Restored,
  Revoked,
} from './connection.ts'
export { type AnswerOf, type Contract, contract, type EndpointKey, type RequestOf } from './contract.ts'
export type { Access, Endpoint, SourceLimit } from './endpoint.ts'
export type { ExplainQuery, Explanation } from './explanation.ts'
export type {
  DescribedProvider,
  ProviderList,
  ProviderSummary,
  RegisteredOne,
  RegisteredProviders,
  RemovedProvider,
} from './provider.ts'
export { type ProviderDefinition, providerDefinition, providerJsonSchema } from './provider-definition.ts'
export {
  type ChannelQuestion,
  channelQuestion,
  type Resolution,
  type ResolveRequest,
  type Route,
  type Routes,
  type Run,
  resolveRequest,
  type Signable,
  type StartRun,
} from './resolution.ts'
export { shapeNames } from './shape-names.ts'
export type { Health, Identity, Readiness, Registration, Rekeyed, Rotated, VaultState, Whoami } from './status.ts'
