import type { ProviderDefinition } from '../../schemas/index.ts'
import { type DestinationDifference, differenceOf, isSameDestination } from './destination-difference.ts'
import { type CredentialKind, destinationText } from './destination-digest.ts'

/** What becomes of definitions, by name. */
export interface CatalogueDifference {
  readonly added: readonly { readonly name: string; readonly hosts: readonly string[] }[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** Of the changed, those whose credentials go elsewhere or in another form. */
  readonly moved: readonly (Pick<DestinationDifference, 'added' | 'removed'> & { readonly name: string })[]
}

const KINDS = ['api_key', 'oauth2', 'signing', 'client_credentials'] as const satisfies readonly CredentialKind[]

/** Returns what changes where the one stand in for the others. */
export function catalogueDifference(
  before: readonly ProviderDefinition[],
  after: readonly ProviderDefinition[],
): CatalogueDifference {
  const [old, present] = [byName(before), byName(after)]
  const changed = [...present.values()].flatMap((definition) => {
    const last = old.get(definition.name)
    return last && JSON.stringify(last) !== JSON.stringify(definition) ? [{ last, definition }] : []
  })
  return {
    added: [...present.values()].filter(({ name }) => !old.has(name)).map(({ name, hosts }) => ({ name, hosts })),
    changed: changed.map(({ definition }) => definition.name),
    removed: [...old.keys()].filter((name) => !present.has(name)),
    moved: changed.flatMap(({ last, definition }) => moveOf(last, definition)),
  }
}

function byName(definitions: readonly ProviderDefinition[]): ReadonlyMap<string, ProviderDefinition> {
  return new Map(definitions.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((one) => [one.name, one]))
}

function moveOf(last: ProviderDefinition, definition: ProviderDefinition): CatalogueDifference['moved'] {
  const differences = KINDS.map((kind) => differenceOf(destinationText(last, kind), destinationText(definition, kind)))
  if (differences.every(isSameDestination)) return []
  const lines = (side: 'added' | 'removed') => ({
    hosts: union(differences.flatMap((one) => one[side].hosts)),
    injections: union(differences.flatMap((one) => one[side].injections)),
    endpoints: union(differences.flatMap((one) => one[side].endpoints)),
  })
  return [{ name: definition.name, added: lines('added'), removed: lines('removed') }]
}

function union(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)]
}
