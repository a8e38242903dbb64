import type { Secret } from '../protocol/index.ts'
import type { PLACES } from './places.ts'

/** The kinds of places of a request that can carry a credential. */
export type PlaceKind = keyof typeof PLACES

/** One place of a request, and what goes there. What the client sent under its name is taken out first. */
export interface Place {
  readonly in: PlaceKind
  /** Of the header, parameter, cookie or form field; of JSON its pointer; of a path, what stands before the value. As in the definition. */
  readonly name: string
  /** As it is before the place encodes it: `user:password` for Basic. Absent where nothing takes the place of the client's. */
  readonly value?: Secret
  /** Set only where the client sent none: API versions and the like. */
  readonly onlyIfAbsent?: true
  /** Of a `websocket`: how many text messages it is looked for in. */
  readonly frames?: number
}

/** What one request carries, and whose it is. */
export interface ResolvedCredential {
  readonly provider: string
  readonly connection: string
  readonly places: readonly Place[]
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** Which credential this is, where one that the host refuses can be refreshed. */
  readonly version?: number
  /** Of the daemon: that it is made of what is stored, and is not that itself. */
  readonly made?: 'signature' | 'token'
  /** Of the proxy: the number under which the daemon recorded that it was given out. */
  readonly release?: number
}
