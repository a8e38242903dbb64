import type { Journal } from './journal.ts'

/** One statement's parameters are bounded, and others write beside. */
const MOST_AT_ONCE = 500

interface Waiting<Row> {
  readonly row: Row
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** A journal that is the log itself: rows that wait at the same moment go into it together. For a store of several daemons. */
export function openStoreJournal<Row>(store: (rows: readonly Row[]) => Promise<void>): Journal<Row> {
  let waiting: Waiting<Row>[] = []
  let storing: Promise<void> | undefined
  const storeAll = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST_AT_ONCE)
      waiting = waiting.slice(MOST_AT_ONCE)
      try {
        await store(batch.map(({ row }) => row))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    storing = undefined
  }
  return {
    write: (row) =>
      new Promise((resolve, reject) => {
        waiting.push({ row, resolve, reject })
        storing ??= Promise.resolve().then(storeAll)
      }),
    drained: async () => storing,
    close: async () => storing,
  }
}
