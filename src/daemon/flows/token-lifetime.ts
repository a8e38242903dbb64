const LONGEST_SECONDS = 100 * 365 * 86_400
/** Numbers above are milliseconds since 1970, not seconds. */
const SECONDS_BEFORE = 100_000_000_000
/** Numbers below are seconds from now, not since 1970. */
const SINCE_1970_FROM = 1_000_000_000

/**
 * Seconds that a token lives, by `expires_in`, else by `expires_at` (ISO, or since 1970) or `expires` (either way).
 * Undefined where the answer does not say, or says what cannot be: it is then used until it is refused.
 */
export function secondsLeft(answer: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const { expires_in: expiresIn, expires_at: expiresAt, expires } = answer
  const seconds = numberIn(expiresIn) ?? untilTime(expiresAt, now) ?? untilTime(expires, now)
  return seconds !== undefined && seconds >= 1 && seconds <= LONGEST_SECONDS ? Math.floor(seconds) : undefined
}

function untilTime(value: unknown, now: number): number | undefined {
  const number = numberIn(value)
  if (number === undefined) return typeof value === 'string' ? untilDate(value, now) : undefined
  if (number < SINCE_1970_FROM) return number
  return (number < SECONDS_BEFORE ? number : number / 1000) - now / 1000
}

function untilDate(text: string, now: number): number | undefined {
  const time = /^\d{4}-\d\d-\d\d[T ]/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : (time - now) / 1000
}

function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,20}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
