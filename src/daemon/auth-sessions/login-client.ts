import { BrokerError } from '../../protocol/index.ts'
import type { KeptClient, OAuthClients } from '../connections/index.ts'
import { type Flows, issuerName, type OAuthClient, type OAuthServer, ProviderRefusal } from '../flows/index.ts'
import type { LoginRequest } from './step.ts'

/** Who we are to a provider in one login. */
export interface LoginClient {
  readonly client: OAuthClient
  /** `definition`: a public one. `app`: the user's own. `registration`: made for us by the server. */
  readonly origin: 'definition' | 'app' | 'registration'
  /** To be stored with the connection, where this login is the first that has it. */
  readonly kept?: KeptClient
}

export interface ClientRooms {
  readonly clients: OAuthClients
  readonly flows: Flows
  /** Exactly where providers send browsers back to. */
  readonly redirectUri: string
}

/** The client of the definition, or the app that the user entered at an earlier login; undefined where there is neither. */
export async function knownClient(
  { clients }: ClientRooms,
  { actor, provider, baseUrl }: LoginRequest,
): Promise<LoginClient | undefined> {
  const { client_id: id, token_auth_method: method = 'none' } = provider.definition.oauth ?? {}
  if (id !== undefined && method === 'none') return { client: { id, auth: 'none' }, origin: 'definition' }
  const own = await clients.own(actor, provider, baseUrl)
  return own && { client: own, origin: 'app' }
}

/**
 * The client that the server made for us earlier, or makes now. Undefined where it takes no strangers.
 * @throws BrokerError EndpointUnreachableError, AuthenticationFailedError
 */
export async function registeredClient(
  { clients, flows, redirectUri }: ClientRooms,
  { actor, provider }: LoginRequest,
  server: OAuthServer,
  scopes: readonly string[],
): Promise<LoginClient | undefined> {
  const before = await clients.registered(actor, provider, { issuer: issuerName(server), redirectUri })
  if (before) return { client: before, origin: 'registration' }
  try {
    const client = await flows.register({ definition: provider.definition, server, redirectUri, scopes })
    return { client, origin: 'registration', kept: { kind: 'registered', client } }
  } catch (error) {
    if (error instanceof BrokerError && error.name === 'OperationNotAllowedError') return undefined
    throw error
  }
}

/**
 * Does what shows our client to the provider. Where it refuses one that was kept from an earlier login, that is
 * forgotten: the next login asks for another app, or registers anew.
 */
export async function asClient<Result>(
  { clients }: Pick<ClientRooms, 'clients'>,
  { actor, provider, baseUrl }: LoginRequest,
  { client, origin, kept }: LoginClient,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const wasKept = origin !== 'definition' && kept === undefined
    if (!wasKept || providerCode(cause) !== 'invalid_client') throw cause
    const own = { kind: 'own', ...(baseUrl !== undefined && { baseUrl }) } as const
    await clients.forget(actor, provider, origin === 'app' ? own : { kind: 'registered', id: client.id })
    throw clientRefused(provider.definition, origin, cause)
  }
}

function clientRefused(
  { name, display_name }: LoginRequest['provider']['definition'],
  origin: 'app' | 'registration',
  cause: unknown,
): BrokerError {
  const [what, hint] =
    origin === 'app'
      ? ['your OAuth app, which is forgotten now', `Log in again and enter another: broker login ${name}`]
      : ['the client it had registered, which is forgotten now', `Log in again: broker login ${name}`]
  return new BrokerError('AuthenticationFailedError', `${display_name} refuses ${what}`, {
    provider: name,
    hint,
    cause,
  })
}

/** The error code of the provider (RFC 6749, section 5.2), where one of its answers is what failed. */
export function providerCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return error instanceof ProviderRefusal ? error.code : providerCode(error.cause)
}
