import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Connections, UsableConnection } from '../connections/index.ts'
import type { Provider } from '../providers/index.ts'
import type { Refresher } from './open-refresher.ts'

export interface FreshOptions {
  readonly connections: Connections
  readonly refresher: Refresher
  readonly now?: () => number
}

export interface WantedConnection {
  /** The provider's default where absent. */
  readonly connection: string | undefined
  /** The version whose credential its host has refused. */
  readonly rejectedVersion: number | undefined
  /** Whether one with this address is for the request: where the default is not, another may be. */
  readonly serves?: (baseUrl: string | undefined) => boolean
}

/**
 * The connection with a credential that has not ended. One that ends soon is handed out, and refreshed meanwhile; one that
 * its host refused is refreshed first, and handed out again where that does not work.
 */
export async function useFresh(
  { connections, refresher, now = Date.now }: FreshOptions,
  actor: Actor,
  provider: Provider,
  { connection, rejectedVersion, serves }: WantedConnection,
): Promise<UsableConnection> {
  const used = await connections.use(actor, provider, connection, serves)
  if (!used.refreshable) return used
  const { refresh, expiresAt = Number.POSITIVE_INFINITY } = used
  if (used.version === rejectedVersion) {
    await refresher.refresh(actor, provider, used, 'rejected').catch(ifItServesOn)
  } else if (!refresh || now() < refresh.dueAt) {
    return used
  } else if (now() < refresh.usableUntil) {
    refresher.refresh(actor, provider, used, 'due').catch(() => undefined)
    return used
  } else {
    await refresher.refresh(actor, provider, used, 'due').catch((error) => {
      if (now() < expiresAt) ifItServesOn(error)
      else throw error
    })
  }
  return connections.use(actor, provider, used.connection)
}

/** What failed this time leaves the token at hand as good as it was; a bug is no such failure. */
export function ifItServesOn(error: unknown): void {
  if (!(error instanceof BrokerError)) throw error
}
