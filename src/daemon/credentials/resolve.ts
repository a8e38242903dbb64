import type { ResolvedCredential } from '../../injection/index.ts'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { ResolveRequest } from '../../schemas/index.ts'
import {
  type ListedConnections,
  notUsable,
  type ServingConnections,
  type UsableConnection,
} from '../connections/index.ts'
import type { Provider, Providers } from '../providers/index.ts'
import { type CredentialRequest, credentialRequest } from './credential-request.ts'
import type { CredentialSource } from './credential-source.ts'
import { connectionFor } from './granted-use.ts'
import { type Found, isForHost, matchFor } from './match-request.ts'
import { isOrphaned, isOrphanFor, usedOrphans } from './orphans.ts'
import { ownMatch } from './own-server.ts'

export interface ResolveRooms {
  readonly providers: Providers
  readonly connections: ListedConnections & ServingConnections
  readonly source: CredentialSource
}

/** The credential for one request. @throws BrokerError as {@link import('./open-credentials.ts').Credentials.resolve} */
export async function resolveCredential(
  rooms: ResolveRooms,
  actor: Actor,
  asked: ResolveRequest,
): Promise<ResolvedCredential> {
  const request = credentialRequest(asked)
  const chosen = await choose(rooms, actor, request)
  const again = async () => {
    const { provider, used } = chosen
    return servingOnly(provider, await rooms.connections.use(actor, provider, used.connection), request)
  }
  return rooms.source.retrieve({ ...chosen, actor, request, again })
}

/** A connection that serves the request. */
interface Chosen {
  readonly provider: Provider
  /** Of the definition: the one whose form the request has. */
  readonly pattern: Found['pattern']
  readonly used: UsableConnection
}

async function choose(rooms: ResolveRooms, actor: Actor, request: CredentialRequest): Promise<Chosen> {
  const found = await chooseAmong(rooms, actor, request)
  if (!('refusal' in found)) return found
  const own = await chooseOwn(rooms, actor, request)
  if (own) return own
  const { refusal } = found
  // A connection that is not there says enough.
  if (refusal.name !== 'ProviderNotFoundError') throw refusal
  const orphans = await usedOrphans(rooms, actor, await rooms.connections.list(actor))
  const orphan = orphans.find((one) => isOrphanFor(one, request))
  throw orphan ? isOrphaned(orphan.view) : refusal
}

/**
 * A definition of a longer path to which nobody logged in does not take that path from one of the same host to which
 * somebody did; a connection that was chosen by its name stands for no other. Where none serves, the first says why.
 */
async function chooseAmong(
  { providers, connections }: ResolveRooms,
  actor: Actor,
  request: CredentialRequest,
): Promise<Chosen | { readonly refusal: BrokerError }> {
  const passedOver: Found[] = []
  let first: BrokerError | undefined
  for (;;) {
    const match = matchFor(providers, actor, request, passedOver)
    if (match.kind !== 'one') return { refusal: first ?? match.refusal }
    const { provider, pattern } = match
    const named = connectionFor(actor, provider.definition.name, request.connection)
    const used = await connections.find(actor, provider, named, (baseUrl) => isForHost(provider, baseUrl, request))
    if (used && isForHost(provider, used.baseUrl, request)) return { provider, pattern, used }
    first ??= used ? notForHost(used) : notUsable(provider.definition.name, named)
    if (used || named !== undefined) return { refusal: first }
    passedOver.push(match)
  }
}

/** Looks among servers of the user's own for what no definition has. */
async function chooseOwn(
  { providers, connections }: ResolveRooms,
  actor: Actor,
  request: CredentialRequest,
): Promise<Chosen | undefined> {
  const match = ownMatch(providers, actor, await connections.addresses(actor), request)
  if (!match) return undefined
  const { provider, connection, place } = match
  const used = await connections.use(actor, provider, connection.connection)
  return { provider, pattern: place.like, used: servingOnly(provider, used, request) }
}

/** A tenant's credential goes to the host that was given at login, to no other tenant's. */
function servingOnly(provider: Provider, used: UsableConnection, request: CredentialRequest): UsableConnection {
  if (isForHost(provider, used.baseUrl, request)) return used
  throw notForHost(used)
}

function notForHost({ provider, connection }: UsableConnection): BrokerError {
  return new BrokerError('ProviderNotFoundError', `Connection "${connection}" of ${provider} is not for this host`, {
    provider,
    connection,
  })
}
