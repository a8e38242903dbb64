import type { ProviderDefinition } from '../../schemas/index.ts'

type Member = Pick<ProviderDefinition, 'name' | 'part_of' | 'oauth'>

/**
 * Returns whether `part` is one product of what `whole` logs in to. On a host of both it is the more specific one, and an app
 * that was made for one is good for the other: both show it at the same endpoint, or they are no family.
 */
export function isPartOf(part: Member, whole: Member): boolean {
  return part.part_of === whole.name && tokenUrl(part) !== undefined && tokenUrl(part) === tokenUrl(whole)
}

export function isOneFamily(one: Member, other: Member): boolean {
  return isPartOf(one, other) || isPartOf(other, one)
}

function tokenUrl({ oauth }: Member): string | undefined {
  return oauth?.token_url
}
