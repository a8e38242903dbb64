import { BrokerError } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import type { OAuthServer } from './flows.ts'
import type { Outbound } from './outbound-request.ts'
import { outsideUrl } from './outside-url.ts'
import { BadAnswer } from './provider-failure.ts'
import { resourceMetadata } from './resource-metadata.ts'
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
  const said = await resourceMetadata(ask, asked)
  const issuer = said?.issuer ?? new URL(asked).origin
  const reach = said?.reach ?? 'private'
  if (outsideUrl(issuer) === undefined || /[?#]/.test(issuer))
    throw new BadAnswer('names an authorization server that may not be asked')
  const server = await serverMetadata(ask, issuer, reach)
  if (server === undefined) throw new BadAnswer(`publishes no metadata at ${new URL(issuer).host}`)
  // MCP, "Authorization Code Protection": who found it from a resource must not go on otherwise.
  if (!server.challengeMethods?.includes('S256'))
    throw new BadAnswer('does not say that it protects logins by PKCE with S256')
  return { ...server, resource: said?.resource ?? asked, ...(said?.scopes && { resourceScopes: said.scopes }) }
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

/** Whether the definition leaves nothing to discover from its resource. */
function isComplete({ flow }: ProviderDefinition, own: Endpoints): boolean {
  const begins = own.authorizationUrl ?? own.deviceAuthorizationUrl
  return (
    own.tokenUrl !== undefined && begins !== undefined && (flow !== 'dcr_pkce' || own.registrationUrl !== undefined)
  )
}
