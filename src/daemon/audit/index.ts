/**
 * The append-only log of who did what, hash-chained; read by role. Written by the room that acts, in the act's own
 * transaction. Must never ask another room a question, nor hold a secret or anything that came from a provider.
 */
export { type Audit, openAudit } from './audit-log.ts'
export type { AuditActor, InternalEvent } from './internal-event.ts'
export { type Scope, scopeFor } from './scope.ts'
