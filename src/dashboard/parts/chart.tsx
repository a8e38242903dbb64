import { useId } from 'react'
import type { AuditCounts } from '../../schemas/index.ts'

type Count = AuditCounts['counts'][number]

interface ChartProps {
  readonly title: string
  readonly counts: readonly Count[]
  /** Milliseconds since 1970. */
  readonly since: number
  readonly until: number
  readonly by: 'provider' | 'status'
}

const HOUR = 3_600_000
const MOST_BARS = 48
const MOST_SERIES = 5
const OTHERS = 'others'
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [720, 180, 40, 22, 8]

interface Series {
  readonly name: string
  readonly values: readonly number[]
  readonly total: number
}

const hourText = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })

/**
 * How much happened when, as stacked bars. Series differ by their pattern as well as by their color, and the numbers stand
 * in a table below: on paper and to the color-blind it says the same.
 */
export function Chart({ title, counts, since, until, by }: ChartProps) {
  const id = useId()
  const { series, bars, barMs } = stack(counts, { since, until, by })
  const most = Math.max(1, ...bars.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)))
  const top = niceCeiling(most)
  const width = (WIDTH - LEFT) / bars.length
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)
  return (
    <figure className="chart" aria-labelledby={`${id}-title`}>
      <figcaption id={`${id}-title`}>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={summary(title, series)}>
        <Patterns id={id} />
        {[0, top / 2, top].map((value) => (
          <g key={value} className="grid">
            <line x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 3} textAnchor="end">
              {compact(value)}
            </text>
          </g>
        ))}
        {bars.map((start, index) => {
          let below = 0
          return (
            <g key={start}>
              {series.map(({ name, values }, place) => {
                const value = values[index] ?? 0
                if (value === 0) return null
                below += value
                const height = Math.max(1, y(below - value) - y(below))
                return (
                  <g key={name}>
                    <rect
                      className={`series-${place}`}
                      x={LEFT + index * width + width * 0.12}
                      width={width * 0.76}
                      y={y(below)}
                      height={height}
                    />
                    <rect
                      fill={`url(#${id}-${place})`}
                      x={LEFT + index * width + width * 0.12}
                      width={width * 0.76}
                      y={y(below)}
                      height={height}
                    >
                      <title>{`${hourText.format(start)}: ${name} ${value.toLocaleString('en')}`}</title>
                    </rect>
                  </g>
                )
              })}
            </g>
          )
        })}
        {[0, Math.floor(bars.length / 2), bars.length - 1].map((index) => (
          <text
            key={index}
            className="tick"
            x={LEFT + (index + 0.5) * width}
            y={HEIGHT - 6}
            textAnchor={index === 0 ? 'start' : index === bars.length - 1 ? 'end' : 'middle'}
          >
            {hourText.format(bars[index])}
          </text>
        ))}
      </svg>
      <ul className="legend">
        {series.map(({ name, total }, place) => (
          <li key={name}>
            <svg viewBox="0 0 14 14" aria-hidden="true">
              <rect className={`series-${place}`} width="14" height="14" rx="2" />
              <rect fill={`url(#${id}-${place})`} width="14" height="14" rx="2" />
            </svg>
            {name} <span className="soft">{total.toLocaleString('en')}</span>
          </li>
        ))}
      </ul>
      <details>
        <summary>The numbers</summary>
        <NumberTable title={title} series={series} bars={bars} barMs={barMs} />
      </details>
    </figure>
  )
}

function NumberTable({
  title,
  series,
  bars,
  barMs,
}: {
  readonly title: string
  readonly series: readonly Series[]
  readonly bars: readonly number[]
  readonly barMs: number
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className="numbers" tabIndex={0} aria-label={`${title}, as a table`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{barMs === HOUR ? 'Hour' : `${barMs / HOUR} hours from`}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.map((start, index) =>
            series.some(({ values }) => values[index]) ? (
              <tr key={start}>
                <th scope="row">{hourText.format(start)}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>{(values[index] ?? 0).toLocaleString('en')}</td>
                ))}
              </tr>
            ) : null,
          )}
        </tbody>
      </table>
    </section>
  )
}

/** Drawn over the color: plain, stripes both ways, dots, bars, a grid. */
function Patterns({ id }: { readonly id: string }) {
  const shapes = [
    null,
    <path key="1" d="M-2 2 2-2M0 8 8 0M6 10l4-4" />,
    <circle key="2" cx="4" cy="4" r="1.3" />,
    <path key="3" d="M-2 6 2 10M0 0l8 8M6-2l4 4" />,
    <path key="4" d="M0 4h8" />,
    <path key="5" d="M0 4h8M4 0v8" />,
  ]
  return (
    <defs>
      {shapes.map((shape, place) => (
        <pattern
          key={String(shape?.key)}
          id={`${id}-${place}`}
          className="pattern"
          width="8"
          height="8"
          patternUnits="userSpaceOnUse"
        >
          {shape}
        </pattern>
      ))}
    </defs>
  )
}

function stack(
  counts: readonly Count[],
  { since, until, by }: Pick<ChartProps, 'since' | 'until' | 'by'>,
): { readonly series: readonly Series[]; readonly bars: readonly number[]; readonly barMs: number } {
  const first = Math.floor(since / HOUR) * HOUR
  const hours = Math.max(1, Math.ceil((until - first) / HOUR))
  const barMs = Math.ceil(hours / MOST_BARS) * HOUR
  const bars = Array.from({ length: Math.ceil((hours * HOUR) / barMs) }, (_, index) => first + index * barMs)
  const totals = new Map<string, number>()
  for (const one of counts) totals.set(nameOf(one, by), (totals.get(nameOf(one, by)) ?? 0) + one.count)
  const names = [...totals].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
  const shown = names.length > MOST_SERIES + 1 ? [...names.slice(0, MOST_SERIES), OTHERS] : names
  const values = new Map(shown.map((name) => [name, bars.map(() => 0)]))
  for (const one of counts) {
    const row = values.get(nameOf(one, by)) ?? values.get(OTHERS)
    const index = Math.floor((Date.parse(one.hour) - first) / barMs)
    if (row?.[index] !== undefined) row[index] += one.count
  }
  const series = [...values].map(([name, row]) => ({ name, values: row, total: row.reduce((a, b) => a + b, 0) }))
  return { series, bars, barMs }
}

function nameOf({ provider, status }: Count, by: ChartProps['by']): string {
  if (by === 'status') return { success: 'OK', failure: 'failed', denied: 'denied' }[status]
  return provider ?? 'no provider'
}

function summary(title: string, series: readonly Series[]): string {
  if (series.length === 0) return `${title}: nothing happened`
  return `${title}: ${series.map(({ name, total }) => `${name} ${total}`).join(', ')}`
}

/** 1, 2 or 5 times a power of ten, even so that its half is whole. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10
  return Math.max(2, step * power)
}

function compact(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact' }).format(value)
}
