/** Numbers of events that never came, both ends included. */
export interface Gap {
  readonly from: number
  readonly to: number
  readonly count: number
}

export interface Batch {
  /** Of the last event that is stored, as the sender knows. */
  readonly after: number
  /** The same, as far as this daemon saw; undefined where another had the channel before. */
  readonly stored: number | undefined
  /** Of the events that came, in the order of their sending. */
  readonly numbers: readonly number[]
}

/** Finds what is missing before and among the events of a batch. Events that come again are no gap. */
export function findGaps({ after, stored, numbers }: Batch): readonly Gap[] {
  const gaps: Gap[] = []
  let last = stored ?? after
  for (const number of numbers) {
    if (number > last + 1) gaps.push({ from: last + 1, to: number - 1, count: number - last - 1 })
    last = Math.max(last, number)
  }
  return gaps
}
