/** When tokens are refreshed. All times are milliseconds. */
import type { ConnectionRow } from '../store/index.ts'
import { timeOf } from './token-status.ts'

const LARGEST_MARGIN = 5 * 60_000
const MARGIN = 0.2
/** Of the margin: connections that were made together are not refreshed together. */
const JITTER = 0.2
const LARGEST_REMAINDER = 5_000
const REMAINDER = 0.25

/**
 * Ahead of the end by a fifth of the token's life, five minutes at most.
 * @param random 0 to 1
 */
export function refreshDueAt(obtainedAt: number, expiresAt: number, random: number): number {
  const margin = Math.min(LARGEST_MARGIN, Math.max(0, expiresAt - obtainedAt) * MARGIN)
  return Math.round(expiresAt - margin * (1 - JITTER * random))
}

/** Returns what the row of a connection says of its token's end. `now` is when the token was obtained. */
export function expiryColumns(
  expiresAt: number | undefined,
  { refreshable, now, random }: { readonly refreshable: boolean; readonly now: number; readonly random: number },
): Pick<ConnectionRow, 'expires_at' | 'refresh_due_at'> {
  if (expiresAt === undefined) return { expires_at: null, refresh_due_at: null }
  const iso = (time: number) => new Date(time).toISOString()
  return {
    expires_at: iso(expiresAt),
    refresh_due_at: refreshable ? iso(refreshDueAt(now, expiresAt, random)) : null,
  }
}

const CLOCKS_DIFFER_BY = 5 * 60_000

/**
 * Returns when the token of a row is to be refreshed; undefined where it does not end. At once where the row was written by a clock
 * that was ahead: nobody knows then when the token ends.
 */
export function dueAtOf(row: Pick<ConnectionRow, 'refresh_due_at' | 'updated_at'>, now: number): number | undefined {
  const dueAt = timeOf(row.refresh_due_at)
  return dueAt !== undefined && Date.parse(row.updated_at) > now + CLOCKS_DIFFER_BY ? Math.min(dueAt, now) : dueAt
}

/** From when on a token is not handed out any more: it would end on its way. */
export function usableUntil(dueAt: number, expiresAt: number): number {
  return expiresAt - Math.min(LARGEST_REMAINDER, (expiresAt - dueAt) * REMAINDER)
}

const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 5 * 60_000
/** No pause is longer, whatever a provider asks for. */
export const LONGEST_RETRY_AFTER = 60 * 60_000

/**
 * Returns how long to leave a provider alone after so many failures in a row. It may ask for longer itself, within reason; one that
 * refuses is asked ever more rarely.
 * @param failure `retryAfter`: seconds
 * @param random 0 to 1
 */
export function pauseAfter(
  failures: number,
  { retryAfter = 0, refused }: { readonly retryAfter?: number; readonly refused?: true },
  random: number,
): number {
  const own = Math.min(refused ? LONGEST_RETRY_AFTER : LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures - 1, 20))
  const asked = Math.min(LONGEST_RETRY_AFTER, retryAfter * 1_000)
  return Math.round(Math.max(asked, own * (0.75 + 0.25 * random)))
}

const FIRST_FORCED_PAUSE = 5_000
const LONGEST_FORCED_PAUSE = 10 * 60_000

/** Milliseconds; `until` is a time. */
export interface Pause {
  readonly until: number
  readonly length: number
}

/** Returns what is left of a pause. One that was made by a clock which was ahead, for a while, is over when it is right again. */
export function leftOfPause({ until, length }: Pause, now: number): number {
  const left = Math.max(0, until - now)
  return left > length ? 0 : left
}

/** The same for a pause after a forced refresh. */
export function leftOfForced({ at, pause }: ForcedRefresh, now: number): number {
  return at > now ? 0 : Math.max(0, at + pause - now)
}

export interface ForcedRefresh {
  readonly at: number
  readonly pause: number
}

/**
 * Returns how long after a forced refresh another may be forced: a host that refuses every token must not cost a refresh for
 * each request.
 */
export function pauseAfterForced(before: ForcedRefresh | undefined, now: number): number {
  const isRecent = before !== undefined && before.at <= now && now - before.at < 2 * LONGEST_FORCED_PAUSE
  return isRecent ? Math.min(LONGEST_FORCED_PAUSE, before.pause * 2) : FIRST_FORCED_PAUSE
}
