import type { Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { type CredentialKind, destinationDigest, isSigningCredential } from '../providers/index.ts'
import type { ConnectionRow } from '../store/index.ts'

// Asked on every request; a definition never changes, it is replaced.
const remembered = {
  api_key: new WeakMap<ProviderDefinition, string>(),
  oauth2: new WeakMap<ProviderDefinition, string>(),
  signing: new WeakMap<ProviderDefinition, string>(),
} as const satisfies Record<CredentialKind, unknown>

/** What a connection's credential is bound to: the digest of where it may go, and how. */
export function destinationOf(
  definition: ProviderDefinition,
  kind: CredentialKind,
  baseUrl: string | undefined,
): string {
  if (baseUrl !== undefined) return destinationDigest(definition, kind, baseUrl)
  const known = remembered[kind].get(definition)
  if (known !== undefined) return known
  const digest = destinationDigest(definition, kind)
  remembered[kind].set(definition, digest)
  return digest
}

/** What a login found, by its fields. */
export function kindOf(
  definition: ProviderDefinition,
  flow: string,
  credential: Readonly<Record<string, Secret>>,
): CredentialKind {
  if (flow !== 'api_key') return 'oauth2'
  return isSigningCredential(definition, credential) ? 'signing' : 'api_key'
}

/**
 * What a connection holds, by what it was bound to at login: of the definition of today too, or undefined. An API key and
 * a key that signs are never bound to the same.
 */
export function approvedKind(definition: ProviderDefinition, row: ConnectionRow): CredentialKind | undefined {
  const kinds: readonly CredentialKind[] =
    row.auth_type === 'oauth2' ? ['oauth2'] : definition.signing ? ['api_key', 'signing'] : ['api_key']
  return kinds.find((kind) => destinationOf(definition, kind, row.base_url ?? undefined) === row.destination)
}
