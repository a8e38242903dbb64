import { BrokerError, type FlowName } from '../../protocol/index.ts'
import type { ProviderDefinition, StartAuthSession } from '../../schemas/index.ts'
import { type KeySection, keySection, needsBaseUrl, type Provider, parseBaseUrl } from '../providers/index.ts'
import { beginKeyLogin } from './key-login.ts'
import type { ClientRooms } from './login-client.ts'
import { beginOAuthLogin } from './oauth-login.ts'
import type { LoginRequest, WaitingStep } from './step.ts'

type Begin = (rooms: ClientRooms, request: LoginRequest) => Promise<WaitingStep>

const logins: Readonly<Record<FlowName, Begin>> = {
  api_key: async (_rooms, request) => beginKeyLogin(request),
  pkce: (rooms, request) => beginOAuthLogin(rooms, request, 'pkce'),
  dcr_pkce: (rooms, request) => beginOAuthLogin(rooms, request, 'dcr_pkce'),
  device_code: (rooms, request) => beginOAuthLogin(rooms, request, 'device_code'),
}

/**
 * The first step of a login.
 * @throws BrokerError OperationNotAllowedError, EndpointUnreachableError, AuthenticationFailedError
 */
export function beginLogin(rooms: ClientRooms, flow: FlowName, request: LoginRequest): Promise<WaitingStep> {
  return logins[flow](rooms, request)
}

export interface LoginWay {
  readonly flow: FlowName
  /** Of the flow `api_key`. */
  readonly section: KeySection
}

/** How to log in: as asked, or as the definition says. @throws BrokerError OperationNotAllowedError where it cannot be */
export function chooseWay({ definition }: Provider, wanted: WantedWay): LoginWay {
  const way = wanted.signing ? signingWay(definition, wanted.flow) : wayOf(definition, wanted.flow)
  if (!wanted.new_client || way.flow !== 'api_key') return way
  throw new BrokerError(
    'OperationNotAllowedError',
    `Cannot log in to ${definition.name} with a new client by API key`,
    {
      provider: definition.name,
      hint: `Log in by OAuth, or without --new-client: broker provider inspect ${definition.name} shows the flows`,
    },
  )
}

type WantedWay = Pick<StartAuthSession, 'flow' | 'signing' | 'new_client'>

function wayOf(definition: ProviderDefinition, wanted: FlowName | undefined): LoginWay {
  const flow = wanted ?? definition.flow
  const section = keySection(definition)
  if ((flow === 'api_key' ? definition[section] : definition.oauth) !== undefined) return { flow, section }
  const what = flow === 'api_key' ? 'by API key: it takes none' : `by ${flow}: its definition has no OAuth section`
  throw new BrokerError('OperationNotAllowedError', `Cannot log in to ${definition.name} ${what}`, {
    provider: definition.name,
    hint: definition.api_key
      ? `Use its API key: broker login ${definition.name} --flow api_key`
      : `Log in the way it knows: broker login ${definition.name}`,
  })
}

function signingWay({ name, signing }: ProviderDefinition, flow: FlowName = 'api_key'): LoginWay {
  if (signing && flow === 'api_key') return { flow, section: 'signing' }
  const why = signing ? `the flow is "api_key", not "${flow}"` : 'its definition has none'
  throw new BrokerError('OperationNotAllowedError', `Cannot log in to ${name} with a key that signs: ${why}`, {
    provider: name,
    hint: `Log in the way it knows: broker login ${name}`,
  })
}

/** The tenant's own URL, where there is one. @throws BrokerError InvalidRequestError */
export function tenantUrl({ definition }: Provider, text: string | undefined): string | undefined {
  if (text !== undefined) return parseBaseUrl(definition, text)
  if (!needsBaseUrl(definition)) return undefined
  throw new BrokerError(
    'InvalidRequestError',
    `Cannot log in to ${definition.name} without the URL of your own instance`,
    {
      provider: definition.name,
      details: [{ path: 'base_url', message: 'is required' }],
      hint: `broker login ${definition.name} --base-url ${definition.base_url}`,
    },
  )
}
