import { useId, useLayoutEffect, useRef, useState } from 'react'
import type { AuditCounts } from '../../schemas/index.ts'
import { usePrinting } from './printing.ts'
import { type Grouping, type Look, OTHERS } from './series.ts'

type Count = AuditCounts['counts'][number]

interface ChartProps {
  readonly title: string
  readonly counts: readonly Count[]
  /** Milliseconds since 1970. */
  readonly since: number
  readonly until: number
  /** Of each bar, as the counts were asked for. */
  readonly barMs: number
  readonly by: Grouping
}

const HOUR = 3_600_000
const MOST_SERIES = 5
const [HEIGHT, LEFT, BOTTOM, TOP] = [220, 44, 26, 8]

interface Series {
  readonly name: string
  readonly look: Look
  readonly values: readonly number[]
  readonly total: number
}

const hourText = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', hour: 'numeric' })

/**
 * How much happened when, as stacked bars. Series differ by their pattern as well as by their color, and the numbers stand
 * in a table below: on paper and to the color-blind it says the same.
 */
export function Chart({ title, counts, since, until, barMs, by }: ChartProps) {
  const id = useId()
  const [figure, whole] = useWidth()
  const isPrinting = usePrinting()
  const { series, bars } = stack(counts, { since, until, barMs, by })
  if (series.length === 0) {
    return (
      <figure ref={figure} className="soft no-chart">
        Nothing happened in this time
      </figure>
    )
  }
  const most = Math.max(1, ...bars.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)))
  const top = niceCeiling(most)
  const width = (whole - LEFT) / bars.length
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)
  return (
    <figure className="chart" ref={figure} aria-labelledby={`${id}-title`}>
      <figcaption id={`${id}-title`}>{title}</figcaption>
      <svg viewBox={`0 0 ${whole} ${HEIGHT}`} height={HEIGHT} role="img" aria-label={summary(title, series)}>
        <Patterns id={id} />
        {[0, top / 2, top].map((value) => (
          <g key={value} className="grid">
            <line x1={LEFT} x2={whole} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 3} textAnchor="end">
              {compact(value)}
            </text>
          </g>
        ))}
        {bars.map((start, index) => {
          let below = 0
          return (
            <g key={start} className="bar">
              <title>{barText(start, series, index)}</title>
              <rect className="whole" x={LEFT + index * width} width={width} y={TOP} height={HEIGHT - TOP - BOTTOM} />
              {series.map(({ name, values, look }) => {
                const value = values[index] ?? 0
                if (value === 0) return null
                below += value
                const height = Math.max(1, y(below - value) - y(below))
                return (
                  <g key={name}>
                    <rect
                      className={`series-${look.color}`}
                      x={LEFT + index * width + width * 0.12}
                      width={width * 0.76}
                      y={y(below)}
                      height={height}
                    />
                    <rect
                      fill={`url(#${id}-${look.pattern})`}
                      x={LEFT + index * width + width * 0.12}
                      width={width * 0.76}
                      y={y(below)}
                      height={height}
                    />
                  </g>
                )
              })}
            </g>
          )
        })}
        {(whole < 480 ? [0, bars.length - 1] : [0, Math.floor(bars.length / 2), bars.length - 1]).map((index) => (
          <text
            key={index}
            className="tick"
            x={index === 0 ? LEFT : index === bars.length - 1 ? whole : LEFT + (index + 0.5) * width}
            y={HEIGHT - 6}
            textAnchor={index === 0 ? 'start' : index === bars.length - 1 ? 'end' : 'middle'}
          >
            {hourText.format(bars[index])}
          </text>
        ))}
      </svg>
      <ul className="legend">
        {series.map(({ name, look, total }) => (
          <li key={name}>
            <svg viewBox="0 0 14 14" aria-hidden="true">
              <rect className={`series-${look.color}`} width="14" height="14" rx="2" />
              <rect fill={`url(#${id}-${look.pattern})`} width="14" height="14" rx="2" />
            </svg>
            {name} <span className="soft">{total.toLocaleString('en')}</span>
          </li>
        ))}
      </ul>
      {isPrinting ? (
        <NumberTable title={title} series={series} bars={bars} barMs={barMs} />
      ) : (
        <details>
          <summary>The numbers</summary>
          <NumberTable title={title} series={series} bars={bars} barMs={barMs} />
        </details>
      )}
    </figure>
  )
}

/** Drawn as wide as there is room, so that its words are as large as the others. */
function useWidth() {
  const figure = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(720)
  useLayoutEffect(() => {
    if (!figure.current) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width || 720))
    observer.observe(figure.current)
    return () => observer.disconnect()
  }, [])
  return [figure, width] as const
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
  { since, until, barMs, by }: Pick<ChartProps, 'since' | 'until' | 'barMs' | 'by'>,
): { readonly series: readonly Series[]; readonly bars: readonly number[] } {
  const first = Math.floor(since / barMs) * barMs
  const bars = Array.from(
    { length: Math.max(1, Math.ceil((until - first) / barMs)) },
    (_, index) => first + index * barMs,
  )
  const totals = new Map<string, number>()
  for (const one of counts) totals.set(by.nameOf(one), (totals.get(by.nameOf(one)) ?? 0) + one.count)
  const names = [...totals].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
  const shown = names.length > MOST_SERIES + 1 ? [...names.slice(0, MOST_SERIES), OTHERS] : names
  const values = new Map(shown.map((name) => [name, bars.map(() => 0)]))
  for (const one of counts) {
    const row = values.get(by.nameOf(one)) ?? values.get(OTHERS)
    const index = Math.floor((Date.parse(one.hour) - first) / barMs)
    if (row?.[index] !== undefined) row[index] += one.count
  }
  const series = [...values].map(([name, row]) => ({
    name,
    look: by.lookOf(name),
    values: row,
    total: row.reduce((a, b) => a + b, 0),
  }))
  return { series, bars }
}

function summary(title: string, series: readonly Series[]): string {
  return `${title}: ${series.map(({ name, total }) => `${name} ${total}`).join(', ')}`
}

/** What a bar says when it is pointed at. */
function barText(start: number, series: readonly Series[], index: number): string {
  const parts = series.filter(({ values }) => values[index]).map(({ name, values }) => `${name} ${values[index]}`)
  return [hourText.format(start), ...(parts.length > 0 ? parts : ['nothing'])].join('\n')
}

/** Not far above it, and so that its half is whole. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const factors =
    power === 1 ? [2, 4, 6, 8] : power === 10 ? [1, 2, 3, 4, 5, 6, 8] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]
  return power * (factors.find((factor) => factor * power >= value) ?? 10)
}

function compact(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact' }).format(value)
}
