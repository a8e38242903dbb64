import type { Actor, AuditEventName, AuditStatus } from '../../protocol/index.ts'
import type { AuditEvent } from '../../schemas/index.ts'

/** What a room says of an act; who acted comes from the actor. */
export interface InternalEvent {
  readonly event: Exclude<AuditEventName, 'proxy.request' | 'proxy.denied'>
  readonly status: AuditStatus
  readonly provider?: string
  readonly connection?: string
  /** One sentence for people: never a secret, never anything that came from a provider. */
  readonly reason?: string
  readonly runId?: string
  /** Where a credential went, as far as a record of it may say. */
  readonly request?: AuditEvent['request']
  readonly details?: EventDetails
}

/** Members that events of some kinds have beside those of all: never a secret. */
export type EventDetails = Pick<AuditEvent, DetailName>
type DetailName = 'received_at' | 'release' | 'count' | 'how' | 'from' | 'to' | 'isolation' | 'overrides' | 'dialled'

/** Who an event is told of: an {@link Actor}, or one in the making. */
export type AuditActor = Pick<Actor, 'identity' | 'principalId'> & {
  /** Whose agent acted, where the vault is another's. */
  readonly agentPrincipalId?: string
  readonly run?: Pick<NonNullable<Actor['run']>, 'id'> & Partial<NonNullable<Actor['run']>>
}
