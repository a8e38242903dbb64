import { BrokerError } from '../../protocol/index.ts'

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

const POSTGRES_UNAVAILABLE = /^(?:ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|08|53|57|25006|28|3D)/

/** Tells an outage of the store (503, the caller may come again) from a mistake in a query, which stays as it is. */
export function storeFailure(cause: unknown): unknown {
  const why = outage(cause)
  if (why === undefined) return cause
  return new BrokerError('DaemonUnavailableError', `The store cannot be used: ${why}`, {
    hint: 'See `broker doctor` and the daemon log.',
    cause,
  })
}

function outage(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined
  if ('errcode' in cause && typeof cause.errcode === 'number') return SQLITE_UNAVAILABLE.get(cause.errcode & 0xff)
  if ('code' in cause && typeof cause.code === 'string' && POSTGRES_UNAVAILABLE.test(cause.code)) {
    return `Postgres does not answer (${cause.code})`
  }
  return /Connection terminated|timeout exceeded when trying to connect/.test(cause.message)
    ? 'Postgres does not answer'
    : undefined
}
