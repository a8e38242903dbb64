import { createHash } from 'node:crypto'
import type { ProviderDefinition } from '../../schemas/index.ts'

/**
 * SHA-256, in hex, of what says where a credential may go and how: hosts, base URL (the template and the connection's
 * own), places and forms of injection, fixed headers, OAuth endpoints, flow. The order of names and hosts, and whether a
 * default is written out, do not matter; names, descriptions, patterns and environment variables are not part of it.
 */
export function destinationDigest(definition: ProviderDefinition, connectionBaseUrl?: string): string {
  return createHash('sha256')
    .update(canonical(destinationOf(definition, connectionBaseUrl)))
    .digest('hex')
}

function destinationOf(definition: ProviderDefinition, connectionBaseUrl: string | undefined): unknown {
  const { api_key: apiKey, oauth } = definition
  return {
    format: 1,
    auth_type: definition.auth_type,
    flow: definition.flow,
    hosts: definition.hosts.toSorted(),
    base_url: definition.base_url,
    connection_base_url: connectionBaseUrl,
    api_key: apiKey && {
      header_name: (apiKey.header_name ?? 'Authorization').toLowerCase(),
      prefix: apiKey.prefix,
      encoding: apiKey.encoding ?? 'none',
      username: apiKey.username,
      query_param: apiKey.query_param,
    },
    oauth: oauth && {
      ...oauth,
      header_name: (oauth.header_name ?? 'Authorization').toLowerCase(),
      prefix: oauth.prefix ?? 'Bearer',
      // What is asked for is not where it goes.
      scopes: undefined,
      scope_separator: undefined,
    },
    headers: definition.headers,
    injections: (definition.injections ?? []).map(canonical).toSorted(),
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
