import { Secret } from '../protocol/index.ts'
import type { Resolution } from '../schemas/index.ts'
import type { Place, ResolvedCredential } from './place.ts'
import { PLACES } from './places.ts'

type WirePlace = NonNullable<Resolution['places']>[number]

/** As the daemon answers a client that puts it into the request itself: each credential once. */
export function toWire(resolved: ResolvedCredential): Resolution {
  return { ...aboutOf(resolved), places: resolved.places.map(revealed) }
}

/** As the daemon answers a program: headers and parameters by name, and all places where those cannot say it. */
export function toPlainWire(resolved: ResolvedCredential): Resolution & { readonly headers: Record<string, string> } {
  const places = resolved.places.map(revealed)
  return { ...aboutOf(resolved), ...plainOf(places), ...(!places.every(isPlain) && { places }) }
}

function aboutOf({ provider, connection, expiresAt, version }: ResolvedCredential) {
  return {
    provider,
    connection,
    ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
    ...(version !== undefined && { version }),
  }
}

function revealed({ in: kind, name, value, onlyIfAbsent, frames }: Place): WirePlace {
  return {
    in: kind,
    name,
    ...(value !== undefined && { value: value.reveal() }),
    ...(onlyIfAbsent && { only_if_absent: true }),
    ...(frames !== undefined && { frames }),
  }
}

function plainOf(places: readonly WirePlace[]) {
  const all = places.map(({ in: kind, name, value }) => (value === undefined ? {} : PLACES[kind].plain(name, value)))
  const headers: Record<string, string> = Object.assign({}, ...all.map((one) => one.headers))
  const query: Record<string, string> = Object.assign({}, ...all.map((one) => one.query))
  return { headers, ...(Object.keys(query).length > 0 && { query }) }
}

/** Returns whether headers and parameters say all of it. */
function isPlain({ in: kind, name, value, only_if_absent }: WirePlace): boolean {
  return value !== undefined && !only_if_absent && Object.keys(PLACES[kind].plain(name, value)).length > 0
}

/** Returns what the daemon answered to a question for `places`, each value a secret from here on. */
export function fromWire(resolution: Resolution & { readonly release?: number }): ResolvedCredential {
  const { provider, connection, places = [], expires_at, version, release } = resolution
  return {
    provider,
    connection,
    places: places.map(placeOf),
    ...(expires_at !== undefined && { expiresAt: Date.parse(expires_at) }),
    ...(version !== undefined && { version }),
    ...(release !== undefined && { release }),
  }
}

function placeOf({ in: kind, name, value, only_if_absent, frames }: WirePlace): Place {
  return {
    in: kind,
    name,
    ...(value !== undefined && { value: new Secret(value) }),
    ...(only_if_absent && { onlyIfAbsent: true }),
    ...(frames !== undefined && { frames }),
  }
}
