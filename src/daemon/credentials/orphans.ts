import { matchesAuthority } from '../../network/index.ts'
import { type Actor, BrokerError, coversPath } from '../../protocol/index.ts'
import type { Connection } from '../../schemas/index.ts'
import type { ListedConnections, OrphanedConnection } from '../connections/index.ts'
import type { Providers, Target } from '../providers/index.ts'
import { mayBeUsed, mayInject } from './granted-use.ts'

/** Those that this actor's requests would use, if their definitions were as they were. */
export async function usedOrphans(
  { connections, providers }: { readonly connections: ListedConnections; readonly providers: Providers },
  actor: Actor,
  all: readonly Connection[],
): Promise<readonly OrphanedConnection[]> {
  const isWhole = ({ provider, attention }: Connection) =>
    attention?.kind !== 'needs_approval' && providers.find(provider) !== undefined
  if (all.every(isWhole)) return []
  const orphaned = await connections.orphaned(actor)
  return orphaned.filter(({ view }) => mayInject(actor, view.provider) && mayBeUsed(actor, view))
}

export function isOrphanFor({ hosts }: OrphanedConnection, request: Target) {
  const { path = '/' } = request
  return hosts.some((pattern) => matchesAuthority(pattern, request) && coversPath(pattern.pathPrefix ?? '/', path))
}

/** Why its host gets nothing. */
export function isOrphaned({ provider, connection, attention }: Connection): BrokerError {
  const { reason = 'Its definition is gone.', fix = 'broker doctor' } = attention ?? {}
  return new BrokerError(
    'OperationNotAllowedError',
    `Cannot use connection "${connection}" of ${provider}: ${reason}`,
    {
      provider,
      connection,
      hint: `Mend it: ${fix}`,
    },
  )
}
