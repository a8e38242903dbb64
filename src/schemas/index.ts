/**
 * The shapes on the wire, as schemas: the daemon validates with them and its OpenAPI document is made from them.
 * The daemon alone imports them at run time; client, proxy and command line import only their types, and so start
 * without the schema library. Must never do anything but describe.
 */
export {
  type AccountList,
  accountList,
  type BrowserSession,
  browserSessions,
  changePassword,
  confirmedClaim,
  type DashboardLink,
  dashboardLink,
  type Me,
  me,
  type PasswordReset,
  passwordReset,
  resetPassword,
  type SignedIn,
  type SignIn,
  signedIn,
  signIn,
  signUp,
} from './account.ts'
export {
  type AuditCounts,
  type AuditCountsQuery,
  type AuditEvent,
  type AuditPage,
  type AuditQuery,
  accepted,
  auditCounts,
  auditCountsQuery,
  auditExportQuery,
  auditPage,
  auditQuery,
  type ShippedEvent,
  shippedBatch,
} from './audit.ts'
export {
  type AuthSession,
  authSession,
  type Field,
  field,
  resumeAuthSession,
  type StartAuthSession,
  startAuthSession,
} from './auth-session.ts'
export { connectionName, identityHandle, providerName } from './common.ts'
export {
  type Approval,
  type Approved,
  type Attention,
  type AttentionOf,
  approval,
  approve,
  approved,
  type Connection,
  type ConnectionDetail,
  type ConnectionList,
  connectionDetail,
  connections,
  defaultSet,
  type LoggedOut,
  loggedOut,
  type Restored,
  type Revoked,
  restored,
  revoked,
} from './connection.ts'
export { type ExplainQuery, type Explanation, explainQuery, explanation } from './explanation.ts'
export {
  type ProviderList,
  type ProviderSummary,
  providerList,
  type RemovedProvider,
  registeredProvider,
  registerProvider,
  removedProvider,
} from './provider.ts'
export { type ProviderDefinition, providerDefinition, providerJsonSchema } from './provider-definition.ts'
export {
  endRun,
  type Resolution,
  type ResolveRequest,
  type Route,
  type Routes,
  type Run,
  resolution,
  resolveRequest,
  routes,
  run,
  type Signable,
  type StartRun,
  startRun,
} from './resolution.ts'
export {
  type Health,
  health,
  type Identity,
  identities,
  identity,
  labelIdentity,
  ok,
  type Readiness,
  type Registration,
  readiness,
  registerIdentity,
  registration,
  type Whoami,
  whoami,
} from './status.ts'
