import type { Attention, AttentionOf, Connection, ProviderDefinition } from '../../schemas/index.ts'
import { type CredentialKind, loginOption } from '../providers/index.ts'
import type { ConnectionRow, RefreshRow } from '../store/index.ts'
import { approvedKind, isTakenNoMore } from './approval.ts'
import type { ConnectionId } from './connection-id.ts'
import { tokenStatus } from './token-status.ts'

/** What is known of a connection's refreshes; nothing where there was none. */
export type FailingRefresh = {
  readonly [Name in 'failures' | 'failing_since' | 'failure_reason' | 'forced_at']?: RefreshRow[Name] | null
}

export interface AttentionOptions {
  readonly now: number
  readonly seenSince: (row: ConnectionRow) => string
  readonly unused: string | undefined
}

/**
 * Why the connection does not serve, or soon will not; undefined where it does.
 * @param seenSince when it was first seen to need approval: a definition does not say when it changed
 * @param unused why no custom definition is used now; undefined where they are
 */
export function attentionFor(
  definition: ProviderDefinition | undefined,
  row: ConnectionRow & FailingRefresh,
  { now, seenSince, unused }: AttentionOptions,
): Attention | undefined {
  if (!definition) return unused === undefined ? unknownProvider(row) : unusedDefinition(row, unused)
  const kind = approvedKind(definition, row)
  if (kind === undefined) {
    const since = seenSince(row)
    if (!isTakenNoMore(definition, row)) return needsApproval(row, since)
    return needsLogin(row, since, "The provider's definition takes no such credential any more.", '')
  }
  const status = tokenStatus(row, now)
  if (status === 'expired')
    return needsLogin(row, row.expires_at, 'Its token has ended, and there is none to get another with.', '')
  const option = optionOf(definition, kind)
  if (status === 'needs_login') {
    return needsLogin(
      row,
      failingSince(row),
      row.problem_reason ?? 'The provider takes its refresh token no more.',
      option,
    )
  }
  return serves(row, now) ? undefined : refreshFailing(row, option)
}

/** A token that has not ended serves, until its host refuses it. One that is issued is failing once there is none. */
function serves(row: ConnectionRow & FailingRefresh, now: number): boolean {
  if (row.auth_type === 'oauth2' && row.flow !== 'api_key' && !isRefusedByHost(row))
    return row.expires_at === null || Date.parse(row.expires_at) > now
  return false
}

/** A refresh was forced since the token came, and none has worked. */
function isRefusedByHost({ failures, forced_at, updated_at }: ConnectionRow & FailingRefresh): boolean {
  return Boolean(failures) && forced_at != null && forced_at >= Date.parse(updated_at)
}

/** Returns what names the login that made the connection, where the usual one is another. */
export function optionOf(definition: ProviderDefinition, kind: CredentialKind): string {
  return kind === 'signing' || kind === 'client_credentials' ? loginOption(definition, kind) : ''
}

function unknownProvider(row: ConnectionRow): Attention {
  return {
    kind: 'needs_approval',
    since: row.updated_at,
    reason: `There is no definition of "${row.provider}" any more, or it is broken: its hosts are refused.`,
    fix: `broker provider register <definition.json>, or broker logout ${row.provider}`,
  }
}

/** It is there, and nobody should log out for that. */
function unusedDefinition(row: ConnectionRow, unused: string): Attention {
  return { kind: 'needs_approval', since: row.updated_at, reason: unused, fix: 'broker doctor' }
}

function needsApproval(row: ConnectionRow, since: string): Attention {
  return {
    kind: 'needs_approval',
    since,
    reason: "The provider's definition has changed where its credential may go.",
    fix: `broker connections approve ${named(row)}`,
  }
}

function needsLogin(row: ConnectionRow, since: string | null, reason: string, option: string): Attention {
  const fix = `broker login ${row.provider} --connection ${row.connection}${option} --force`
  return { kind: 'needs_login', since: since ?? row.updated_at, reason, fix }
}

function failingSince({ failing_since, updated_at }: ConnectionRow & FailingRefresh): string {
  return failing_since == null ? updated_at : new Date(failing_since).toISOString()
}

function refreshFailing(row: ConnectionRow & FailingRefresh, option: string): Attention | undefined {
  const { failures, failure_reason } = row
  if (!failures) return undefined
  return {
    kind: 'refresh_failing',
    since: failingSince(row),
    reason: `${isRefusedByHost(row) ? 'Its host refused its token, which' : 'Its token'} could not be refreshed, ${times(failures)}: ${failure_reason ?? 'no reason was kept'}.`,
    fix: `broker login ${row.provider} --connection ${row.connection}${option} --force`,
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times in a row`
}

/** Returns what keeps requests from being served: of each connection, and of each provider none of whose connections is the default. */
export function attentionIn(connections: readonly Connection[]): readonly AttentionOf[] {
  const own = connections.flatMap(({ provider, connection, attention }) =>
    attention === undefined ? [] : [{ provider, connection, ...attention }],
  )
  return [...own, ...withoutDefault(connections)]
}

function withoutDefault(connections: readonly Connection[]): readonly AttentionOf[] {
  const byProvider = Map.groupBy(connections, ({ provider }) => provider)
  return [...byProvider].flatMap(([provider, all]) => {
    if (all.some(({ is_default }) => is_default) || areApart(all)) return []
    const since =
      all
        .map(({ updated_at }) => updated_at)
        .toSorted()
        .at(-1) ?? ''
    return [{ provider, kind: 'no_default' as const, since, ...noDefault(provider, all) }]
  })
}

/** Each at an address that no other has: then every request says which is meant. */
function areApart(all: readonly Connection[]): boolean {
  const addresses = new Set(all.flatMap(({ base_url }) => base_url ?? []))
  return addresses.size === all.length
}

/** Returns what to say where a provider has connections and none of them is the default. */
export function noDefault(provider: string, all: readonly Pick<ConnectionId, 'connection'>[]) {
  const names = all.map(({ connection }) => connection)
  return {
    reason: `None of its connections (${names.join(', ')}) is the default.`,
    fix: `broker connections set-default ${provider} ${names.length === 1 ? names[0] : '<connection>'}`,
  }
}

function named({ provider, connection }: ConnectionId): string {
  return connection === 'default' ? provider : `${provider} --connection ${connection}`
}
