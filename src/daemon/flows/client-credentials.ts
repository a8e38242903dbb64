import * as oauth from 'oauth4webapi'
import { BrokerError } from '../../protocol/index.ts'
import { secretsIn, withoutEcho } from './echo.ts'
import type { ClientRequest, RefreshOutcome, Tokens } from './flows.ts'
import { fetchOptions, libraryParty, understood } from './library-party.ts'
import { patiently } from './outbound-request.ts'
import { BadAnswer, isForLater, isProviderFailure, ProviderRefusal } from './provider-failure.ts'
import { outcomeOf } from './refresh.ts'
import { readTokenAnswer } from './token-answer.ts'
import { type Means, scopeParameter, tokensOf } from './tokens.ts'

/** Asks for a token for the client itself. @throws BrokerError where it is refused; BadAnswer, ProviderRefusal, Unreachable */
export async function logInAsClient(means: Means, request: ClientRequest): Promise<Tokens> {
  try {
    return await ask(means, request)
  } catch (error) {
    throw isRefusedClient(error) ? refused(request, error) : error
  }
}

/** The same with a client that was taken before. */
export async function grantToClient(means: Means, request: ClientRequest): Promise<RefreshOutcome> {
  try {
    return outcomeOf(await ask(means, request))
  } catch (error) {
    if (!isProviderFailure(error)) throw error
    const outcome = outcomeOf(error)
    return outcome.kind === 'failed' && isRefusedClient(error) ? { kind: 'rejected', reason: outcome.reason } : outcome
  }
}

function ask(means: Means, request: ClientRequest): Promise<Tokens> {
  return withoutEcho(secretsIn(request), () => askOnce(means, request))
}

async function askOnce({ ask, now }: Means, request: ClientRequest): Promise<Tokens> {
  const { definition, server, scopes, parameters } = request
  const { as, client, auth } = libraryParty(request)
  const sent = {
    ...parameters,
    ...scopeParameter(request, scopes),
    ...(server.resource && { resource: server.resource }),
  }
  const response = await understood(() =>
    oauth.clientCredentialsGrantRequest(as, client, auth, sent, fetchOptions(request, 'token', patiently(ask))),
  )
  const at = now()
  const answer = await readTokenAnswer(response, { definition, idToken: 'ignored', now: at })
  const body = await understood(() => oauth.processClientCredentialsResponse(as, client, answer.response))
  // Who has the secret needs no other way to the next token (RFC 6749 section 4.4.3).
  const { refreshToken: _, ...tokens } = tokensOf(body, answer, { asked: scopes, now: at, sent: secretsIn(request) })
  return tokens
}

/** By status too: section 5.2 has 401 for a client that is not taken, whatever else an answer says. */
function isRefusedClient(error: unknown): error is ProviderRefusal | BadAnswer {
  if (error instanceof ProviderRefusal) {
    return error.status === 401 || (REFUSALS.has(error.code) && !isForLater(error.status))
  }
  return error instanceof BadAnswer && error.status === 401
}

/** Of the client itself, not of what it asks for. Auth0 denies access where others do not know the client. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_client',
  'access_denied',
  'incorrect_client_credentials',
  'invalid_client_id',
  'bad_client_secret',
])

function refused({ definition, client }: ClientRequest, cause: ProviderRefusal | BadAnswer): BrokerError {
  const { name, display_name } = definition
  const what = client.auth === 'private_key_jwt' ? 'id or key' : 'id or secret'
  const why = cause instanceof ProviderRefusal ? cause.code : `status ${cause.status}`
  return new BrokerError('AuthenticationFailedError', `${display_name} refuses the ${what} (${why})`, {
    provider: name,
    hint: `Look them up at ${display_name}, and log in again.`,
    cause,
  })
}
