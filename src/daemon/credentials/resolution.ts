import type { ResolvedCredential } from '../../injection/index.ts'
import type { HostPattern } from '../../network/index.ts'
import type { AuthType, Secret } from '../../protocol/index.ts'
import { injectionFor, type Provider } from '../providers/index.ts'

/** A credential as one request carries it. */
export interface CarriedCredential {
  readonly provider: string
  readonly connection: string
  readonly authType: AuthType
  readonly credential: Readonly<Record<string, Secret>>
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** Which it is, where another can be had in its place. */
  readonly version?: number
}

/** Returns what the proxy is told to put into a request. @param pattern the one of the definition's hosts that the request fits */
export function resolutionOf(
  { definition }: Provider,
  { provider, connection, authType, credential, expiresAt, version }: CarriedCredential,
  pattern: HostPattern,
): ResolvedCredential {
  return {
    provider,
    connection,
    places: injectionFor(definition, authType, credential, pattern),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(version !== undefined && { version }),
  }
}
