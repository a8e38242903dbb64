import type { Place } from './place.ts'
import { PLACES } from './places.ts'

/** Gives the client's request target as the audit log may show it, where a credential stands in these places. */
export function auditedTarget(places: readonly Pick<Place, 'in' | 'name'>[], target: string): string {
  return places.reduce((shown, { in: kind, name }) => PLACES[kind].audited(shown, name), target)
}
