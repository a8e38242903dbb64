import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { StartRun } from '../../schemas/index.ts'
import type { ListedConnections } from '../connections/index.ts'
import type { Providers } from '../providers/index.ts'

/**
 * Refuses a run that asks for what is not there: a typing error should end it before it starts, not each of its requests.
 * @throws BrokerError ProviderNotFoundError, ConnectionNotFoundError
 */
export async function requireGrantable(
  { providers, connections }: { readonly providers: Providers; readonly connections: ListedConnections },
  actor: Actor,
  { only = [], connections: chosen = {} }: StartRun,
): Promise<void> {
  for (const provider of [...only, ...Object.keys(chosen)]) providers.get(provider)
  for (const [provider, connection] of Object.entries(chosen)) {
    if (!(await connections.exists(actor, provider, connection))) {
      throw new BrokerError('ConnectionNotFoundError', `There is no connection "${connection}" of ${provider}`, {
        provider,
        connection,
        hint: 'See `broker connections`.',
      })
    }
  }
}
