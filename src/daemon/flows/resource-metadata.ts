import type { Reach } from './address-guard.ts'
import type { Outbound } from './outbound-request.ts'
import { outsideUrl } from './outside-url.ts'
import { BadAnswer } from './provider-failure.ts'
import { documentAt, type PublishedDocument } from './server-metadata.ts'
import { scopesIn } from './token-answer.ts'

/** What a protected resource says of itself (RFC 9728). */
export interface ResourceMetadata {
  /** As it calls itself: what tokens are asked for. */
  readonly resource: string
  /** Its authorization server; absent where it names none. */
  readonly issuer?: string
  readonly scopes?: readonly string[]
  readonly reach: Reach
}

/**
 * Asks a resource for its authorization server: by its 401, then at the well-known places. Undefined where it publishes
 * nothing, as those do that are older than RFC 9728.
 * @throws BadAnswer where what is published is of another resource; Unreachable
 */
export async function resourceMetadata(ask: Outbound, resource: string): Promise<ResourceMetadata | undefined> {
  const challenge = await challengeOf(ask, resource)
  for (const { url, reach, stands } of placesOf(resource, challenge)) {
    const published = await documentAt(ask, url, reach)
    if (published !== undefined) return metadataIn(published, [resource, stands], challenge.scopes)
  }
  return undefined
}

interface Challenge {
  readonly metadataUrl?: string
  readonly scopes?: readonly string[]
  readonly reach: Reach
}

async function challengeOf(ask: Outbound, resource: string): Promise<Challenge> {
  const headers = { accept: 'application/json, text/event-stream' }
  const { response, from } = await ask({ method: 'GET', url: resource, headers, reach: 'private', wants: 'head' })
  const header = response.status === 401 ? (response.headers.get('www-authenticate') ?? '') : ''
  const metadataUrl = outsideUrl(parameterIn(header, 'resource_metadata'))
  const scope = parameterIn(header, 'scope')
  return {
    ...(metadataUrl !== undefined && { metadataUrl }),
    ...(scope !== undefined && { scopes: scopesIn(scope) }),
    reach: from === 'private' ? 'private' : 'public',
  }
}

/** A parameter of a challenge, quoted as it must be or bare as some send it. */
function parameterIn(header: string, name: string): string | undefined {
  const [, quoted, bare] = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"([^"]*)"|([^\\s,"]+))`, 'i').exec(header) ?? []
  return quoted ?? bare
}

interface Place {
  readonly url: string
  readonly reach: Reach
  /** The resource that a document in this place is about (RFC 9728, section 3.3). */
  readonly stands: string
}

function placesOf(resource: string, { metadataUrl, reach }: Challenge): readonly Place[] {
  const { origin, pathname, search } = new URL(resource)
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`
  const inserted = `${wellKnown}${pathname === '/' ? '' : pathname}${search}`
  const urls = new Set([...(metadataUrl === undefined ? [] : [metadataUrl]), inserted, wellKnown])
  return [...urls].map((url) => ({ url, reach, stands: url === wellKnown ? origin : resource }))
}

function metadataIn(
  { document, reach }: PublishedDocument,
  resources: readonly string[],
  asked: readonly string[] | undefined,
): ResourceMetadata {
  const { resource, authorization_servers: servers, scopes_supported: supported } = document
  if (typeof resource !== 'string' || !resources.some((each) => isSame(each, resource)) || !outsideUrl(resource))
    throw new BadAnswer('publishes the metadata of another resource')
  const issuer: unknown = Array.isArray(servers) ? servers[0] : undefined
  const scopes = asked ?? (Array.isArray(supported) ? scopesIn(supported) : undefined)
  return {
    resource,
    ...(typeof issuer === 'string' && { issuer }),
    ...(scopes !== undefined && { scopes }),
    reach,
  }
}

/** As URLs, but for one slash at the end. */
function isSame(one: string, other: string): boolean {
  const bare = (text: string) => URL.parse(text)?.href.replace(/\/$/, '')
  return bare(one) !== undefined && bare(one) === bare(other)
}
