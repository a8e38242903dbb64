import { BrokerError, type FlowName, type SecretInput } from '../../protocol/index.ts'
import { type ClientRooms, knownClient, registeredClient } from './login-client.ts'
import type { LoginRequest } from './login-request.ts'
import type { OAuthLogin, OAuthPlace } from './oauth-steps.ts'
import { scopesOf, startCode, startDevice } from './oauth-steps.ts'
import { requirePassable } from './obstacle.ts'
import { appFields, parseApp } from './own-app.ts'
import type { AppForm, OAuthFlow, WaitingStep } from './step.ts'

interface Way {
  /** The endpoint it begins at. */
  readonly endpoint: 'authorizationUrl' | 'deviceAuthorizationUrl'
  /** Whether the server is asked to make a client where there is none. */
  readonly registers: boolean
  /** Whether a browser comes back from the provider, whose app has to know where to. */
  readonly returns: boolean
  start(login: OAuthLogin): Promise<WaitingStep>
}

const ways: Readonly<Record<OAuthFlow, Way>> = {
  pkce: { endpoint: 'authorizationUrl', registers: false, returns: true, start: startCode },
  dcr_pkce: { endpoint: 'authorizationUrl', registers: true, returns: true, start: startCode },
  device_code: { endpoint: 'deviceAuthorizationUrl', registers: false, returns: false, start: startDevice },
}

/** To the provider as a client it knows; where there is none and it makes none, the user is asked for an app. */
export async function beginOAuthLogin(
  rooms: ClientRooms,
  request: LoginRequest,
  flow: OAuthFlow,
): Promise<WaitingStep> {
  const way = ways[flow]
  const server = await rooms.flows.discover(request.provider.definition, request.baseUrl)
  if (!server[way.endpoint] || !server.tokenUrl) throw cannotLogIn(request, flow)
  requirePassable(request, server, { flow, begins: way.endpoint })
  const place = { rooms, request, server }
  const client =
    (await knownClient(rooms, request)) ??
    (way.registers ? await registeredClient(rooms, request, server, scopesOf(place)) : undefined)
  return client ? way.start({ ...place, client }) : appForm(place, flow)
}

function appForm({ rooms, request, server }: OAuthPlace, flow: OAuthFlow): AppForm {
  const way = ways[flow]
  return {
    kind: 'form',
    asksFor: 'app',
    flow,
    fields: appFields(request.provider.definition),
    server,
    ...(way.returns && { redirectUri: rooms.redirectUri }),
    ...(way.registers && { isTurnedAway: true as const }),
  }
}

/**
 * Goes on with the app that was entered.
 * @throws BrokerError InvalidRequestError, AuthenticationFailedError, EndpointUnreachableError
 */
export async function submitApp(place: OAuthPlace, flow: OAuthFlow, input: SecretInput): Promise<WaitingStep> {
  const client = parseApp(place.request.provider.definition, place.server, input)
  return ways[flow].start({ ...place, client: { client, origin: 'app', kept: { kind: 'own', client } } })
}

function cannotLogIn({ provider: { definition } }: LoginRequest, flow: FlowName): BrokerError {
  const { name, display_name } = definition
  return new BrokerError(
    'OperationNotAllowedError',
    `Cannot log in to ${name} by ${flow}: it has no endpoint for that`,
    {
      provider: name,
      hint: `See what ${display_name} has: broker provider inspect ${name}`,
    },
  )
}
