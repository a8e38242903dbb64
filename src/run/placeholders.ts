import { DEFAULT_PLACEHOLDER, SIGNING_FIELDS } from '../protocol/index.ts'
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
  const placeholder = definition.placeholder ?? DEFAULT_PLACEHOLDER
  return Object.entries(definition.env ?? {}).flatMap(([name, kind]) => {
    const value = kind === 'base_url' ? connection?.base_url : isAlwaysThere(definition, kind) ? placeholder : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
}

/** A field that may have no value gets no placeholder: a client would take it for one. */
function isAlwaysThere({ api_key: apiKey, signing }: ProviderDefinition, kind: string): boolean {
  if (kind === 'credential') return true
  const fields = apiKey?.fields ?? (signing ? SIGNING_FIELDS[signing.type] : [])
  return fields.some(({ name, required }) => name === kind && required)
}
