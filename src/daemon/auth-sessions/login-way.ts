import { BrokerError, type FlowName } from '../../protocol/index.ts'
import type { ProviderDefinition, StartAuthSession } from '../../schemas/index.ts'
import { hasSection, type KeySection, keySection, type Provider, withoutOwnLogin } from '../providers/index.ts'

export interface LoginWay {
  readonly flow: FlowName
  /** Of the flow `api_key`. */
  readonly section: KeySection
}

/**
 * Returns how to log in: as asked, or as the definition says.
 * @param provider as it is at this address
 * @throws BrokerError OperationNotAllowedError where it cannot be
 */
export function chooseWay({ definition }: Provider, wanted: WantedWay): LoginWay {
  const way = wantedWay(definition, wanted)
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

/** @throws BrokerError OperationNotAllowedError where the server at the address is not logged in to like that */
export function requireOwnLogin({ definition }: Provider, baseUrl: string | undefined, wanted: WantedWay): void {
  const isOAuth = wanted.flow !== undefined && wanted.flow !== 'api_key'
  const way = wanted.signing ? 'signing' : wanted.grant ? 'client' : isOAuth ? 'oauth' : undefined
  const problem = way && withoutOwnLogin(definition, baseUrl, way)
  if (problem) throw problem
}

type WantedWay = Pick<StartAuthSession, 'flow' | 'signing' | 'grant' | 'new_client'>

function wantedWay(definition: ProviderDefinition, wanted: WantedWay): LoginWay {
  if (wanted.grant) return sectionWay(definition, 'client_credentials', wanted.flow)
  if (wanted.signing) return sectionWay(definition, 'signing', wanted.flow)
  return usualWay(definition, wanted.flow)
}

function usualWay(definition: ProviderDefinition, wanted: FlowName | undefined): LoginWay {
  const flow = wanted ?? definition.flow
  const section = keySection(definition)
  const isThere = flow === 'api_key' ? hasSection(definition, section) : definition.oauth !== undefined
  if (isThere) return { flow, section }
  const what = flow === 'api_key' ? 'by API key: it takes none' : `by ${flow}: its definition has no OAuth section`
  throw new BrokerError('OperationNotAllowedError', `Cannot log in to ${definition.name} ${what}`, {
    provider: definition.name,
    hint: hasSection(definition, 'api_key')
      ? `Use its API key: broker login ${definition.name} --flow api_key`
      : `Log in the way it knows: broker login ${definition.name}`,
  })
}

/** Of a flow in which nothing is entered that could be looked at before it is used. */
export function takesNoKey({ definition: { name } }: Provider, flow: FlowName): BrokerError {
  return new BrokerError('OperationNotAllowedError', `Cannot check a login to ${name} by ${flow}: it takes no key`, {
    provider: name,
    hint: `Log in: broker login ${name} --flow ${flow}`,
  })
}

const SECTION_WORDS = {
  signing: 'with a key that signs',
  client_credentials: 'with the id and secret of a client',
} as const

/** A section beside others of the flow `api_key`, which was asked for by its name. */
function sectionWay(
  definition: ProviderDefinition,
  section: keyof typeof SECTION_WORDS,
  flow: FlowName = 'api_key',
): LoginWay {
  const { name } = definition
  const isThere = hasSection(definition, section)
  if (isThere && flow === 'api_key') return { flow, section }
  const why = isThere ? `the flow is "api_key", not "${flow}"` : 'its definition has none'
  throw new BrokerError('OperationNotAllowedError', `Cannot log in to ${name} ${SECTION_WORDS[section]}: ${why}`, {
    provider: name,
    hint: `Log in the way it knows: broker login ${name}`,
  })
}
