import type { HostPattern } from '../../network/index.ts'
import type { AuthType, Secret } from '../../protocol/index.ts'
import type { Resolution } from '../../schemas/index.ts'
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

/** What the proxy is told to put into a request. @param pattern the one of the definition's that the request fits */
export function resolutionOf({ definition }: Provider, carried: CarriedCredential, pattern: HostPattern): Resolution {
  const { provider, connection, authType, credential, expiresAt, version } = carried
  const { headers, ifAbsent, query, path } = injectionFor(definition, authType, credential, pattern)
  const parameters = Object.entries(query)
  return {
    provider,
    connection,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])),
    ...(ifAbsent.length > 0 && { if_absent: [...ifAbsent] }),
    ...(parameters.length > 0 && {
      query: Object.fromEntries(parameters.map(([name, value]) => [name, value.reveal()])),
    }),
    ...(path !== undefined && { path: { prefix: path.prefix, segment: path.segment.reveal() } }),
    ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
    ...(version !== undefined && { version }),
  }
}
