import { BrokerError } from '../../protocol/index.ts'
import type { KeptClient, OAuthClients } from '../connections/index.ts'
import {
  type ClientRefusal,
  type Flows,
  issuerName,
  type OAuthClient,
  type OAuthServer,
  ProviderRefusal,
  refusalOfClient,
} from '../flows/index.ts'
import type { LoginRequest } from './login-request.ts'

type Definition = LoginRequest['provider']['definition']

/** Who we are to a provider in one login. */
export interface LoginClient {
  readonly client: OAuthClient
  /**
   * `definition`: a public one. `app`: the user's own. `family`: the user's own for the provider that this one is a part
   * of. `registration`: made for us by the server.
   */
  readonly origin: 'definition' | 'app' | 'family' | 'registration'
  /** To be stored with the connection, where this login is the first that has it. */
  readonly kept?: KeptClient
}

export interface ClientRooms {
  readonly clients: OAuthClients
  readonly flows: Flows
  /** Exactly where providers send browsers back to. */
  readonly redirectUri: string
}

/**
 * The client of the definition, or the app that the user entered at an earlier login; undefined where there is neither.
 * @throws BrokerError OperationNotAllowedError where the definition's own client cannot be another
 */
export async function knownClient(
  { clients }: ClientRooms,
  { actor, provider, baseUrl, anew }: LoginRequest,
): Promise<LoginClient | undefined> {
  const { client_id: id, token_auth_method: method = 'none' } = provider.definition.oauth ?? {}
  if (id !== undefined && method === 'none') {
    if (anew === 'client') throw noOtherClient(provider.definition)
    return { client: { id, auth: 'none' }, origin: 'definition' }
  }
  if (anew === 'client') return undefined
  const own = await clients.own(actor, provider, baseUrl)
  if (own) return { client: own, origin: 'app' }
  const shared = baseUrl === undefined ? await clients.ofFamily(actor, provider) : undefined
  return shared && { client: shared, origin: 'family' }
}

function noOtherClient({ name }: Definition): BrokerError {
  return new BrokerError(
    'OperationNotAllowedError',
    `Cannot log in to ${name} with a new client: its definition has one`,
    {
      provider: name,
      hint: `Log in with that one: broker login ${name}`,
    },
  )
}

/**
 * The client that the server made for us earlier, or makes now. Undefined where it takes no strangers.
 * @throws BrokerError EndpointUnreachableError, AuthenticationFailedError
 */
export async function registeredClient(
  { clients, flows, redirectUri }: ClientRooms,
  { actor, provider, anew }: LoginRequest,
  server: OAuthServer,
  scopes: readonly string[],
): Promise<LoginClient | undefined> {
  const at = { issuer: issuerName(server), redirectUri }
  const before = anew === 'nothing' ? await clients.registered(actor, provider, at) : undefined
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
 * Does what shows our client to the provider. A kept one that it refuses is forgotten: the next login asks for another
 * app, or registers anew. So is a registration where the login failed in any other way than by the user's own word.
 */
export async function asClient<Result>(
  rooms: Pick<ClientRooms, 'clients'>,
  request: LoginRequest,
  used: LoginClient,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (providerCode(cause) !== 'access_denied') await doubtRegistration(rooms, request, used)
    const refusal = refusalOfClient(cause)
    if (refusal === 'none' || used.origin === 'definition') throw cause
    if (refusal === 'unknown' && isKeptApp(used)) await forgetApp(rooms, request)
    throw clientRefused(request.provider.definition, used, { refusal, cause })
  }
}

/**
 * Forgets a registration of an earlier login, of which the server may know no more. The connections made with it hold
 * it themselves, and keep it.
 */
export async function doubtRegistration(
  { clients }: Pick<ClientRooms, 'clients'>,
  { actor, provider }: LoginRequest,
  { client, origin, kept }: LoginClient,
): Promise<void> {
  if (origin !== 'registration' || kept !== undefined) return
  await clients.forget(actor, provider, { kind: 'registered', id: client.id })
}

function isKeptApp({ origin, kept }: LoginClient): boolean {
  return (origin === 'app' || origin === 'family') && kept === undefined
}

async function forgetApp({ clients }: Pick<ClientRooms, 'clients'>, { actor, provider, baseUrl }: LoginRequest) {
  await clients.forget(actor, provider, { kind: 'own', ...(baseUrl !== undefined && { baseUrl }) })
}

interface Refused {
  readonly refusal: ClientRefusal
  readonly cause: unknown
}

function clientRefused(
  { name, display_name }: Definition,
  used: LoginClient,
  { refusal, cause }: Refused,
): BrokerError {
  const [what, hint] = wordsFor(name, used, refusal)
  const code = providerCode(cause)
  const said = code === undefined ? '' : ` (${code})`
  return new BrokerError('AuthenticationFailedError', `${display_name} refuses ${what}${said}`, {
    provider: name,
    hint,
    cause,
  })
}

function wordsFor(name: string, used: LoginClient, refusal: ClientRefusal): readonly [what: string, hint: string] {
  if (used.origin === 'registration')
    return ['the client it had registered, which is forgotten now', `Log in again: broker login ${name}`]
  if (used.kept !== undefined)
    return [
      'the id or secret of your OAuth app',
      `Copy both from the app's page there, and enter them again: broker login ${name}`,
    ]
  return refusal === 'unknown'
    ? ['your OAuth app, which is forgotten now', `Log in again and enter another: broker login ${name}`]
    : ['the id or secret of your OAuth app', `Enter them again, or another app: broker login ${name} --new-client`]
}

/** The error code of the provider (RFC 6749, section 5.2), where one of its answers is what failed. */
export function providerCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return error instanceof ProviderRefusal ? error.code : providerCode(error.cause)
}
