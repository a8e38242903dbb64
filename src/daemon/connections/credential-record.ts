import { type Actor, Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { type CredentialKind, isClientCredential, isSigningCredential } from '../providers/index.ts'
import type { ConnectionRow } from '../store/index.ts'
import type { RecordRef } from '../vault/index.ts'
import { approvedKind } from './approval.ts'
import type { ConnectionId } from './connection-id.ts'

/** Values by field name. */
export type Fields = Readonly<Record<string, Secret>>

/**
 * What a connection holds. `oauth2`: a grant, with what refreshes and ends it. `api_key`: what was entered is sent.
 * `signing`: a key that signs requests or assertions. `client_credentials`: a client that acts for itself. The login that
 * brings it says which it is.
 */
export type Credential = {
  readonly [Kind in CredentialKind]: { readonly kind: Kind; readonly fields: Fields }
}[CredentialKind]

export function recordOf(actor: Actor, id: ConnectionId): RecordRef {
  return { vaultId: actor.vaultId, kind: 'connection', id: recordId(id) }
}

// Neither name can hold a slash.
export function recordId({ provider, connection }: ConnectionId): string {
  return `${provider}/${connection}`
}

/** Among the fields, so that a daemon from before finds what it looks for. No field can have this name. */
const KIND = '$kind'

export function serialize({ kind, fields }: Credential): Secret {
  return new Secret(JSON.stringify({ [KIND]: kind, ...mapValues(fields, (value) => value.reveal()) }))
}

type Stored = { readonly [KIND]?: CredentialKind } & Readonly<Record<string, string>>

/**
 * Reads what {@link serialize} wrote. A record from before kinds were stored gets its own here; it is stored at the next
 * write.
 * @param definition of today, where there is one
 */
export function parseCredential(
  sealed: Secret,
  row: ConnectionRow,
  definition: ProviderDefinition | undefined,
): Credential {
  const { [KIND]: stored, ...texts } = JSON.parse(sealed.reveal()) as Stored
  const fields = mapValues(texts, (value) => new Secret(value))
  return { kind: stored ?? earlierKind(definition, row, fields), fields }
}

function earlierKind(definition: ProviderDefinition | undefined, row: ConnectionRow, fields: Fields): CredentialKind {
  if (row.flow !== 'api_key') return 'oauth2'
  const bound = definition && approvedKind(definition, row)
  if (bound !== undefined) return bound
  if (definition && isSigningCredential(definition, fields)) return 'signing'
  const isClient = definition ? isClientCredential(definition, fields) : row.auth_type === 'oauth2'
  return isClient ? 'client_credentials' : 'api_key'
}

export function mapValues<In, Out>(entries: Readonly<Record<string, In>>, change: (value: In, name: string) => Out) {
  return Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, change(value, name)]))
}

export function sameText(one: Secret | undefined, other: Secret | undefined): boolean {
  return one?.equals(other) === true
}
