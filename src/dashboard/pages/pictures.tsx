import { useId, useMemo, useState } from 'react'
import { daemonNow } from '../daemon.ts'
import { Chart } from '../parts/chart.tsx'
import { Answered } from '../parts/page.tsx'
import { byOutcome, byProvider, type Grouping } from '../parts/series.ts'
import { type Filters, useConnections, useCounts } from '../questions.ts'

export const HOUR = 3_600_000

interface PicturesProps {
  readonly title: string
  readonly hours: number
  /** As the audit log's own. */
  readonly filters: Filters
}

/** Requests over time, by provider or by how they ended. */
export function Pictures({ title, hours, filters }: PicturesProps) {
  const id = useId()
  const [by, setBy] = useState<'provider' | 'status'>('provider')
  const services = useServices()
  const until = Math.ceil(daemonNow() / HOUR) * HOUR
  const since = until - hours * HOUR
  const { event = '', provider = '', identity = '', status = '' } = filters
  const step = stepOf(hours)
  const counts = useCounts({
    event,
    provider,
    identity,
    status,
    since: new Date(since).toISOString(),
    step: String(step),
  })
  return (
    <section className="card" aria-labelledby={id}>
      <header className="card-head">
        <h2 id={id}>{title}</h2>
        <fieldset className="switch" aria-label="Show by">
          {(['provider', 'status'] as const).map((one) => (
            <button key={one} type="button" aria-pressed={by === one} onClick={() => setBy(one)}>
              by {one === 'status' ? 'outcome' : one}
            </button>
          ))}
        </fieldset>
      </header>
      <Answered question={{ data: services && counts.data, error: counts.error }}>
        {(all) => {
          const shown = event === '' ? all.filter(({ event: one }) => one.startsWith('proxy.')) : all
          const barMs = step * HOUR
          return (
            <Chart
              title={`${title}, by ${by}`}
              counts={shown}
              by={by === 'status' || !services ? byOutcome : services}
              {...{ since, until, barMs }}
            />
          )
        }}
      </Answered>
    </section>
  )
}

/** How many hours a bar stands for: not more than some forty bars. */
function stepOf(hours: number): number {
  if (hours <= 48) return 1
  return hours <= 168 ? 4 : 24
}

/** Oldest connections first: another one changes the look of none. Undefined until they are known. */
function useServices(): Grouping | undefined {
  const { data, error } = useConnections()
  return useMemo(() => {
    if (!data && !error) return undefined
    const known = (data ?? []).toSorted((one, other) => one.created_at.localeCompare(other.created_at))
    return byProvider(known.map(({ provider }) => provider))
  }, [data, error])
}
