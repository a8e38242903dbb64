import type { Connection } from '../../schemas/index.ts'

/** A connection, as far as it decides which requests it is for. */
export type ConnectionAddress = Pick<Connection, 'provider' | 'connection' | 'is_default' | 'base_url' | 'created_at'>

/**
 * Returns which connection of a provider a request uses that names none: of those that serve its place the default, and where it
 * is for another place, the first that was made, as the first of all becomes the default. Without any default, an
 * address must say that a connection is meant.
 */
export function servingOf<One extends Omit<ConnectionAddress, 'provider'>>(
  all: readonly One[],
  serves: (one: One) => boolean,
): One | undefined {
  const isClear = all.some(({ is_default }) => is_default)
  const serving = all.filter((one) => (isClear || one.base_url !== undefined) && serves(one))
  return serving.find(({ is_default }) => is_default) ?? serving.toSorted(byAge)[0]
}

function byAge(a: Omit<ConnectionAddress, 'provider'>, b: Omit<ConnectionAddress, 'provider'>): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1
  return a.connection < b.connection ? -1 : 1
}
