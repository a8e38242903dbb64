import { BrokerError, type FlowName } from '../../protocol/index.ts'
import { CLIENT_AUTH_METHODS, type Demand, type OAuthServer } from '../flows/index.ts'
import type { LoginRequest } from './login-request.ts'

/**
 * Says before anybody is asked for anything that the login cannot work, by what the server says of itself.
 * @param begins which of its endpoints the login begins at
 * @throws BrokerError OperationNotAllowedError
 */
export function requirePassable(
  { provider: { definition } }: LoginRequest,
  server: OAuthServer,
  { flow, begins }: { readonly flow: FlowName; readonly begins: 'authorizationUrl' | 'deviceAuthorizationUrl' },
): void {
  const { name, display_name, api_key, oauth } = definition
  const demand = server.demands?.find((each) => begins === 'authorizationUrl' || each === 'bound_tokens')
  const isAuthKnown = oauth?.token_auth_method !== undefined || oauth?.client_id !== undefined
  const wants = demand ? WORDS[demand] : isAuthKnown ? undefined : unknownClientAuth(server)
  if (wants === undefined) return
  throw new BrokerError(
    'OperationNotAllowedError',
    `Cannot log in to ${name} by ${flow}: ${display_name} wants ${wants}`,
    {
      provider: name,
      hint: api_key
        ? `Use an API key of it: broker login ${name} --flow api_key`
        : `Broker cannot do that. See whether ${display_name} has API keys, and register a definition that takes one: broker provider register <path>`,
    },
  )
}

const WORDS: Readonly<Record<Demand, string>> = {
  pushed_requests: 'its authorization requests pushed to it (PAR, RFC 9126)',
  signed_requests: 'its authorization requests signed (JAR, RFC 9101)',
  bound_tokens: 'every token bound to a key of its client (DPoP, RFC 9449)',
}

/** Returns what the server wants where none of its ways to show oneself is ours: a key or a certificate of the client. */
function unknownClientAuth({ clientAuth = [] }: OAuthServer): string | undefined {
  const isOurs = CLIENT_AUTH_METHODS.some((method) => clientAuth.includes(method))
  if (clientAuth.length === 0 || isOurs) return undefined
  return `clients to prove themselves by ${clientAuth.slice(0, 3).join(' or ').slice(0, 100)}`
}
