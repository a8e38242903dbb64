import { useSyncExternalStore } from 'react'
import { daemonNow } from '../daemon.ts'
import { usePrinting } from './printing.ts'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

interface WhenProps {
  /** ISO-8601 */
  readonly at: string
  /** What has happened is never ahead, whatever the clocks say. */
  readonly tense?: 'past' | 'any'
}

/** A moment as people say it, with the exact one behind it. */
export function When({ at, tense = 'past' }: WhenProps) {
  const now = useSyncExternalStore(eachTick, () => tickedAt)
  const isPrinting = usePrinting()
  const difference = Date.parse(at) - now
  const spoken = relativeTime(tense === 'past' ? Math.min(0, difference) : difference)
  return (
    <time dateTime={at} title={exactTime(at)}>
      {isPrinting ? exactTime(at) : spoken}
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

const TICK_MS = 20_000
const listeners = new Set<() => void>()
let tickedAt = daemonNow()
let ticking: ReturnType<typeof setInterval> | undefined

/** One clock for every moment on the page. */
function eachTick(listener: () => void): () => void {
  if (listeners.size === 0) {
    tickedAt = daemonNow()
    ticking = setInterval(tick, TICK_MS)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) clearInterval(ticking)
  }
}

function tick(): void {
  tickedAt = daemonNow()
  for (const listener of listeners) listener()
}
