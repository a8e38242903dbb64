import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { usePrinting } from './printing.ts'

export interface Column<Item> {
  readonly title: string
  /** Said to screen readers alone. */
  readonly isUnseen?: boolean
  readonly cell: (item: Item) => ReactNode
  readonly className?: string
}

interface RowsProps<Item> {
  readonly caption: string
  readonly columns: readonly Column<Item>[]
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
  /** Called where the last of them are near the window: there may be more to fetch. */
  readonly onEnd?: () => void
}

const ROW_HEIGHT = 53

/** A table of any length: only the rows near the window are in the document, and on paper all. */
export function Rows<Item>({ caption, columns, items, keyOf, onEnd }: RowsProps<Item>) {
  const frame = useRef<HTMLDivElement>(null)
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => setOffset(frame.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 5,
    scrollMargin: offset,
    getItemKey: (index) => {
      const item = items[index]
      return item === undefined ? index : keyOf(item)
    },
  })
  useKeptPlace(items, keyOf, offset)
  const isPrinting = usePrinting()
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)
  useLayoutEffect(() => {
    if (last !== undefined && last.index >= items.length - 20) onEnd?.()
  }, [last, items.length, onEnd])
  const before = shown[0] === undefined ? 0 : shown[0].start - offset
  const after = last === undefined ? 0 : rows.getTotalSize() - (last.end - offset)
  return (
    <div className="rows-frame" ref={frame}>
      <table className="rows" aria-rowcount={items.length + 1}>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ title, isUnseen, className }) => (
              <th key={title} scope="col" className={className}>
                {isUnseen ? <span className="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {!isPrinting && before > 0 && <Gap height={before} width={columns.length} />}
          {(isPrinting ? [...items.keys()] : shown.map(({ index }) => index)).map((index) => {
            const item = items[index]
            if (item === undefined) return null
            return (
              <tr
                key={keyOf(item)}
                data-index={index}
                ref={isPrinting ? undefined : rows.measureElement}
                aria-rowindex={index + 2}
              >
                {columns.map(({ title, cell, className, isUnseen }) => (
                  <td key={title} className={className} data-title={isUnseen ? undefined : title}>
                    {cell(item)}
                  </td>
                ))}
              </tr>
            )
          })}
          {!isPrinting && after > 0 && <Gap height={after} width={columns.length} />}
        </tbody>
      </table>
    </div>
  )
}

/** What is being read stays where it is while others are put before it. */
function useKeptPlace<Item>(items: readonly Item[], keyOf: (item: Item) => string, offset: number): void {
  const first = useRef<string | undefined>(undefined)
  useLayoutEffect(() => {
    const [item] = items
    const before = first.current
    first.current = item && keyOf(item)
    if (before === undefined || before === first.current || scrollY <= offset) return
    const added = items.findIndex((one) => keyOf(one) === before)
    if (added > 0) scrollBy(0, added * ROW_HEIGHT)
  }, [items, keyOf, offset])
}

function Gap({ height, width }: { readonly height: number; readonly width: number }) {
  return (
    <tr className="gap">
      <td colSpan={width} style={{ height }} />
    </tr>
  )
}
