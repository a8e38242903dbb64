import { InvalidArgumentError } from 'commander'

const UNITS = { s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const

/**
 * A moment as people name it: `90s`, `30m`, `1h`, `2d` and `1w` ago, `today` and `yesterday` (their midnight here), a date, or
 * an ISO time.
 * @returns ISO, UTC
 */
export function pastTime(text: string, now: Date = new Date()): string {
  const time = ago(text, now) ?? midnight(text, now) ?? written(text)
  if (time !== undefined) return time.toISOString()
  throw new InvalidArgumentError('It must be like 30m, 1h, 2d, today, yesterday, 2026-11-22, or an ISO time.')
}

function ago(text: string, now: Date): Date | undefined {
  const [, count = '', unit = ''] = /^(\d{1,6})(s|m|min|h|d|w)$/.exec(text) ?? []
  return unit === '' ? undefined : new Date(now.getTime() - Number(count) * UNITS[unit as keyof typeof UNITS])
}

function midnight(text: string, now: Date): Date | undefined {
  if (text !== 'today' && text !== 'yesterday') return undefined
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - (text === 'today' ? 0 : 1))
}

/** A date alone is its midnight here, as `today` is. */
function written(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text)) return undefined
  const time = new Date(text.length === 10 ? `${text}T00:00:00` : text)
  return Number.isNaN(time.getTime()) ? undefined : time
}
