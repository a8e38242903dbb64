import { useEffect, useState } from 'react'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

/** A moment as people say it, with the exact one behind it. @param at ISO-8601 */
export function When({ at }: { readonly at: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {relativeTime(Date.parse(at) - now)}
    </time>
  )
}

function relativeTime(difference: number): string {
  const [unit, length] = UNITS.find(([, ms]) => Math.abs(difference) >= ms) ?? []
  if (unit === undefined || length === undefined) return difference > 0 ? 'in a moment' : 'just now'
  return relative.format(Math.trunc(difference / length), unit)
}

export function exactTime(at: string): string {
  return exact.format(new Date(at))
}

function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  return now
}
