/** The word that somebody may have meant: of the candidates the one with the fewest mistakes, if they are few enough. */
export function nearestWord(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let fewest = Math.floor(Math.min(word.length, 9) / 3)
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > fewest) continue
    const count = mistakes(word, candidate)
    if (count <= fewest && count > 0) [best, fewest] = [candidate, count - 1]
  }
  return best
}

/** Characters too many, missing, wrong or swapped (optimal string alignment distance). */
function mistakes(one: string, other: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row.push(
        Math.min(
          (last[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (last[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwap ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[other.length] ?? 0
}
