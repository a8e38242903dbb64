import type { AuthType } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { destinationDigest } from '../providers/index.ts'

// Asked on every request; a definition never changes, it is replaced.
const remembered = {
  api_key: new WeakMap<ProviderDefinition, string>(),
  oauth2: new WeakMap<ProviderDefinition, string>(),
} as const satisfies Record<AuthType, unknown>

/** What a connection's credential is bound to: the digest of where it may go, and how. */
export function destinationOf(definition: ProviderDefinition, authType: AuthType, baseUrl: string | undefined): string {
  if (baseUrl !== undefined) return destinationDigest(definition, authType, baseUrl)
  const known = remembered[authType].get(definition)
  if (known !== undefined) return known
  const digest = destinationDigest(definition, authType)
  remembered[authType].set(definition, digest)
  return digest
}
