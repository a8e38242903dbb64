import type { Attention, AttentionOf, Connection, ProviderDefinition } from '../../schemas/index.ts'
import type { ConnectionRow, RefreshRow } from '../store/index.ts'
import { approvedKind } from './approval.ts'
import type { ConnectionId } from './connection-id.ts'
import { tokenStatus } from './token-status.ts'

/** What is known of a connection's refreshes; nothing where there was none. */
export type FailingRefresh = {
  readonly [Name in 'failures' | 'failing_since' | 'failure_reason']?: RefreshRow[Name] | null
}

/**
 * Why the connection does not serve, or soon will not; undefined where it does.
 * @param seenSince when it was first seen to need approval: a definition does not say when it changed
 */
export function attentionFor(
  definition: ProviderDefinition | undefined,
  row: ConnectionRow & FailingRefresh,
  { now, seenSince }: { readonly now: number; readonly seenSince: (row: ConnectionRow) => string },
): Attention | undefined {
  if (!definition) return unknownProvider(row)
  if (approvedKind(definition, row) === undefined) return needsApproval(row, seenSince(row))
  const status = tokenStatus(row, now)
  if (status === 'expired')
    return needsLogin(row, row.expires_at, 'Its token has ended, and there is none to get another with.')
  if (status === 'needs_login') {
    return needsLogin(row, failingSince(row), row.problem_reason ?? 'The provider takes its refresh token no more.')
  }
  return refreshFailing(row)
}

function unknownProvider(row: ConnectionRow): Attention {
  return {
    kind: 'needs_approval',
    since: row.updated_at,
    reason: `There is no definition of "${row.provider}" any more, or it is broken: its hosts are refused.`,
    fix: `broker provider register <definition.json>`,
  }
}

function needsApproval(row: ConnectionRow, since: string): Attention {
  return {
    kind: 'needs_approval',
    since,
    reason: "The provider's definition has changed where its credential may go.",
    fix: `broker connections approve ${named(row)}`,
  }
}

function needsLogin(row: ConnectionRow, since: string | null, reason: string): Attention {
  const fix = `broker login ${row.provider} --connection ${row.connection} --force`
  return { kind: 'needs_login', since: since ?? row.updated_at, reason, fix }
}

function failingSince({ failing_since, updated_at }: ConnectionRow & FailingRefresh): string {
  return failing_since == null ? updated_at : new Date(failing_since).toISOString()
}

function refreshFailing(row: ConnectionRow & FailingRefresh): Attention | undefined {
  const { failures, failure_reason } = row
  if (!failures) return undefined
  return {
    kind: 'refresh_failing',
    since: failingSince(row),
    reason: `Its token could not be refreshed, ${times(failures)}: ${failure_reason ?? 'no reason was kept'}.`,
    fix: `broker login ${row.provider} --connection ${row.connection} --force`,
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times in a row`
}

/** What keeps requests from being served: of each connection, and of each provider none of whose connections is the default. */
export function attentionIn(connections: readonly Connection[], now: number): readonly AttentionOf[] {
  const own = connections.flatMap(({ provider, connection, attention, expires_at }) => {
    // A token that still serves is no trouble yet.
    const serves = attention?.kind === 'refresh_failing' && (expires_at === undefined || Date.parse(expires_at) > now)
    return attention === undefined || serves ? [] : [{ provider, connection, ...attention }]
  })
  return [...own, ...withoutDefault(connections)]
}

function withoutDefault(connections: readonly Connection[]): readonly AttentionOf[] {
  const byProvider = Map.groupBy(connections, ({ provider }) => provider)
  return [...byProvider].flatMap(([provider, all]) => {
    if (all.some(({ is_default }) => is_default)) return []
    const since =
      all
        .map(({ updated_at }) => updated_at)
        .toSorted()
        .at(-1) ?? ''
    return [{ provider, kind: 'no_default' as const, since, ...noDefault(provider, all) }]
  })
}

/** What to say where a provider has connections and none of them is the default. */
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
