import { BrokerError, type BrokerErrorOptions } from '../../protocol/index.ts'

// Primary result codes of SQLite that say "not now" or "not this file": everything else is a mistake of ours.
const SQLITE_UNAVAILABLE = new Map([
  [5, 'the database is in use by another program'],
  [6, 'the database is locked'],
  [8, 'the database is read-only'],
  [10, 'the disk failed to read or write'],
  [11, 'the database file is damaged'],
  [13, 'the disk is full'],
  [14, 'the database file cannot be opened'],
  [26, 'the database file is not a database'],
])

/** Seconds. */
const RETRY_AFTER = 2

/** Tells an outage of SQLite (503, the caller may come again) from a mistake in a query, which stays as it is. */
export function storeFailure(cause: unknown): unknown {
  if (!(cause instanceof Error && 'errcode' in cause && typeof cause.errcode === 'number')) return cause
  const why = SQLITE_UNAVAILABLE.get(cause.errcode & 0xff)
  return why === undefined ? cause : unusable(why, { cause })
}

/** The error of an outage. */
export function unusable(why: string, options: Pick<BrokerErrorOptions, 'cause' | 'hint'>): BrokerError {
  return new BrokerError('DaemonUnavailableError', `The store cannot be used: ${why}`, {
    hint: 'See `broker doctor` and the daemon log.',
    retryAfter: RETRY_AFTER,
    ...options,
  })
}
