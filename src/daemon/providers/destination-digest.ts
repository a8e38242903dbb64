import { createHash } from 'node:crypto'
import type { AuthType } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { entriesOf } from './injection.ts'

/**
 * SHA-256, in hex, of what says where a credential of this type may go and how: hosts, base URL (the template and the
 * connection's own), fixed headers, and for an API key its places and forms, for tokens theirs and the endpoints that
 * get to see one. The order of names and hosts, and whether a default is written out, do not matter; names,
 * descriptions, patterns, environment variables and the section of the other type are not part of it.
 */
export function destinationDigest(
  definition: ProviderDefinition,
  authType: AuthType,
  connectionBaseUrl?: string,
): string {
  return createHash('sha256')
    .update(canonical(destinationOf(definition, authType, connectionBaseUrl)))
    .digest('hex')
}

function destinationOf(definition: ProviderDefinition, authType: AuthType, connectionBaseUrl: string | undefined) {
  return {
    format: 1,
    auth_type: authType,
    hosts: definition.hosts.toSorted(),
    base_url: definition.base_url,
    connection_base_url: connectionBaseUrl,
    headers: definition.headers,
    ...(authType === 'api_key' ? keyPlaces(definition) : tokenPlaces(definition)),
  }
}

function keyPlaces(definition: ProviderDefinition) {
  const { api_key: apiKey } = definition
  return {
    flow: 'api_key',
    api_key: apiKey && {
      header_name: (apiKey.header_name ?? 'Authorization').toLowerCase(),
      prefix: apiKey.prefix,
      encoding: apiKey.encoding ?? 'none',
      username: apiKey.username,
      password: apiKey.password,
      query_param: apiKey.query_param,
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
      token_auth_method: oauth.token_auth_method,
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
