import { matchesAuthority } from '../../network/index.ts'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import {
  credentialHosts,
  type Match,
  ownPlaceFor,
  type Provider,
  type Providers,
  type Target,
} from '../providers/index.ts'
import { mayInject } from './granted-use.ts'
import { ownPlacesOf } from './own-server.ts'

/** What a request matches. */
export type Found = Extract<Match, { kind: 'one' }>

/** No provider is for it, or several equally; and what to say then. */
export interface Unmatched {
  readonly kind: 'none' | 'tie'
  readonly refusal: BrokerError
}

type MatchedRequest = Target & { readonly provider?: string }

/** The definition that a request goes to, apart from those that were passed over. */
export function matchFor(
  providers: Providers,
  actor: Actor,
  request: MatchedRequest,
  passedOver: readonly Found[],
): Found | Unmatched {
  const { provider: wanted } = request
  const match = providers.match(
    request,
    ({ definition: { name } }) =>
      mayInject(actor, name) && (wanted === undefined || name === wanted) && !isAmong(passedOver, name),
  )
  const mayStandIn = match.kind === 'one' && passedOver.every((better) => standsInFor(better, match))
  if (mayStandIn) return match
  if (match.kind !== 'tie') return { kind: 'none', refusal: noProvider(request) }
  const names = match.providers.map(({ definition }) => definition.name).join(', ')
  const refusal = new BrokerError(
    'ProviderNotFoundError',
    `More than one provider matches this request equally: ${names}`,
    { hint: 'Name the one to use, or remove the other: broker provider remove <provider>' },
  )
  return { kind: 'tie', refusal }
}

/** On the same host, but not with the token of another resource where somebody here told the two apart. */
function standsInFor(better: Found, { provider, pattern }: Found): boolean {
  const [resource, instead] = [better.provider, provider].map(({ definition }) => definition.oauth?.resource)
  const isToldApart = better.provider.source === 'custom' && resource !== undefined && instead !== undefined
  return better.pattern.hostPattern === pattern.hostPattern && !(isToldApart && resource !== instead)
}

function isAmong(found: readonly Found[], name: string): boolean {
  return found.some(({ provider }) => provider.definition.name === name)
}

function noProvider({ provider }: MatchedRequest): BrokerError {
  return provider === undefined
    ? new BrokerError('ProviderNotFoundError', 'No provider matches this request')
    : new BrokerError('ProviderNotFoundError', `The provider "${provider}" does not match this request`, { provider })
}

/** Returns whether a connection with this address is for the host of the request. */
export function isForHost(provider: Provider, baseUrl: string | undefined, target: Target): boolean {
  const own = ownPlacesOf(provider, baseUrl)
  if (own.length > 0) return ownPlaceFor(own, target) !== undefined
  const allowed = credentialHosts(provider.definition, baseUrl)
  return allowed.some((pattern) => matchesAuthority(pattern, target))
}
