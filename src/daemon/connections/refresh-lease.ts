/** How long the right to refresh a connection lasts. Times are milliseconds, by the database's clock. */
import type { RefreshRow } from '../store/index.ts'

/** After its holder has last renewed it. */
export const LEASE_MS = 4_000
export const RENEW_EVERY_MS = 1_000

/** One that lasts longer than any can was given by a clock that was ahead. */
export function isLeased(row: Pick<RefreshRow, 'leased_until'> | undefined, now: number): boolean {
  const left = (row?.leased_until ?? 0) - now
  return left > 0 && left <= LEASE_MS
}
