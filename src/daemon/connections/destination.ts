import type { ProviderDefinition } from '../../schemas/index.ts'
import { destinationDigest } from '../providers/index.ts'

// Asked on every request; a definition never changes, it is replaced.
const remembered = new WeakMap<ProviderDefinition, string>()

/** What a connection's credential is bound to: the digest of where it may go, and how. */
export function destinationOf(definition: ProviderDefinition, baseUrl: string | undefined): string {
  if (baseUrl !== undefined) return destinationDigest(definition, baseUrl)
  const known = remembered.get(definition)
  if (known !== undefined) return known
  const digest = destinationDigest(definition)
  remembered.set(definition, digest)
  return digest
}
