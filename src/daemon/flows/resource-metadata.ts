import { CLIENT_NAME } from './client-metadata-document.ts'
import type { Reach } from './guarded-lookup.ts'
import { firstInTurn, isOfOnePlace, LATE, withinPatience } from './in-turn.ts'
import type { Answer, Outbound, OutboundRequest } from './outbound-request.ts'
import { outsideUrl } from './outside-url.ts'
import { BadAnswer } from './provider-failure.ts'
import { documentAt, type PublishedDocument } from './server-metadata.ts'
import { scopesIn } from './token-answer.ts'

/** What a protected resource says of itself (RFC 9728). */
export interface ResourceMetadata {
  /** As it calls itself: what tokens are asked for. */
  readonly resource: string
  /** Its authorization servers, as it lists them; none where it names none. */
  readonly issuers: readonly string[]
  readonly scopes?: readonly string[]
  /** It takes only tokens that are bound to a key (RFC 9449). */
  readonly bindsTokens: boolean
  readonly reach: Reach
}

/**
 * Asks a resource for its authorization servers: by its 401, then at the well-known places. Undefined where it publishes
 * nothing, as those do that are older than RFC 9728.
 * @throws BadAnswer where what is published is of another resource; Unreachable
 */
export async function resourceMetadata(ask: Outbound, resource: string): Promise<ResourceMetadata | undefined> {
  const challenge = await challengeOf(ask, resource)
  return firstInTurn(
    locationsOf(resource, challenge).map(({ url, reach, stands }) => async () => {
      const published = await documentAt(ask, url, reach)
      return published && metadataIn(published, [resource, stands], challenge.scopes)
    }),
  )
}

interface Challenge {
  readonly metadataUrl?: string
  readonly scopes?: readonly string[]
  readonly reach: Reach
}

/** Of a server that is asked by GET, as the web is, and by POST, the only way that many MCP servers know. */
async function challengeOf(ask: Outbound, resource: string): Promise<Challenge> {
  const byGet = await challengeIn(ask, { method: 'GET', url: resource, headers: { accept: ACCEPT } })
  if (byGet?.metadataUrl !== undefined) return byGet
  const headers = { accept: ACCEPT, 'content-type': 'application/json' }
  const byPost = await challengeIn(ask, { method: 'POST', url: resource, headers, body: INITIALIZE })
  const isPublic = [byGet, byPost].some((challenge) => challenge?.reach === 'public')
  return { ...byGet, ...byPost, reach: isPublic ? 'public' : 'private' }
}

const ACCEPT = 'application/json, text/event-stream'

/** The first message of every MCP client; without a token it asks for nothing but to be let in. */
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: CLIENT_NAME, version: '1' },
  },
})

/** Undefined where it does not answer, or not in time: a stream may be silent until it has something to say. */
async function challengeIn(
  ask: Outbound,
  question: Pick<OutboundRequest, 'method' | 'url' | 'headers' | 'body'>,
): Promise<Challenge | undefined> {
  try {
    const answer = await withinPatience(ask({ ...question, reach: 'private', wants: 'head' }))
    return answer === LATE ? undefined : challengeOfAnswer(answer)
  } catch (error) {
    if (isOfOnePlace(error)) return undefined
    throw error
  }
}

function challengeOfAnswer({ response, from }: Answer): Challenge {
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

interface MetadataLocation {
  readonly url: string
  readonly reach: Reach
  /** The resource that a document in this place is about (RFC 9728, section 3.3). */
  readonly stands: string
}

function locationsOf(resource: string, { metadataUrl, reach }: Challenge): readonly MetadataLocation[] {
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
  const listed: readonly unknown[] = Array.isArray(servers) ? servers : []
  const scopes = asked ?? (Array.isArray(supported) ? scopesIn(supported) : undefined)
  return {
    resource,
    issuers: listed.filter((issuer) => typeof issuer === 'string').slice(0, MOST_SERVERS),
    ...(scopes !== undefined && { scopes }),
    bindsTokens: document['dpop_bound_access_tokens_required'] === true,
    reach,
  }
}

/** Of a longer list the rest is not asked: somebody waits. */
const MOST_SERVERS = 3

/** As URLs, but for one slash at the end. */
function isSame(one: string, other: string): boolean {
  const bare = (text: string) => URL.parse(text)?.href.replace(/\/$/, '')
  return bare(one) !== undefined && bare(one) === bare(other)
}
