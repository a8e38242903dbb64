import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Revoked } from '../../schemas/index.ts'
import type {
  ListedConnections,
  LoggedIn,
  ManagedConnections,
  OAuthClients,
  ServingConnections,
} from '../connections/index.ts'
import type { Flows, RevocationOutcome } from '../flows/index.ts'
import { clientParty, type Provider, type Providers } from '../providers/index.ts'
import type { GrantState } from './grant-state.ts'
import { grantedParty } from './granted-party.ts'
import type { MintedState } from './minted-state.ts'

export interface RevokeOptions {
  readonly providers: Providers
  readonly connections: ListedConnections & ServingConnections & Pick<ManagedConnections, 'revoke'>
  readonly grants: Pick<GrantState, 'holdAtRest'>
  readonly minted: Pick<MintedState, 'held' | 'forget'>
  readonly flows: Flows
  readonly clients: OAuthClients
}

/**
 * Asks the provider to end what it granted, where it can be asked, and removes all of its connections, whatever it says.
 * @throws BrokerError ProviderNotFoundError, ConnectionNotFoundError
 */
export async function revokeProvider(options: RevokeOptions, actor: Actor, name: string): Promise<Revoked> {
  const { providers, connections, minted } = options
  const all = await connections.ofProvider(actor, name)
  const provider = providers.find(name)
  using held = new DisposableStack()
  const outcomes = await Promise.all(
    all.map((one) => revokeOne({ ...options, held }, actor, provider, one).catch(failedIfUnreadable)),
  )
  const revoked = await connections.revoke(actor, name, summary(outcomes))
  minted.forget(actor, { provider: name })
  return revoked
}

async function revokeOne(
  options: RevokeOptions & { readonly held: DisposableStack },
  actor: Actor,
  provider: Provider | undefined,
  connection: LoggedIn,
): Promise<RevocationOutcome> {
  const { grants, flows, clients, held } = options
  if (connection.authType === 'api_key') return 'unsupported'
  // Its definition is gone, or no longer parses.
  if (!provider) return 'failed'
  if (connection.flow === 'api_key') return revokeMinted(options, actor, provider, connection)
  // A refresh that ends later would leave a token behind that nobody has any more.
  const hold = await grants.holdAtRest(actor, connection)
  if (!hold) return 'failed'
  held.defer(hold.letGo)
  const { party, grant } = await grantedParty(clients, actor, provider, hold.lease)
  const { accessToken, refreshToken } = grant
  return flows.revoke({ ...party, accessToken, ...(refreshToken && { refreshToken }) })
}

/** Of a client: the token at hand. Those of before, or of a daemon that has ended, end by themselves. */
async function revokeMinted(
  { connections, minted, flows }: RevokeOptions,
  actor: Actor,
  provider: Provider,
  { connection }: LoggedIn,
): Promise<RevocationOutcome> {
  const id = { provider: provider.definition.name, connection }
  const accessToken = minted.held(actor, id)
  if (!accessToken) return 'unsupported'
  try {
    const { credential, baseUrl } = await connections.use(actor, provider, connection)
    const party = clientParty(provider.definition, credential.fields, { baseUrl, now: Date.now() })
    return party ? await flows.revoke({ ...party, accessToken }) : 'failed'
  } catch (error) {
    if (error instanceof BrokerError) return 'failed'
    throw error
  }
}

/** Returns the outcome for what does not open any more: it cannot be shown to the provider, and is removed all the same. */
function failedIfUnreadable(error: unknown): RevocationOutcome {
  if (error instanceof BrokerError && error.name === 'CredentialMissingError') return 'failed'
  throw error
}

function summary(outcomes: readonly RevocationOutcome[]): Revoked['remote'] {
  if (outcomes.includes('failed')) return 'failed'
  return outcomes.includes('revoked') ? 'revoked' : 'unsupported'
}
