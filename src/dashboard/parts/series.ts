import type { AuditCounts } from '../../schemas/index.ts'

type Count = AuditCounts['counts'][number]

/** A color and a pattern over it, by the names that the stylesheet and the chart have for them. */
export interface Look {
  readonly color: string
  /** 0 is plain. */
  readonly pattern: number
}

const COLORS = 6
const PATTERNS = 6
export const OTHERS = 'others'
const OTHERS_LOOK: Look = { color: 'others', pattern: 5 }

/** What failed and what was denied look so wherever they are drawn, and no service does. */
const OUTCOMES: Readonly<Record<Count['status'], { readonly name: string; readonly look: Look }>> = {
  success: { name: 'OK', look: { color: 'ok', pattern: 0 } },
  failure: { name: 'failed', look: { color: 'failed', pattern: 1 } },
  denied: { name: 'denied', look: { color: 'denied', pattern: 2 } },
}

/** How counts are told apart in a picture. */
export interface Grouping {
  readonly nameOf: (count: Count) => string
  readonly lookOf: (name: string) => Look
}

export const byOutcome: Grouping = {
  nameOf: ({ status }) => OUTCOMES[status].name,
  lookOf: (name) => Object.values(OUTCOMES).find((one) => one.name === name)?.look ?? OTHERS_LOOK,
}

/**
 * A service looks the same whatever else is drawn.
 * @param known services in an order that new ones do not change: each has a look of its own
 */
export function byProvider(known: readonly string[]): Grouping {
  const places = new Map([...new Set(known)].map((name, index) => [name, index]))
  return {
    nameOf: ({ provider }) => provider ?? 'no provider',
    lookOf: (name) => (name === OTHERS ? OTHERS_LOOK : lookAt(places.get(name) ?? placeOfUnknown(name))),
  }
}

function lookAt(place: number): Look {
  const round = Math.floor(place / COLORS)
  return { color: String(place % COLORS), pattern: (place + round) % PATTERNS }
}

/** Of a service that is not connected any more: from its name alone. */
function placeOfUnknown(name: string): number {
  let hash = 7
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521
  return hash % (COLORS * PATTERNS)
}
