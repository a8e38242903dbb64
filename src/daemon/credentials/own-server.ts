import { type Actor, BrokerError } from '../../protocol/index.ts'
import { type ConnectionAddress, servingOf } from '../connections/index.ts'
import {
  isOwnServer,
  type OwnPlace,
  ownPlaceFor,
  ownPlaces,
  type Provider,
  type Providers,
  type Target,
} from '../providers/index.ts'
import { connectionFor, mayInject } from './granted-use.ts'

/** A request to a server of somebody's own, which is no host of any definition. */
export interface OwnRequest extends Target {
  readonly provider?: string
  readonly connection?: string
}

/** The connection whose own server a request goes to, and the place on it. */
export interface OwnMatch<One extends ConnectionAddress = ConnectionAddress> {
  readonly provider: Provider
  readonly connection: One
  readonly place: OwnPlace
}

/** The places of a connection on a server of the user's own; none where it is for the service itself. */
export function ownPlacesOf(provider: Provider, baseUrl: string | undefined): readonly OwnPlace[] {
  const { definition } = provider
  return baseUrl !== undefined && isOwnServer(definition, baseUrl) ? ownPlaces(definition, baseUrl) : []
}

/**
 * Looks the request up among the connections with an address of their own: the longest path counts.
 * @throws BrokerError ProviderNotFoundError where connections of more than one provider serve it
 */
export function ownMatch<One extends ConnectionAddress>(
  providers: Providers,
  actor: Actor,
  all: readonly One[],
  request: OwnRequest,
): OwnMatch<One> | undefined {
  const found = all.flatMap((connection) => matchOf(providers, actor, connection, request) ?? [])
  const longest = Math.max(...found.map(lengthOf))
  const best = found.filter((one) => lengthOf(one) === longest)
  const [first] = best
  if (first === undefined) return undefined
  const { name } = first.provider.definition
  if (best.some(({ provider }) => provider !== first.provider)) throw tied(best)
  const ofProvider = all.filter(({ provider }) => provider === name)
  const chosen = servingOf(ofProvider, (one) => best.some(({ connection }) => connection === one))
  return best.find(({ connection }) => connection === chosen)
}

function matchOf<One extends ConnectionAddress>(
  providers: Providers,
  actor: Actor,
  connection: One,
  { provider: wanted, connection: named, ...target }: OwnRequest,
): OwnMatch<One> | undefined {
  const { provider: name } = connection
  const provider = providers.find(name)
  if (!provider || !mayInject(actor, name) || (wanted !== undefined && wanted !== name)) return undefined
  const place = ownPlaceFor(ownPlacesOf(provider, connection.base_url), target)
  if (!place) return undefined
  const chosen = connectionFor(actor, name, named)
  return chosen === undefined || chosen === connection.connection ? { provider, connection, place } : undefined
}

function lengthOf({ place }: OwnMatch): number {
  return place.pattern.pathPrefix?.length ?? 0
}

function tied(found: readonly OwnMatch[]): BrokerError {
  const names = [...new Set(found.map(({ connection }) => connection.provider))].join(', ')
  return new BrokerError(
    'ProviderNotFoundError',
    `Connections of more than one provider are for this place: ${names}`,
    {
      hint: 'Remove one of them: broker logout <provider> --connection <name>',
    },
  )
}
