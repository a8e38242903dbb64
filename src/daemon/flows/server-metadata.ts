import { parseStrictJson } from '../../protocol/index.ts'
import type { Demand, OAuthServer } from './flows.ts'
import type { Reach } from './guarded-lookup.ts'
import { firstInTurn } from './in-turn.ts'
import type { Outbound } from './outbound-request.ts'
import { outsideUrl } from './outside-url.ts'
import { BadAnswer, headOf, isForLater } from './provider-failure.ts'
import { isObject, type JsonObject, scopesIn } from './token-answer.ts'

/** A document that a server publishes of itself. */
export interface PublishedDocument {
  readonly document: JsonObject
  /** What the document names may be where the document is. */
  readonly reach: Reach
}

/** The JSON object at a URL; undefined where there is none. @throws Unreachable, BadAnswer for trouble that passes */
export async function documentAt(ask: Outbound, url: string, reach: Reach): Promise<PublishedDocument | undefined> {
  const { response, from } = await ask({ method: 'GET', url, reach })
  if (isForLater(response.status)) throw new BadAnswer(`answered with status ${response.status}`, headOf(response))
  // Redirects are not followed: who answers for a server is at its own address.
  const document = response.status === 200 ? parsed(await response.text()) : undefined
  return isObject(document) ? { document, reach: from === 'private' ? 'private' : 'public' } : undefined
}

/** Some answer any path with a page of theirs: no JSON means no document. */
function parsed(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    return undefined
  }
}

/**
 * Returns what an authorization server says of itself: RFC 8414, then OpenID Connect Discovery in its newer and its older place,
 * then where only some have it. Undefined where it publishes nothing.
 * @throws BadAnswer where what is published there is of another issuer; Unreachable
 */
export async function serverMetadata(ask: Outbound, issuer: string, reach: Reach): Promise<OAuthServer | undefined> {
  return firstInTurn(
    locationsOf(issuer).map(({ url, isItsOwn }) => async () => {
      const published = await documentAt(ask, url, reach)
      if (published === undefined || !isMetadata(published.document)) return undefined
      if (isSameIssuer(published.document['issuer'], issuer)) return serverIn(published)
      if (isItsOwn) throw new BadAnswer('publishes the metadata of another issuer')
      return undefined
    }),
  )
}

interface MetadataLocation {
  readonly url: string
  /** Nobody else's metadata may be there; at the root of an origin may be those of its other issuers. */
  readonly isItsOwn: boolean
}

function locationsOf(issuer: string): readonly MetadataLocation[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const own = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}${path}/.well-known/oauth-authorization-server`,
  ]
  const roots = path === '' ? [] : [`${origin}/.well-known/oauth-authorization-server`]
  return [
    ...[...new Set(own)].map((url) => ({ url, isItsOwn: true })),
    ...roots.map((url) => ({ url, isItsOwn: false })),
  ]
}

/** Some answer any path with an object of theirs, as "not found" with status 200. */
function isMetadata(document: JsonObject): boolean {
  return document['issuer'] !== undefined || Object.values(ENDPOINTS).some((name) => document[name] !== undefined)
}

/** Byte by byte, but for the slash of an empty path: with it and without it, the metadata is in the same place. */
function isSameIssuer(issuer: unknown, asked: string): boolean {
  if (issuer === asked) return true
  const { origin } = new URL(asked)
  const spellings = [origin, `${origin}/`]
  return typeof issuer === 'string' && spellings.includes(issuer) && spellings.includes(asked)
}

/** Endpoints that may not be asked are left out: a login that needs one fails for want of it. */
function serverIn({ document, reach }: PublishedDocument): OAuthServer {
  const clientAuth = namesIn(document['token_endpoint_auth_methods_supported'])
  const grantTypes = namesIn(document['grant_types_supported'])
  const challengeMethods = namesIn(document['code_challenge_methods_supported'])
  const scopesSupported = namesIn(document['scopes_supported'])
  const demands = DEMANDS.flatMap(([member, demand]) => (document[member] === true ? [demand] : []))
  return {
    issuer: String(document['issuer']),
    ...endpointsIn(document),
    sendsIssuer: document['authorization_response_iss_parameter_supported'] === true,
    takesMetadataDocument: document['client_id_metadata_document_supported'] === true,
    ...(clientAuth && { clientAuth }),
    ...(grantTypes && { grantTypes }),
    ...(challengeMethods && { challengeMethods }),
    ...(scopesSupported && { scopesSupported }),
    ...(demands.length > 0 && { demands }),
    ...(reach === 'private' && { isPrivate: true }),
  }
}

/** RFC 9126, section 5; RFC 9101, section 10.5. */
const DEMANDS = [
  ['require_pushed_authorization_requests', 'pushed_requests'],
  ['require_signed_request_object', 'signed_requests'],
] as const satisfies readonly (readonly [string, Demand])[]

const ENDPOINTS = {
  authorizationUrl: 'authorization_endpoint',
  tokenUrl: 'token_endpoint',
  deviceAuthorizationUrl: 'device_authorization_endpoint',
  revocationUrl: 'revocation_endpoint',
  registrationUrl: 'registration_endpoint',
  userinfoUrl: 'userinfo_endpoint',
} as const satisfies Partial<Record<keyof OAuthServer, string>>

type Endpoints = { readonly [Name in keyof typeof ENDPOINTS]?: string }

function endpointsIn(document: JsonObject): Endpoints {
  return Object.fromEntries(
    Object.entries(ENDPOINTS).flatMap(([name, member]) => {
      const url = outsideUrl(document[member])
      return url === undefined ? [] : [[name, url]]
    }),
  )
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? scopesIn(value) : undefined
}
