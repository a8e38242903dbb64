import { createHash } from 'node:crypto'
import type { AuthType } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { isOwnServer } from './base-url.ts'
import { grantsToClients } from './client-credentials.ts'
import { entriesOf, keyForm } from './injection.ts'

/** What a stored credential can be, as far as it decides where it goes. The last two came by the flow `api_key`. */
export type CredentialKind = AuthType | 'signing' | 'client_credentials'

/**
 * SHA-256, in hex, of what says where a credential of this type may go and how: hosts, base URL (the template and the
 * connection's own), fixed headers, and for an API key its places and forms, for tokens theirs and the endpoints that
 * get to see one, for a key that signs what it signs for and where the tokens go that it gets, for a client the same of its
 * tokens and the endpoints that get to see its secret. The order of names and hosts, and whether a default is written out, do not matter; names,
 * descriptions, patterns, environment variables and the sections of the other kinds are not part of it.
 */
export function destinationDigest(
  definition: ProviderDefinition,
  kind: CredentialKind,
  connectionBaseUrl?: string,
): string {
  return digestOf(destinationText(definition, kind, connectionBaseUrl))
}

/** Returns what {@link destinationDigest} is the digest of: JSON, to be kept where a later definition is held against it. */
export function destinationText(
  definition: ProviderDefinition,
  kind: CredentialKind,
  connectionBaseUrl?: string,
): string {
  return canonical(destinationOf(definition, kind, connectionBaseUrl))
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The same destination for a connection with an address of its own. */
export function withBaseUrl(destination: object, connectionBaseUrl: string | undefined): string {
  return canonical({ ...destination, connection_base_url: connectionBaseUrl })
}

function destinationOf(definition: ProviderDefinition, kind: CredentialKind, connectionBaseUrl: string | undefined) {
  return {
    format: 1,
    auth_type: kind,
    hosts: definition.hosts.toSorted(),
    base_url: Array.isArray(definition.base_url) ? definition.base_url.toSorted() : definition.base_url,
    tenant_hosts: definition.tenant_hosts?.toSorted(),
    ...(connectionBaseUrl !== undefined &&
      isOwnServer(definition, connectionBaseUrl) && { self_hosted: definition.self_hosted?.toSorted(byPath) }),
    connection_base_url: connectionBaseUrl,
    headers: definition.headers,
    ...placesOf[kind](definition),
  }
}

function byPath(
  { path: a = '' }: { path?: string | undefined },
  { path: b = '' }: { path?: string | undefined },
): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const placesOf: Readonly<Record<CredentialKind, (definition: ProviderDefinition) => object>> = {
  api_key: keyPlaces,
  oauth2: tokenPlaces,
  signing: signingPlaces,
  client_credentials: clientPlaces,
}

function signingPlaces(definition: ProviderDefinition) {
  const { signing, oauth } = definition
  if (signing?.type === 'aws_sigv4') return { signing }
  return {
    signing: signing && { ...signing, ...('scopes' in signing && { scopes: signing.scopes.toSorted() }) },
    header_name: (oauth?.header_name ?? 'Authorization').toLowerCase(),
    prefix: oauth?.prefix ?? 'Bearer',
    injections: furtherPlaces(definition, 'oauth2'),
  }
}

function clientPlaces(definition: ProviderDefinition) {
  const { oauth } = definition
  const further = furtherPlaces(definition, 'oauth2')
  if (oauth === undefined || !grantsToClients(definition)) return {}
  return {
    ...(further.length > 0 && { injections: further }),
    oauth: {
      header_name: (oauth.header_name ?? 'Authorization').toLowerCase(),
      prefix: oauth.prefix ?? 'Bearer',
      issuer: oauth.issuer,
      token_url: oauth.client_token_url ?? oauth.token_url,
      revocation_url: oauth.revocation_url,
      resource: oauth.resource,
    },
  }
}

function keyPlaces(definition: ProviderDefinition) {
  const apiKey = keyForm(definition)
  return {
    flow: 'api_key',
    api_key: apiKey && {
      header_name: (apiKey.header_name ?? 'Authorization').toLowerCase(),
      prefix: apiKey.prefix,
      encoding: apiKey.encoding ?? 'none',
      username: apiKey.username,
      password: apiKey.password,
      query_param: apiKey.query_param,
      value: apiKey.value,
    },
    injections: furtherPlaces(definition, 'api_key'),
  }
}

function furtherPlaces(definition: ProviderDefinition, authType: AuthType): readonly string[] {
  return entriesOf(definition, authType)
    .map((entry) => canonical({ ...entry, hosts: entry.hosts?.toSorted() }))
    .toSorted()
}

function tokenPlaces(definition: ProviderDefinition) {
  const { oauth } = definition
  const further = furtherPlaces(definition, 'oauth2')
  return {
    ...(further.length > 0 && { injections: further }),
    oauth: oauth && {
      header_name: (oauth.header_name ?? 'Authorization').toLowerCase(),
      prefix: oauth.prefix ?? 'Bearer',
      issuer: oauth.issuer,
      token_url: oauth.token_url,
      refresh_url: oauth.refresh_url,
      device_authorization_url: oauth.device_authorization_url,
      registration_url: oauth.registration_url,
      revocation_url: oauth.revocation_url,
      userinfo_url: oauth.userinfo_url,
      resource: oauth.resource,
      // How a client shows itself for its own tokens is no login's concern.
      token_auth_method: oauth.token_auth_method === 'private_key_jwt' ? undefined : oauth.token_auth_method,
    },
  }
}

/** JSON with the names of each object in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
