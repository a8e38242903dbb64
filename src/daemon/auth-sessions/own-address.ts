import { authorityOfUrl, isLoopback, overlap } from '../../network/index.ts'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { ConnectionAddress, ListedConnections } from '../connections/index.ts'
import {
  isOwnServer,
  needsBaseUrl,
  ownPlaces,
  type Provider,
  type Providers,
  parseBaseUrl,
  templatesOf,
} from '../providers/index.ts'

export interface AddressRooms {
  readonly providers: Providers
  readonly connections: ListedConnections
  /** Of this daemon: no credential is for it. */
  readonly baseUrl: string
}

/**
 * The address of a login: a tenant's, or that of a server of the user's own, whose host nobody else's credential goes to.
 * @returns undefined where the provider has one address for everyone
 * @throws BrokerError InvalidRequestError
 */
export async function addressOf(
  rooms: AddressRooms,
  actor: Actor,
  provider: Provider,
  text: string | undefined,
): Promise<string | undefined> {
  const { definition } = provider
  if (text === undefined) {
    if (needsBaseUrl(definition)) throw addressMissing(provider)
    return undefined
  }
  const address = parseBaseUrl(definition, text, rooms.providers.list())
  if (!isOwnServer(definition, address)) return address
  if (isOfDaemon(address, rooms.baseUrl)) throw refused(provider, "must not be the broker's own address")
  const other = await otherAt(rooms, actor, provider, address)
  if (other === undefined) return address
  throw refused(
    provider,
    `must not be where connection "${other.connection}" of ${other.provider} goes`,
    `Remove that one first: broker logout ${other.provider} --connection ${other.connection}`,
  )
}

function isOfDaemon(address: string, daemon: string): boolean {
  const [one, own] = [authorityOfUrl(new URL(address)), authorityOfUrl(new URL(daemon))]
  const isOneMachine = isLoopback(one.host) && isLoopback(own.host)
  return one.port === own.port && (one.host === own.host || isOneMachine)
}

/** Requests there could carry either credential. */
async function otherAt(
  { providers, connections }: AddressRooms,
  actor: Actor,
  { definition }: Provider,
  address: string,
): Promise<ConnectionAddress | undefined> {
  const places = ownPlaces(definition, address)
  const all = await connections.addresses(actor)
  return all.find(({ provider, base_url: baseUrl }) => {
    const theirs = providers.find(provider)?.definition
    if (!theirs || !baseUrl || provider === definition.name || !isOwnServer(theirs, baseUrl)) return false
    return ownPlaces(theirs, baseUrl).some((one) => places.some((place) => overlap(one.pattern, place.pattern)))
  })
}

function refused({ definition: { name } }: Provider, problem: string, hint?: string): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot use this base URL for ${name}: it ${problem}`, {
    provider: name,
    details: [{ path: 'base_url', message: problem }],
    ...(hint !== undefined && { hint }),
  })
}

function addressMissing({ definition }: Provider): BrokerError {
  const [address = 'https://<your-server>, or http://localhost:<port>'] = templatesOf(definition)
  return new BrokerError(
    'InvalidRequestError',
    `Cannot log in to ${definition.name} without the URL of your own instance`,
    {
      provider: definition.name,
      details: [{ path: 'base_url', message: 'is required' }],
      hint: `broker login ${definition.name} --base-url ${address}`,
    },
  )
}
