import { BrokerError } from '../../protocol/index.ts'
import { unusable } from './store-failure.ts'

/** By SQLSTATE, or the code of Node: what is said of it. Longer beginnings come first. */
const KNOWN: readonly (readonly [beginning: string, why: string])[] = [
  ['28P01', 'Postgres refuses the password'],
  ['28', 'Postgres refuses the user, or this way to connect'],
  ['3D', 'Postgres has no database of this name'],
  ['42501', 'Postgres does not let this user do it'],
  ['53100', 'the disk of Postgres is full'],
  ['53300', 'Postgres has no connection left'],
  ['53', 'Postgres is short of something'],
  ['55P03', 'somebody else holds a lock of Postgres for too long'],
  ['57014', 'Postgres takes too long'],
  ['57', 'Postgres is starting or stopping'],
  ['25P0', 'Postgres gave a change up that had stopped'],
  ['25006', 'Postgres is read-only'],
  ['40', 'two changes were in the way of each other'],
  ['08', 'Postgres does not answer'],
  ['ECONN', 'Postgres does not answer'],
  ['EPIPE', 'Postgres does not answer'],
  ['ETIMEDOUT', 'Postgres does not answer'],
  ['EHOSTUNREACH', 'Postgres does not answer'],
  ['ENETUNREACH', 'Postgres does not answer'],
  ['ENOTFOUND', 'the host of Postgres is not known'],
  ['EAI_', 'the host of Postgres is not known'],
]

const TLS = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/
const NO_TLS = 'The server does not support SSL connections'

const NO_PASSWORD = /client password must be a (?:non-empty )?string/

/** What `pg` says, without a code, where the connection went or did not answer in time. */
const GONE = /Connection terminated|timeout expired|timeout exceeded|Query read timeout|not queryable|Connection ended/

const SETTING = 'Check BROKER_DATABASE_URL: user, password, host, name of the database, and `sslmode`.'

/**
 * Tells an outage of Postgres (503, the caller may come again) from a mistake in a query, which stays as it is. Repeats
 * nothing that the server said: that may hold what was stored.
 */
export function postgresFailure(cause: unknown, when: 'connecting' | 'asking'): unknown {
  if (cause instanceof BrokerError || !(cause instanceof Error)) return cause
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  const why = whyOf(cause, code) ?? (when === 'connecting' ? 'no connection to Postgres can be made' : undefined)
  if (why === undefined) return cause
  const hint = when === 'connecting' && isSetting(cause, code) ? { hint: SETTING } : {}
  const outage = unusable(code === undefined ? why : `${why} (${code})`, { cause, ...hint })
  outages.add(outage)
  return outage
}

/** The outage of a transaction that came upon a name which leads nowhere; begun anew, it has none. */
export function namesRefused(cause: unknown): BrokerError {
  const outage = unusable('a prepared statement is gone', { cause })
  refused.add(outage)
  return outage
}

/** Returns whether a transaction ended for {@link namesRefused}. */
export function isNamesRefused(error: unknown): boolean {
  return error instanceof BrokerError && refused.has(error)
}

const refused = new WeakSet<BrokerError>()

/** Returns whether it may be over in a moment: Postgres is starting, its port is not open yet, or somebody holds a lock. */
export function isPassing(error: unknown): boolean {
  return isRefused(error) || /^(?:57P0|55P03)/.test(codeOf(error))
}

/** Returns whether nobody listened, or whoever did hung up. */
export function isRefused(error: unknown): boolean {
  return /^ECONN(?:REFUSED|RESET)$/.test(codeOf(error))
}

/** Returns whether others would find the same now: no answer, or a lock; not a query that is slow by itself. */
export function isOutageForAll(error: unknown): boolean {
  const code = codeOf(error)
  return error instanceof BrokerError && outages.has(error) && !/^(?:40|57014)/.test(code)
}

const outages = new WeakSet<BrokerError>()

/** Of what is behind an outage. */
function codeOf(error: unknown): string {
  const cause = error instanceof BrokerError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

function whyOf({ message }: Error, code: string | undefined): string | undefined {
  if (message === NO_TLS) return 'Postgres takes no connection over TLS'
  if (NO_PASSWORD.test(message)) return 'Postgres asks for a password, and none is set'
  if (code === undefined) return GONE.test(message) ? 'Postgres does not answer' : undefined
  if (TLS.test(code)) return 'the TLS certificate of Postgres is not accepted'
  return KNOWN.find(([beginning]) => code.startsWith(beginning))?.[1]
}

function isSetting({ message }: Error, code = ''): boolean {
  return message === NO_TLS || TLS.test(code) || /^(?:28|3D|ENOTFOUND|EAI_)/.test(code) || NO_PASSWORD.test(message)
}
