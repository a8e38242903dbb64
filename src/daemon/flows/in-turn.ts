import { BadAnswer, isForLater, Unreachable, type UnreachableKind } from './provider-failure.ts'

/** How long one place may keep the next from being asked. */
const PATIENCE_MS = 3000

export type Look<Found> = () => Promise<Found | undefined>

/**
 * Returns what the first place that has something says. A place in trouble, or one that keeps its answer back, does not stop
 * those behind it; where none of them has anything, the late ones are heard after all. Undefined where all have nothing.
 * @throws what the first one in trouble said, where no other has anything; at once what is no trouble of one place
 */
export async function firstInTurn<Found>(looks: readonly Look<Found>[]): Promise<Found | undefined> {
  const late: Look<Found>[] = []
  const troubles: unknown[] = []
  const heard = async <Answer>(look: () => Promise<Answer>) => {
    try {
      return await look()
    } catch (error) {
      if (!isOfOnePlace(error)) throw error
      troubles.push(error)
      return undefined
    }
  }
  for (const look of looks) {
    const answer = look()
    const found = await heard(() => withinPatience(answer))
    if (found === LATE) late.push(() => answer)
    else if (found !== undefined) return found
  }
  for (const look of late) {
    const found = await heard(look)
    if (found !== undefined) return found
  }
  if (troubles.length > 0) throw troubles[0]
  return undefined
}

export const LATE: unique symbol = Symbol('late')

/** The answer, or that it has not come yet; whatever comes of it later is nobody's failure. */
export async function withinPatience<Answer>(answer: Promise<Answer>): Promise<Answer | typeof LATE> {
  const { promise, resolve } = Promise.withResolvers<typeof LATE>()
  const timer = setTimeout(() => resolve(LATE), PATIENCE_MS)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
    answer.catch(() => undefined)
  }
}

const ONE_PLACE: ReadonlySet<UnreachableKind> = new Set([
  'reset',
  'cut_off',
  'not_http',
  'time_limit',
  'too_long',
  'encoding',
])

/** Trouble that another place of the same server need not have. */
export function isOfOnePlace(error: unknown): boolean {
  if (error instanceof Unreachable) return ONE_PLACE.has(error.kind)
  return error instanceof BadAnswer && isForLater(error.status)
}
