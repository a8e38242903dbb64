import type { ResolvedCredential } from '../../injection/index.ts'
import { matchesAuthority } from '../../network/index.ts'
import { type Actor, BrokerError, type ErrorName } from '../../protocol/index.ts'
import type { ResolveRequest } from '../../schemas/index.ts'
import type { Connections, UsableConnection } from '../connections/index.ts'
import {
  credentialHosts,
  type Match,
  ownPlaceFor,
  type Provider,
  type Providers,
  type Target,
} from '../providers/index.ts'
import { type CredentialRequest, credentialRequest } from './credential-request.ts'
import { connectionFor, mayInject } from './granted-use.ts'
import { issuedResolution } from './issued-resolution.ts'
import type { Refresher } from './open-refresher.ts'
import { isOrphaned, isOrphanFor, usedOrphans } from './orphans.ts'
import { ownMatch, ownPlacesOf } from './own-server.ts'
import { resolutionOf } from './resolution.ts'
import { signedResolution } from './signed-resolution.ts'
import type { TokenIssuer } from './token-issuer.ts'
import { useFresh } from './use-fresh.ts'

export interface CredentialsOptions {
  readonly providers: Providers
  readonly connections: Connections
  readonly refresher: Refresher
  readonly issuer: TokenIssuer
  readonly now?: () => number
}

/** What a request matches. */
export type Found = Extract<Match, { kind: 'one' }>

/**
 * The credential for one request, opened for it alone, and refreshed before where it has ended.
 * @throws BrokerError ProviderNotFoundError where no provider, or more than one, matches; ConnectionNotFoundError,
 *   OperationNotAllowedError, CredentialMissingError, TokenExpiredError, RefreshFailedError as the connection says
 */
export async function resolveCredential(
  credentials: CredentialsOptions,
  actor: Actor,
  asked: ResolveRequest,
): Promise<ResolvedCredential> {
  const request = credentialRequest(asked)
  try {
    return await resolveAmong(credentials, actor, request, [])
  } catch (error) {
    const isElsewhere = hasName(error, 'ProviderNotFoundError') || hasName(error, 'ConnectionNotFoundError')
    const own = isElsewhere ? await resolveOwn(credentials, actor, request) : undefined
    if (own) return own
    if (!hasName(error, 'ProviderNotFoundError')) throw error
    const orphans = await usedOrphans(credentials, actor, await credentials.connections.list(actor))
    const orphan = orphans.find((one) => isOrphanFor(one, request))
    throw orphan ? isOrphaned(orphan.view) : error
  }
}

/** What no definition has may be on a server of the user's own. */
async function resolveOwn(
  credentials: CredentialsOptions,
  actor: Actor,
  request: CredentialRequest,
): Promise<ResolvedCredential | undefined> {
  const { providers, connections } = credentials
  const match = ownMatch(providers, actor, await connections.addresses(actor), request)
  if (!match) return undefined
  const { provider, connection, place } = match
  return resolveAt(credentials, actor, request, { provider, pattern: place.like, connection: connection.connection })
}

/**
 * A definition of a longer path to which nobody logged in does not take that path from one of the same host to which
 * somebody did; a connection that was chosen by its name stands for no other.
 */
async function resolveAmong(
  credentials: CredentialsOptions,
  actor: Actor,
  request: CredentialRequest,
  unconnected: readonly Found[],
): Promise<ResolvedCredential> {
  const match = matchFor(credentials.providers, actor, request, unconnected)
  const { name } = match.provider.definition
  try {
    return await resolveMatch(credentials, actor, request, match)
  } catch (error) {
    const wasChosen = connectionFor(actor, name, request.connection) !== undefined
    if (wasChosen || !hasName(error, 'ConnectionNotFoundError')) throw error
    return resolveAmong(credentials, actor, request, [...unconnected, match]).catch((next) => {
      throw hasName(next, 'ProviderNotFoundError') || hasName(next, 'ConnectionNotFoundError') ? error : next
    })
  }
}

function hasName(error: unknown, name: ErrorName): boolean {
  return error instanceof BrokerError && error.name === name
}

async function resolveMatch(
  credentials: CredentialsOptions,
  actor: Actor,
  request: CredentialRequest,
  { provider, pattern }: Found,
): Promise<ResolvedCredential> {
  const connection = connectionFor(actor, provider.definition.name, request.connection)
  return resolveAt(credentials, actor, request, { provider, pattern, connection })
}

interface At {
  readonly provider: Provider
  /** Of the definition: the one whose form the request has. */
  readonly pattern: Found['pattern']
  readonly connection: string | undefined
}

async function resolveAt(
  credentials: CredentialsOptions,
  actor: Actor,
  request: CredentialRequest,
  { provider, pattern, connection }: At,
): Promise<ResolvedCredential> {
  const used = await useFresh(credentials, actor, provider, {
    connection,
    rejectedVersion: request.rejected_version,
    serves: (baseUrl) => isForHost(provider, baseUrl, request),
  })
  requireDestination(provider, used, request)
  const { kind } = used.credential
  if (kind === 'signing' && provider.definition.signing?.type === 'aws_sigv4') {
    return signedResolution({ used, request }, (credentials.now ?? Date.now)())
  }
  if (kind === 'signing' || kind === 'client_credentials') {
    const rejectedVersion = request.rejected_version
    return issuedResolution(credentials.issuer, { actor, provider, pattern, used, rejectedVersion })
  }
  const { version, refreshable, credential, ...carried } = used
  return resolutionOf(
    provider,
    { ...carried, credential: credential.fields, authType: kind, ...(refreshable && { version }) },
    pattern,
  )
}

/** @throws BrokerError ProviderNotFoundError where no provider, or more than one, matches */
export function matchFor(
  providers: Providers,
  actor: Actor,
  request: CredentialRequest,
  passedOver: readonly Found[],
): Found {
  const { provider: wanted } = request
  const match = providers.match(
    request,
    ({ definition: { name } }) =>
      mayInject(actor, name) && (wanted === undefined || name === wanted) && !isAmong(passedOver, name),
  )
  const mayStandIn = match.kind === 'one' && passedOver.every((better) => standsInFor(better, match))
  if (mayStandIn) return match
  if (match.kind !== 'tie') throw noProvider(request)
  const names = match.providers.map(({ definition }) => definition.name).join(', ')
  throw new BrokerError('ProviderNotFoundError', `More than one provider matches this request equally: ${names}`, {
    hint: 'Name the one to use, or remove the other: broker provider remove <provider>',
  })
}

/** On the same host, but not with the token of another resource where somebody here told the two apart. */
function standsInFor(better: Found, { provider, pattern }: Found): boolean {
  const [resource, instead] = [better.provider, provider].map(({ definition }) => definition.oauth?.resource)
  const isToldApart = better.provider.source === 'custom' && resource !== undefined && instead !== undefined
  return better.pattern.host === pattern.host && !(isToldApart && resource !== instead)
}

function isAmong(found: readonly Found[], name: string): boolean {
  return found.some(({ provider }) => provider.definition.name === name)
}

function noProvider({ provider }: CredentialRequest): BrokerError {
  return provider === undefined
    ? new BrokerError('ProviderNotFoundError', 'No provider matches this request')
    : new BrokerError('ProviderNotFoundError', `The provider "${provider}" does not match this request`, { provider })
}

/** Whether a connection with this address is for the host of the request. */
export function isForHost(provider: Provider, baseUrl: string | undefined, target: Target): boolean {
  const own = ownPlacesOf(provider, baseUrl)
  if (own.length > 0) return ownPlaceFor(own, target) !== undefined
  const allowed = credentialHosts(provider.definition, baseUrl)
  return allowed.some((pattern) => matchesAuthority(pattern, target))
}

/** A tenant's credential goes to the host that was given at login, to no other tenant's. */
function requireDestination(provider: Provider, used: UsableConnection, request: CredentialRequest): void {
  if (isForHost(provider, used.baseUrl, request)) return
  throw new BrokerError(
    'ProviderNotFoundError',
    `Connection "${used.connection}" of ${used.provider} is not for this host`,
    {
      provider: used.provider,
      connection: used.connection,
    },
  )
}
