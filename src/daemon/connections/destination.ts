import type { ProviderDefinition } from '../../schemas/index.ts'
import { type CredentialKind, destinationDigest, destinationText } from '../providers/index.ts'

// Asked on every request; a definition never changes, it is replaced.
const remembered = {
  api_key: new WeakMap<ProviderDefinition, string>(),
  oauth2: new WeakMap<ProviderDefinition, string>(),
  signing: new WeakMap<ProviderDefinition, string>(),
  client_credentials: new WeakMap<ProviderDefinition, string>(),
} as const satisfies Record<CredentialKind, unknown>

/** Returns what a connection's credential is bound to: the digest of where it may go, and how. */
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

/** The columns of a row that say where its credential may go. */
export function boundTo(definition: ProviderDefinition, kind: CredentialKind, baseUrl: string | undefined) {
  return {
    destination: destinationOf(definition, kind, baseUrl),
    allowed: destinationText(definition, kind, baseUrl),
  }
}
