import type { HostPattern } from '../../network/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import {
  type CredentialKind,
  type DestinationDifference,
  destinationText,
  differenceOf,
  digestOf,
  earlierDestination,
  hasSection,
  hostsOfDestination,
  isSameDestination,
} from '../providers/index.ts'
import type { ConnectionRow } from '../store/index.ts'
import { destinationOf } from './destination.ts'

// Asked on every request; a definition never changes, it is replaced.
const remembered = new WeakMap<ProviderDefinition, Map<string, CredentialKind | undefined>>()

/**
 * Returns what a connection holds, where the definition of today sends it to the same places, in the same form, as the one that
 * it was bound by; undefined where that needs approval. An API key and a key that signs are never bound to the same.
 */
export function approvedKind(definition: ProviderDefinition, row: ConnectionRow): CredentialKind | undefined {
  const kinds = kindsOf(definition, row)
  const baseUrl = row.base_url ?? undefined
  const bound = kinds.find((kind) => destinationOf(definition, kind, baseUrl) === row.destination)
  if (bound !== undefined) return bound
  const known = remembered.get(definition) ?? new Map<string, CredentialKind | undefined>()
  remembered.set(definition, known)
  const key = `${row.destination} ${row.base_url}`
  if (!known.has(key))
    known.set(
      key,
      kinds.find((kind) => goesToTheSame(definition, kind, row)),
    )
  return known.get(key)
}

/** Returns whether the definition of today takes nothing like what the connection holds: then no approval helps, but a login. */
export function isTakenNoMore(definition: ProviderDefinition, row: ConnectionRow): boolean {
  return kindsOf(definition, row).every((kind) =>
    kind === 'oauth2' ? definition.oauth === undefined : !hasSection(definition, kind),
  )
}

function kindsOf(definition: ProviderDefinition, { auth_type, flow }: ConnectionRow): readonly CredentialKind[] {
  if (auth_type === 'oauth2') return [flow === 'api_key' ? 'client_credentials' : 'oauth2']
  return definition.signing ? ['api_key', 'signing'] : ['api_key']
}

function goesToTheSame(definition: ProviderDefinition, kind: CredentialKind, row: ConnectionRow): boolean {
  const before = allowedFor(kind, row)
  return before !== undefined && isSameDestination(differenceOf(before, textOf(definition, kind, row)))
}

export interface ApprovalDifference extends DestinationDifference {
  /** Of what would be allowed then. */
  readonly version: string
}

/** Returns what would change if the credential were bound by the definition of today. */
export function differenceFor(definition: ProviderDefinition, row: ConnectionRow): ApprovalDifference {
  const kinds = kindsOf(definition, row)
  const known = kinds.find((kind) => allowedFor(kind, row) !== undefined)
  const kind = known ?? kinds[0] ?? 'api_key'
  const text = textOf(definition, kind, row)
  return { ...differenceOf(allowedFor(kind, row), text), version: digestOf(text) }
}

function textOf(definition: ProviderDefinition, kind: CredentialKind, { base_url }: ConnectionRow): string {
  return destinationText(definition, kind, base_url ?? undefined)
}

/** Returns what the credential was bound to. The record is bound to the digest: another text fits no record. */
function allowedFor(kind: CredentialKind, row: ConnectionRow): string | undefined {
  const { provider, allowed, destination: digest, base_url } = row
  if (allowed !== null && digestOf(allowed) === digest) {
    return (JSON.parse(allowed) as { auth_type?: string }).auth_type === kind ? allowed : undefined
  }
  return earlierDestination(provider, kind, { digest, baseUrl: base_url ?? undefined })
}

/** The hosts that the credential was bound to, whether or not there is a definition any more; none where nobody knows. */
export function allowedHosts(row: ConnectionRow): readonly HostPattern[] {
  const kinds: readonly CredentialKind[] =
    row.auth_type === 'oauth2' ? ['oauth2', 'client_credentials'] : ['api_key', 'signing']
  const texts = kinds.flatMap((kind) => allowedFor(kind, row) ?? [])
  return texts.slice(0, 1).flatMap(hostsOfDestination)
}
