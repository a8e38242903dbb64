import type { Authority, HostPattern } from '../../network/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'

/** A definition that was parsed and compiled. */
export interface Provider {
  readonly definition: ProviderDefinition
  readonly source: 'bundled' | 'custom'
  /** A custom definition that stands in for a bundled one of the same name. */
  readonly overridesBundled: boolean
  /** Every host its credentials may go to: `hosts` of the definition, and those its `base_url` template stands for. */
  readonly hosts: readonly HostPattern[]
}

/** A request, as far as it decides where it goes. */
export interface Target extends Authority {
  /** Without query, exactly as sent. A definition for a path matches only where it is given. */
  readonly path?: string
}

export type Match =
  /** `pattern` is the most specific of the provider's that the request fits. */
  | { readonly kind: 'one'; readonly provider: Provider; readonly pattern: HostPattern }
  | { readonly kind: 'none' }
  /** Equally specific: nothing may be injected. */
  | { readonly kind: 'tie'; readonly providers: readonly Provider[] }
