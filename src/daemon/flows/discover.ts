import { BrokerError } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import type { Demand, OAuthServer } from './flows.ts'
import type { Reach } from './guarded-lookup.ts'
import { isOfOnePlace } from './in-turn.ts'
import type { Outbound } from './outbound-request.ts'
import { outsideUrl } from './outside-url.ts'
import { BadAnswer, Unreachable } from './provider-failure.ts'
import { type ResourceMetadata, resourceMetadata } from './resource-metadata.ts'
import { serverMetadata } from './server-metadata.ts'

type Named = NonNullable<ProviderDefinition['oauth']>

/**
 * The server of a provider: what its definition names, completed by what its issuer, or its resource's, says of itself.
 * @throws BadAnswer, Unreachable; BrokerError InvalidRequestError where the tenant's URL is missing
 */
export async function discover(ask: Outbound, definition: ProviderDefinition, baseUrl?: string): Promise<OAuthServer> {
  const named = onTenant(definition, baseUrl)
  const own = endpointsNamed(named)
  const resource = named.resource !== undefined && { resource: named.resource }
  if (named.issuer !== undefined) return { ...(await serverOf(ask, named.issuer, own)), ...own, ...resource }
  if (named.resource === undefined || isComplete(definition, own)) return { ...SAYS_NOTHING, ...own, ...resource }
  return { ...(await serverOfResource(ask, named.resource)), ...own }
}

const SAYS_NOTHING: OAuthServer = { sendsIssuer: false, takesMetadataDocument: false }

async function serverOf(ask: Outbound, issuer: string, own: Endpoints): Promise<OAuthServer> {
  const server = await serverMetadata(ask, issuer, 'private')
  if (server !== undefined) return server
  if (own.tokenUrl !== undefined) return { ...SAYS_NOTHING, issuer }
  throw new BadAnswer(`publishes no metadata at ${new URL(issuer).host}`)
}

/** By the resource's own metadata; without any, at the resource's origin, as MCP had it before. */
async function serverOfResource(ask: Outbound, asked: string): Promise<OAuthServer> {
  const said = await saidBy(ask, asked)
  const server = await firstOf(ask, said)
  const demands: readonly Demand[] = [...(server.demands ?? []), ...(said.bindsTokens ? ['bound_tokens' as const] : [])]
  return {
    ...server,
    resource: said.resource,
    ...(said.scopes && { resourceScopes: said.scopes }),
    ...(demands.length > 0 && { demands }),
  }
}

/** One that cannot say what it is may still be older than the question; if not, that it could not is what is told. */
async function saidBy(ask: Outbound, asked: string): Promise<ResourceMetadata> {
  const older = { resource: asked, issuers: [], bindsTokens: false, reach: 'private' } as const
  let said: ResourceMetadata | undefined
  try {
    said = await resourceMetadata(ask, asked)
  } catch (error) {
    if (!isOfOnePlace(error)) throw error
    const server = await serverMetadata(ask, new URL(asked).origin, 'private').catch(() => undefined)
    if (server === undefined) throw error
  }
  const { issuers, ...rest } = said ?? older
  return { ...rest, issuers: issuers.length > 0 ? issuers : [new URL(asked).origin] }
}

/**
 * The first of the listed servers that can be used; each is asked for itself alone, and nothing of one is mixed with
 * another. What stands for somebody else ends the search.
 */
async function firstOf(ask: Outbound, { issuers, reach }: ResourceMetadata): Promise<OAuthServer> {
  const troubles: unknown[] = []
  for (const issuer of issuers) {
    try {
      return await usableServer(ask, issuer, reach)
    } catch (error) {
      if (!(error instanceof Unusable || error instanceof Unreachable || isOfOnePlace(error))) throw error
      troubles.push(error)
    }
  }
  throw troubles[0]
}

/** One that nothing speaks against but that it cannot be used. */
class Unusable extends BadAnswer {}

async function usableServer(ask: Outbound, issuer: string, reach: Reach): Promise<OAuthServer> {
  if (outsideUrl(issuer) === undefined || /[?#]/.test(issuer))
    throw new Unusable('names an authorization server that may not be asked')
  const server = await serverMetadata(ask, issuer, reach)
  if (server === undefined) throw new Unusable(`publishes no metadata at ${new URL(issuer).host}`)
  // MCP, "Authorization Code Protection": who found it from a resource must not go on otherwise.
  if (!server.challengeMethods?.includes('S256'))
    throw new Unusable('does not say that it protects logins by PKCE with S256')
  return server
}

const ON_TENANT = /^\{base_url\}(?=\/|$)/

/** The definition's endpoints with the tenant's URL in its place. */
function onTenant({ name, oauth = { scopes: [] } }: ProviderDefinition, baseUrl: string | undefined): Named {
  const entries = Object.entries(oauth).map(([member, value]) => {
    if (typeof value !== 'string' || !ON_TENANT.test(value)) return [member, value] as const
    if (baseUrl !== undefined) return [member, value.replace(ON_TENANT, () => baseUrl.replace(/\/+$/, ''))] as const
    throw new BrokerError('InvalidRequestError', `Cannot log in to ${name} without the URL of your own account there`, {
      provider: name,
      hint: `Say where it is: broker login ${name} --base-url <url>`,
    })
  })
  return Object.fromEntries(entries) as unknown as Named
}

const ENDPOINTS = {
  authorizationUrl: 'authorization_url',
  tokenUrl: 'token_url',
  refreshUrl: 'refresh_url',
  deviceAuthorizationUrl: 'device_authorization_url',
  revocationUrl: 'revocation_url',
  registrationUrl: 'registration_url',
  userinfoUrl: 'userinfo_url',
} as const satisfies Partial<Record<keyof OAuthServer, keyof Named>>

type Endpoints = { readonly [Name in keyof typeof ENDPOINTS]?: string }

function endpointsNamed(named: Named): Endpoints {
  return Object.fromEntries(
    Object.entries(ENDPOINTS).flatMap(([name, member]) => {
      const url = outsideUrl(named[member])
      return url === undefined ? [] : [[name, url]]
    }),
  )
}

/** Returns whether the definition leaves nothing to discover from its resource. */
function isComplete({ flow }: ProviderDefinition, own: Endpoints): boolean {
  const begins = own.authorizationUrl ?? own.deviceAuthorizationUrl
  return (
    own.tokenUrl !== undefined && begins !== undefined && (flow !== 'dcr_pkce' || own.registrationUrl !== undefined)
  )
}
