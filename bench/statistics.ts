/** Half of the values are below it. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The value below which `share` of the values are (nearest rank); NaN where there is none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export interface Ratio {
  readonly median: number
  /** Smallest and largest of the rounds. */
  readonly spread: readonly [number, number]
}

/** Each value to the one that was taken beside it in the same round. */
export function ratioOf(values: readonly number[], baseline: readonly number[]): Ratio {
  const ratios = values.map((value, round) => value / (baseline[round] ?? Number.NaN))
  return { median: median(ratios), spread: [Math.min(...ratios), Math.max(...ratios)] }
}
