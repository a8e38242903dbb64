import type { Actor } from '../../protocol/index.ts'

/** Which events a reader may see; of a principal, those about its vault and those of its agents. Made by {@link scopeFor} alone. */
export type Scope = { readonly kind: 'all' } | { readonly kind: 'principal'; readonly principalId: string }

/** Admins see all events of the deployment, users those of their own principal (interface section 4.7). */
export function scopeFor(actor: Pick<Actor, 'principalId' | 'role'>): Scope {
  return actor.role === 'admin' ? { kind: 'all' } : { kind: 'principal', principalId: actor.principalId }
}
