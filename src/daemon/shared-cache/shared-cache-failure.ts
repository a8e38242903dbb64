/** Why Redis cannot be used, as the end of a sentence. What it says itself may quote anything, and is not repeated. */
export function whyAway(error: unknown): string {
  const said = error instanceof Error ? error.message : ''
  return REASONS.find(([pattern]) => pattern.test(said))?.[1] ?? 'it does not answer'
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/WRONGPASS|NOAUTH|invalid password|invalid username-password/i, 'it refuses the user or the password'],
  [/AUTH .*without any password/i, 'it refuses the user or the password'],
  [/DB index is out of range|invalid DB index/i, 'it has no such database'],
  [/NOPERM/, 'its user may not do what is needed'],
  [/READONLY/, 'it takes no changes'],
  [/MISCONF/, 'it takes no changes'],
  [/^OOM/, 'it is full'],
  [/LOADING|BUSY/, 'it is busy'],
  [/certificate|TLS|SSL/i, 'its certificate is not trusted'],
  [/ENOTFOUND|EAI_AGAIN/, 'its name is not known'],
  [/ECONNREFUSED/, 'nothing listens there'],
]
