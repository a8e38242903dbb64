import { formatPattern, overlap } from '../../network/index.ts'
import type { ErrorDetail } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { compileHosts } from './base-url.ts'
import { hostNeighbours } from './host-neighbours.ts'
import { tryDefinition } from './parse-definition.ts'
import type { Provider } from './provider.ts'

/** What is to be said of one of several definitions before any is used. */
export interface CheckedDefinition {
  /** As far as it has one. */
  readonly name: string | undefined
  /** Undefined where there are problems. */
  readonly definition: ProviderDefinition | undefined
  /** Paths are those within the definition. */
  readonly problems: readonly ErrorDetail[]
  /** Sentences, each on a name or host that another provider, or another of these, has already. */
  readonly conflicts: readonly string[]
}

/** @param providers those that are there already */
export function checkDefinitions(
  values: readonly unknown[],
  providers: readonly Provider[],
): readonly CheckedDefinition[] {
  const byName = new Map(providers.map((one) => [one.definition.name, one]))
  const neighbours = hostNeighbours(providers)
  const names = new Set<string>()
  return values.map((value) => {
    const outcome = tryDefinition(value)
    if ('details' in outcome) {
      return { name: nameIn(value), definition: undefined, problems: outcome.details, conflicts: [] }
    }
    const { definition } = outcome
    const { name } = definition
    if (names.has(name)) {
      const problems = [{ path: 'name', message: 'is that of another definition, too, that is given here' }]
      return { name, definition: undefined, problems, conflicts: [] }
    }
    names.add(name)
    const hosts = compileHosts(definition)
    const same = byName.get(name)
    const others = [...(same ? [same] : []), ...neighbours.of({ definition, hosts })]
    // A provider that one of these replaces is there twice.
    const conflicts = [...new Set(conflictsOf(definition, others, overlap))]
    neighbours.add({ definition, source: 'custom', overridesBundled: same !== undefined, hosts })
    return { name, definition, problems: [], conflicts }
  })
}

function nameIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value)) return undefined
  return typeof value.name === 'string' && /^[ -~]{1,64}$/.test(value.name) ? value.name : undefined
}

/** Sentences, each on one thing that is taken already. */
export function conflictsOf(
  definition: ProviderDefinition,
  providers: readonly Provider[],
  isTaken: typeof overlap,
): readonly string[] {
  const hosts = compileHosts(definition)
  return providers.flatMap((other) => {
    if (other.definition.name === definition.name) return [`It replaces the ${other.source} provider of the same name`]
    const shared = hosts.find((host) => other.hosts.some((theirs) => isTaken(host, theirs)))
    return shared === undefined ? [] : [`${formatPattern(shared)} belongs to provider "${other.definition.name}" too`]
  })
}
