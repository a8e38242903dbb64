import { width } from './line-editor.ts'
import { fitting } from './prompt.ts'

/** How a table gives way where a terminal has too few columns for it. */
export interface Narrowing {
  /** The title of the last column, which then goes below its row. */
  readonly below?: string
  /** Titles of columns that may be shortened, the least important one first: none that has to be copied from here. */
  readonly shorten?: readonly string[]
}

export interface TableLine {
  readonly kind: 'header' | 'row' | 'below'
  readonly text: string
}

const GAP = '  '
const INDENT = '    '
/** Cells that a shortened column keeps. */
const LEAST = 8

/** A header and its rows, each no wider than `columns` as far as {@link Narrowing} lets them. */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { below, shorten = [], columns }: Narrowing & { readonly columns: number },
): readonly TableLine[] {
  const natural = widthsOf(header, rows)
  const isBelow = below !== undefined && header.at(-1) === below && totalOf(natural) > columns
  const shown = isBelow ? header.slice(0, -1) : header
  const widths = narrowed(isBelow ? natural.slice(0, -1) : natural, shown, shorten, columns)
  const line = (row: readonly string[]) =>
    widths
      .map((cells, column) => padded(fitting(row[column] ?? '', cells), cells))
      .join(GAP)
      .trimEnd()
  return [
    { kind: 'header', text: line(shown) },
    ...rows.flatMap((row): readonly TableLine[] => {
      const rest = isBelow ? (row.at(-1) ?? '-') : '-'
      const more =
        rest === '-' ? [] : [{ kind: 'below', text: INDENT + fitting(rest, columns - INDENT.length) } as const]
      return [{ kind: 'row', text: line(row) }, ...more]
    }),
  ]
}

function widthsOf(header: readonly string[], rows: readonly (readonly string[])[]): readonly number[] {
  return header.map((title, column) => Math.max(width(title), ...rows.map((row) => width(row[column] ?? ''))))
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, cells) => sum + cells, GAP.length * (widths.length - 1))
}

function narrowed(
  natural: readonly number[],
  header: readonly string[],
  shorten: readonly string[],
  columns: number,
): readonly number[] {
  const widths = [...natural]
  for (const title of shorten) {
    const column = header.indexOf(title)
    const own = widths[column]
    if (own === undefined) continue
    const excess = Math.max(0, totalOf(widths) - columns)
    widths[column] = Math.max(Math.min(own, LEAST), own - excess)
  }
  return widths
}

function padded(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - width(text)))
}
