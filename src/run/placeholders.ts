import { DEFAULT_PLACEHOLDER } from '../protocol/index.ts'
import type { Connection, ProviderDefinition } from '../schemas/index.ts'

/** A provider whose credential this run may use. */
export interface Connected {
  readonly definition: ProviderDefinition
  /** Undefined where the record is not visible; then its base URL is left to the user. */
  readonly connection: Connection | undefined
}

/**
 * What stands in the variables where a connected provider's clients look for its key (contract section 9). A provider
 * without a connection gets none: it would shadow a key the user really set.
 */
export function placeholdersOf(connected: readonly Connected[]): Readonly<Record<string, string>> {
  return Object.fromEntries(connected.flatMap(entriesOf))
}

function entriesOf({ definition, connection }: Connected): readonly (readonly [string, string])[] {
  const values = {
    credential: definition.placeholder ?? DEFAULT_PLACEHOLDER,
    base_url: connection?.base_url,
  }
  return Object.entries(definition.env ?? {}).flatMap(([name, kind]) => {
    const value = values[kind]
    return value === undefined ? [] : [[name, value] as const]
  })
}
