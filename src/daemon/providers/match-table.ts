import { type HostPattern, isWildcard, matchesHost } from '../../network/index.ts'
import { isAtOrBelow, mayLeavePrefix } from '../../protocol/index.ts'
import { isPartOf } from './family.ts'
import type { Match, Provider, Target } from './provider.ts'

export interface MatchTable {
  match(target: Target, among: (provider: Provider) => boolean): Match
}

interface Entry {
  readonly pattern: HostPattern
  readonly provider: Provider
}

const NONE: Match = { kind: 'none' }

/**
 * Looks a request up without walking the definitions: by its exact host first, then once for each place where any
 * definition has its `*`. Of the entries found, those with the longest path prefix count.
 */
export function compileMatchTable(providers: readonly Provider[]): MatchTable {
  const exact = new Map<string, Entry[]>()
  const wildcard = new Map<string, Entry[]>()
  const places = new Map<number, Places>()
  for (const entry of entriesOf(providers)) {
    add(isWildcard(entry.pattern) ? wildcard : exact, keyOf(entry.pattern.hostPattern, entry.pattern.port), entry)
    notePlace(places, entry.pattern.hostPattern)
  }

  return {
    match(target, among) {
      const { host } = target
      const path = target.path === undefined || mayLeavePrefix(target.path) ? undefined : target.path
      const found = (entries: readonly Entry[]) => decide(entries, path, among)
      const byName = found(exact.get(keyOf(host, target.port)) ?? [])
      return byName.kind === 'none' ? found(wildcardEntries(host, target.port)) : byName
    },
  }

  function wildcardEntries(host: string, port: number): readonly Entry[] {
    const labels = host.split('.')
    return [...(places.get(labels.length)?.values() ?? [])]
      .flatMap((stars) => wildcard.get(keyOf(withStars(labels, stars), port)) ?? [])
      .filter(({ pattern }) => matchesHost(pattern.hostPattern, host))
  }
}

function entriesOf(providers: readonly Provider[]): readonly Entry[] {
  return providers.flatMap((provider) => provider.hosts.map((pattern) => ({ pattern, provider })))
}

function keyOf(host: string, port: number): string {
  return `${host}:${port}`
}

function add(index: Map<string, Entry[]>, key: string, entry: Entry): void {
  const entries = index.get(key)
  if (entries === undefined) index.set(key, [entry])
  else entries.push(entry)
}

/** Which labels are `*`: one, seldom two. By how they are written. */
type Places = Map<string, readonly number[]>

/** Which labels are `*`, by how many labels there are. */
function notePlace(places: Map<number, Places>, host: string): void {
  const labels = host.split('.')
  const stars = labels.flatMap((label, at) => (label === '*' ? [at] : []))
  if (stars.length === 0) return
  const known = places.get(labels.length)
  if (known === undefined) places.set(labels.length, new Map([[stars.join(), stars]]))
  else known.set(stars.join(), stars)
}

function withStars(labels: readonly string[], stars: readonly number[]): string {
  return stars.reduce<readonly string[]>((named, at) => named.with(at, '*'), labels).join('.')
}

function decide(entries: readonly Entry[], path: string | undefined, among: (provider: Provider) => boolean): Match {
  let longest = -1
  let best: readonly Entry[] = []
  for (const entry of entries) {
    const { pattern, provider } = entry
    const prefix = pattern.pathPrefix ?? ''
    if (prefix.length < longest || !isCovered(pattern, path) || !among(provider)) continue
    if (prefix.length > longest) best = [entry]
    else if (!best.some((other) => other.provider === provider)) best = [...best, entry]
    longest = prefix.length
  }
  const decided = best.length > 1 ? withoutWholes(best) : best
  const [only] = decided
  if (only === undefined) return NONE
  if (decided.length > 1) return { kind: 'tie', providers: decided.map(({ provider }) => provider) }
  return { kind: 'one', provider: only.provider, pattern: only.pattern }
}

/** One product's definition is more specific than that of everything its provider offers. */
function withoutWholes(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(
    (whole) => !entries.some((part) => isPartOf(part.provider.definition, whole.provider.definition)),
  )
}

function isCovered({ pathPrefix }: HostPattern, path: string | undefined): boolean {
  return pathPrefix === undefined || (path !== undefined && isAtOrBelow(pathPrefix, path))
}
