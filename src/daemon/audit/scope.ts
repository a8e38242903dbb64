import type { Actor } from '../../protocol/index.ts'

/** Which events a reader may see; of a principal, those about its vault and those of its agents. Made by {@link scopeFor} alone. */
export type Scope =
  | { readonly kind: 'all' }
  /** `runId` where only what one run of its agents did. */
  | { readonly kind: 'principal'; readonly principalId: string; readonly runId?: string }

/** Admins see all events of the deployment, users those of their own principal (interface section 4.7), a run its own. */
export function scopeFor(actor: Pick<Actor, 'principalId' | 'role' | 'run'>): Scope {
  if (actor.run) return { kind: 'principal', principalId: actor.principalId, runId: actor.run.id }
  return actor.role === 'admin' ? { kind: 'all' } : { kind: 'principal', principalId: actor.principalId }
}
