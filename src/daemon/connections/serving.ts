import type { Connection } from '../../schemas/index.ts'

/** A connection, as far as it decides which requests it is for. */
export type ConnectionAddress = Pick<Connection, 'provider' | 'connection' | 'is_default' | 'base_url'>

export type Serving<One> =
  | { readonly kind: 'one'; readonly connection: One }
  | { readonly kind: 'several'; readonly connections: readonly One[] }
  | { readonly kind: 'none' }

/**
 * Which connection of a provider a request uses that names none: the default decides among those that serve its place, and
 * where only one serves it, that is the one. Without any default, an address must say that a connection is meant.
 */
export function servingOf<One extends Pick<ConnectionAddress, 'is_default' | 'base_url'>>(
  all: readonly One[],
  serves: (one: One) => boolean,
): Serving<One> {
  const isClear = all.some(({ is_default }) => is_default)
  const serving = all.filter((one) => (isClear || one.base_url !== undefined) && serves(one))
  const [first, ...others] = serving
  const chosen = serving.find(({ is_default }) => is_default) ?? (others.length === 0 ? first : undefined)
  if (chosen !== undefined) return { kind: 'one', connection: chosen }
  return first === undefined ? { kind: 'none' } : { kind: 'several', connections: serving }
}
