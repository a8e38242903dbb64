import { BrokerError, type Secret, type SecretInput } from '../../protocol/index.ts'
import type { Fields } from '../connections/index.ts'
import type { ClientRequest } from '../flows/index.ts'
import {
  answeredBaseUrl,
  clientParty,
  clientScopes,
  credentialFields,
  isToBeDiscovered,
  parseCredential,
  withEndpoints,
} from '../providers/index.ts'
import type { ClientRooms } from './login-client.ts'
import type { LoginRequest } from './login-request.ts'
import type { FormStep, Granted } from './step.ts'

type Rooms = Pick<ClientRooms, 'flows'>

/**
 * One form for the id and secret of a client. A first token says whether they are taken; it is not kept: whoever uses the
 * connection gets tokens by itself.
 */
export function beginClientLogin({ provider: { definition } }: LoginRequest): FormStep {
  return { kind: 'form', asksFor: 'client', fields: credentialFields(definition, 'client_credentials') }
}

/** @throws BrokerError InvalidRequestError, AuthenticationFailedError, EndpointUnreachableError, OperationNotAllowedError */
export async function submitClient({ flows }: Rooms, request: LoginRequest, input: SecretInput): Promise<Granted> {
  const { definition } = request.provider
  const entered = parseCredential(definition, input, 'client_credentials')
  const fields = isToBeDiscovered(definition)
    ? withEndpoints(entered, await flows.discover(definition, request.baseUrl))
    : entered
  const scopes = request.scopes ?? clientScopes(definition)
  const { accessToken, apiUrl } = await flows.logInAsClient(clientRequest(request, fields, scopes))
  const baseUrl = answeredBaseUrl(definition, apiUrl) ?? request.baseUrl
  return {
    kind: 'granted',
    connection: {
      credential: { kind: 'client_credentials', fields },
      scopes,
      ...(baseUrl !== undefined && { baseUrl }),
    },
    revocable: { kind: 'client', accessToken },
  }
}

interface Issued {
  readonly credential: { readonly fields: Fields }
  readonly scopes: readonly string[]
  readonly accessToken: Secret
}

/** Never throws for what a provider or a network may do. */
export async function revokeClientToken(
  { flows }: Rooms,
  request: LoginRequest,
  { credential: { fields }, scopes, accessToken }: Issued,
): Promise<void> {
  await flows.revoke({ ...clientRequest(request, fields, scopes), accessToken })
}

/** For one request: an assertion is good for no other. */
function clientRequest({ provider, baseUrl }: LoginRequest, fields: Fields, scopes: readonly string[]): ClientRequest {
  const { definition } = provider
  const party = clientParty(definition, fields, { baseUrl, now: Date.now() })
  if (party) return { ...party, scopes }
  throw new BrokerError(
    'OperationNotAllowedError',
    `Cannot log in to ${definition.name} as a client: it has no endpoint for that`,
    { provider: definition.name, hint: `See what it has: broker provider inspect ${definition.name}` },
  )
}
