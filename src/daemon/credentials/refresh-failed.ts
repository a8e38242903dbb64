import { BrokerError } from '../../protocol/index.ts'
import type { ConnectionId } from '../connections/index.ts'

export interface FailedRefresh {
  /** What goes on as "… connection": "refresh" unless it says otherwise. */
  readonly what?: string
  readonly why: string
  readonly hint: string
  /** Milliseconds until it is worth another try. */
  readonly waitMs?: number
}

/** There is no fresh token this time. */
export function refreshFailed(
  { provider, connection }: ConnectionId,
  { what = 'refresh', why, hint, waitMs }: FailedRefresh,
): BrokerError {
  return new BrokerError('RefreshFailedError', `Cannot ${what} connection "${connection}" of ${provider}: ${why}`, {
    provider,
    connection,
    hint,
    ...(waitMs !== undefined && { retryAfter: Math.max(1, Math.ceil(waitMs / 1_000)) }),
  })
}
