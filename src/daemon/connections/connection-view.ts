import type { AuthType, FlowName } from '../../protocol/index.ts'
import type { Connection, ProviderDefinition } from '../../schemas/index.ts'
import { credentialFields, type KeySection } from '../providers/index.ts'
import type { ConnectionRow } from '../store/index.ts'
import { approvedKind, isTakenNoMore } from './approval.ts'
import { type AttentionOptions, attentionFor, type FailingRefresh } from './attention.ts'
import type { ConnectionId } from './connection-id.ts'
import { type Credential, mapValues } from './credential-record.ts'
import { dueAtOf, usableUntil } from './freshness.ts'
import { timeOf, tokenStatus } from './token-status.ts'

/** A connection as one request uses it. */
export interface UsableConnection extends ConnectionId, OpenedCredential {
  readonly baseUrl?: string
  /** Of the access token, milliseconds since 1970; absent where the provider does not say, and for an API key. */
  readonly expiresAt?: number
  /** What its tokens are asked for with. */
  readonly scopes: readonly string[]
  /** Whether there is a refresh token. */
  readonly refreshable: boolean
  /** From when on it should be refreshed, and until when it can be used before that is done. */
  readonly refresh?: { readonly dueAt: number; readonly usableUntil: number }
}

export interface OpenedCredential {
  readonly credential: Credential
  /** Of the credential: another one has another. */
  readonly version: number
}

export function usableConnection(row: ConnectionRow, opened: OpenedCredential, now: number): UsableConnection {
  const expiresAt = timeOf(row.expires_at)
  const dueAt = dueAtOf(row, now)
  return {
    provider: row.provider,
    connection: row.connection,
    ...opened,
    // Read where tokens are asked for; every other request does without.
    get scopes() {
      return JSON.parse(row.scopes) as string[]
    },
    refreshable: row.refreshable === 1,
    ...(row.base_url !== null && { baseUrl: row.base_url }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(expiresAt !== undefined &&
      dueAt !== undefined && { refresh: { dueAt, usableUntil: usableUntil(dueAt, expiresAt) } }),
  }
}

/** Returns what may be listed of a connection. The definition is that of today, where there is one. */
export function connectionView(
  definition: ProviderDefinition | undefined,
  row: ConnectionRow & FailingRefresh,
  at: AttentionOptions,
): Connection {
  const attention = attentionFor(definition, row, at)
  const kind = definition && approvedKind(definition, row)
  return {
    provider: row.provider,
    connection: row.connection,
    is_default: row.is_default === 1,
    auth_type: row.auth_type as AuthType,
    flow: row.flow as FlowName,
    ...(kind === 'signing' && definition?.signing && { signing: definition.signing.type }),
    status: kind === undefined ? unapprovedStatus(definition, row) : tokenStatus(row, at.now),
    scopes: JSON.parse(row.scopes) as string[],
    ...(row.base_url !== null && { base_url: row.base_url }),
    ...(row.account !== null && { account: JSON.parse(row.account) as NonNullable<Connection['account']> }),
    created_at: row.created_at,
    updated_at: row.updated_at,
    ...(row.expires_at !== null && { expires_at: row.expires_at }),
    ...(row.last_used_at !== null && { last_used_at: row.last_used_at }),
    ...(attention !== undefined && { attention }),
  }
}

function unapprovedStatus(definition: ProviderDefinition | undefined, row: ConnectionRow): Connection['status'] {
  return definition && isTakenNoMore(definition, row) ? 'needs_login' : 'needs_approval'
}

/** Returns whether the definition of today binds the connection's credential to what it was bound to at login. */
export function isApproved(definition: ProviderDefinition | undefined, row: ConnectionRow): boolean {
  return definition !== undefined && approvedKind(definition, row) !== undefined
}

const REDACTED = '[redacted]'
/** What a grant keeps besides its secrets. */
const SHOWN_OF_GRANT = [
  'client_id',
  'client_auth',
  'issuer',
  'token_url',
  'refresh_url',
  'revocation_url',
  'resource',
  'network',
]

/** Only a field that is known to be public shows; a field nobody describes is a secret. */
export function redacted(
  definition: ProviderDefinition | undefined,
  { kind, fields }: Credential,
): Record<string, string> {
  const shown = new Set(kind === 'oauth2' ? SHOWN_OF_GRANT : definition ? publicFields(definition, kind) : [])
  return mapValues(fields, (value, name) => (shown.has(name) ? value.reveal() : REDACTED))
}

function publicFields(definition: ProviderDefinition, section: KeySection): readonly string[] {
  const entered = credentialFields(definition, section).flatMap((field) => (field.secret ? [] : [field.name]))
  return section === 'client_credentials' ? [...entered, ...SHOWN_OF_GRANT] : entered
}
