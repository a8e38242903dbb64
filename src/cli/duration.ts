const UNITS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** Returns how far away a moment is, for people: `in 40 min`, `3 days ago`. */
export function distance(timestamp: string, now: number = Date.now()): string {
  const away = Date.parse(timestamp) - now
  const [unit, size] = UNITS.find(([, each]) => Math.abs(away) >= each * 1.5) ?? ['s', 1_000]
  const count = Math.round(Math.abs(away) / size)
  const amount = `${count} ${unit === 'day' && count !== 1 ? 'days' : unit}`
  return away < 0 ? `${amount} ago` : `in ${amount}`
}
