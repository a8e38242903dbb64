import { type Actor, type AuthType, BrokerError } from '../../protocol/index.ts'
import type { Revoked } from '../../schemas/index.ts'
import type { ConnectionId, Connections, OAuthClients } from '../connections/index.ts'
import type { Flows, RevocationOutcome } from '../flows/index.ts'
import type { Provider, Providers } from '../providers/index.ts'
import { grantedParty } from './granted-party.ts'
import type { Refresher } from './open-refresher.ts'
import type { TokenIssuer } from './token-issuer.ts'

export interface RevokeOptions {
  readonly providers: Providers
  readonly connections: Connections
  readonly refresher: Refresher
  readonly issuer: TokenIssuer
  readonly flows: Flows
  readonly clients: OAuthClients
}

/**
 * Asks the provider to end what it granted, where it can be asked, and removes all of its connections, whatever it says.
 * @throws BrokerError ProviderNotFoundError, ConnectionNotFoundError
 */
export async function revokeProvider(options: RevokeOptions, actor: Actor, name: string): Promise<Revoked> {
  const { providers, connections, issuer } = options
  const all = await connections.ofProvider(actor, name)
  const provider = providers.find(name)
  using held = new DisposableStack()
  const outcomes = await Promise.all(
    all.map((one) => revokeOne({ ...options, held }, actor, provider, one).catch(failedIfUnreadable)),
  )
  const revoked = await connections.revoke(actor, name, summary(outcomes))
  issuer.forget(actor, { provider: name })
  return revoked
}

async function revokeOne(
  { refresher, flows, clients, held }: RevokeOptions & { readonly held: DisposableStack },
  actor: Actor,
  provider: Provider | undefined,
  connection: ConnectionId & { readonly authType: AuthType },
): Promise<RevocationOutcome> {
  if (connection.authType === 'api_key') return 'unsupported'
  // Its definition is gone, or no longer parses.
  if (!provider) return 'failed'
  // A refresh that ends later would leave a token behind that nobody has any more.
  const hold = await refresher.hold(actor, connection)
  if (!hold) return 'failed'
  held.defer(hold.letGo)
  const { party, grant } = await grantedParty(clients, actor, provider, hold.lease)
  const { accessToken, refreshToken } = grant
  return flows.revoke({ ...party, accessToken, ...(refreshToken && { refreshToken }) })
}

/** What does not open any more cannot be shown to the provider; removed it shall be. */
function failedIfUnreadable(error: unknown): RevocationOutcome {
  if (error instanceof BrokerError && error.name === 'CredentialMissingError') return 'failed'
  throw error
}

function summary(outcomes: readonly RevocationOutcome[]): Revoked['remote'] {
  if (outcomes.includes('failed')) return 'failed'
  return outcomes.includes('revoked') ? 'revoked' : 'unsupported'
}
