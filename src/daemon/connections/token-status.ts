import type { ConnectionRow } from '../store/index.ts'

/** A token that has ended counts as connected where it can be refreshed: the next request does so. */
export function tokenStatus(row: ConnectionRow, now: number): 'connected' | 'expired' | 'needs_login' {
  if (row.problem !== null) return row.problem
  const expiresAt = timeOf(row.expires_at)
  return row.refreshable === 0 && expiresAt !== undefined && expiresAt <= now ? 'expired' : 'connected'
}

/** Milliseconds since 1970. */
export function timeOf(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text)
}
