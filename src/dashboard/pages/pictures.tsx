import { useState } from 'react'
import { Chart } from '../parts/chart.tsx'
import { Answered } from '../parts/page.tsx'
import { type Filters, useCounts } from '../questions.ts'

export const HOUR = 3_600_000

interface PicturesProps {
  readonly hours: number
  /** As the audit log's own; what it cannot count by is left out. */
  readonly filters: Filters
}

/** Requests over time, by provider or by how they ended. */
export function Pictures({ hours, filters }: PicturesProps) {
  const [by, setBy] = useState<'provider' | 'status'>('provider')
  const until = Math.ceil(Date.now() / HOUR) * HOUR
  const since = until - hours * HOUR
  const { event = '', provider = '', status = '' } = filters
  const counts = useCounts({ event, provider, status, since: new Date(since).toISOString() })
  return (
    <Answered question={counts}>
      {(all) => {
        const requests = event === '' ? all.filter(({ event: one }) => one.startsWith('proxy.')) : all
        return (
          <>
            <fieldset className="switch" aria-label="Show by">
              {(['provider', 'status'] as const).map((one) => (
                <button key={one} type="button" aria-pressed={by === one} onClick={() => setBy(one)}>
                  by {one}
                </button>
              ))}
            </fieldset>
            <Chart
              title={`${event === '' ? 'Requests' : 'Events'} by ${by}`}
              counts={requests}
              since={since}
              until={until}
              by={by}
            />
          </>
        )
      }}
    </Answered>
  )
}
