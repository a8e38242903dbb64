/**
 * How a credential stands in a request: the kinds of places, each with all that definitions, the daemon, the proxy and the
 * audit log know of it. Pure: it knows no service and opens nothing. The daemon may not add a place that is not here.
 */
export { auditedTarget } from './audited-target.ts'
export type { Place, PlaceKind, ResolvedCredential } from './place.ts'
export { PLACES, placeTypeOf, type Template } from './places.ts'
export { RequestDraft, spelled } from './request-draft.ts'
export { fromWire, toPlainWire, toWire } from './wire.ts'
