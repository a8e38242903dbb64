import { beginClientLogin, revokeClientToken, submitClient } from './client-login.ts'
import { beginKeyLogin, submitKey } from './key-login.ts'
import { type ClientRooms, doubtRegistration } from './login-client.ts'
import type { LoginRequest } from './login-request.ts'
import { beginOAuthLogin, submitApp } from './oauth-login.ts'
import { pollCode, revokeGrant, spendCode } from './oauth-steps.ts'
import type { Granted, Move, Step, WaitingStep } from './step.ts'

/**
 * The first step of a login.
 * @throws BrokerError OperationNotAllowedError, EndpointUnreachableError, AuthenticationFailedError
 */
export async function beginLogin(rooms: ClientRooms, request: LoginRequest): Promise<WaitingStep> {
  const { flow, section } = request
  if (flow !== 'api_key') return beginOAuthLogin(rooms, request, flow)
  return section === 'client_credentials' ? beginClientLogin(request) : beginKeyLogin(request)
}

/**
 * Takes a login one step further: asks the provider where the step needs it, and says where that leads. Keeps nothing,
 * and changes nothing but what the rooms know of clients.
 * @throws BrokerError with what went wrong; after `submit` the same form can be sent again
 */
export async function advance(rooms: ClientRooms, request: LoginRequest, move: Move): Promise<Step> {
  switch (move.kind) {
    case 'submit':
      return submit(rooms, request, move)
    case 'return':
      return spendCode({ rooms, request, ...move.step }, move.query)
    case 'poll':
      return pollCode({ rooms, request, ...move.step }, move.interval)
  }
}

type Submit = Extract<Move, { readonly kind: 'submit' }>

function submit(rooms: ClientRooms, request: LoginRequest, { step, input }: Submit): Promise<Step> | Step {
  switch (step.asksFor) {
    case 'credential':
      return submitKey(request, input)
    case 'client':
      return submitClient(rooms, request, input)
    case 'app':
      return submitApp({ rooms, request, server: step.server }, step.flow, input)
  }
}

/** Nobody took the step: the browser may have met a page that does not know our client. */
export async function giveUp(
  rooms: Pick<ClientRooms, 'clients'>,
  request: LoginRequest,
  step: WaitingStep | undefined,
): Promise<void> {
  if (step?.kind === 'browser') await doubtRegistration(rooms, request, step.client)
}

/** Gives back what nobody will use. Never throws for what a provider or a network may do. */
export async function discard(rooms: ClientRooms, request: LoginRequest, granted: Granted): Promise<void> {
  const { revocable } = granted
  if (revocable?.kind === 'grant') await revokeGrant({ rooms, request, ...revocable }, revocable)
  if (revocable?.kind === 'client') await revokeClientToken(rooms, request, { ...granted.connection, ...revocable })
}
