import type { Secret } from '../protocol/index.ts'

/** What the file of another program says of keys. */
export interface HostKeys {
  /** By the host that takes the key, in lower case. */
  readonly keys: ReadonlyMap<string, Secret>
  /** Why a key that one would look for in this file is not there. */
  readonly elsewhere?: string
}
