import type { Secret } from '../protocol/index.ts'

/** What the file of another program says of keys. */
export interface HostKeys {
  /** By the host that takes the key, in lower case. */
  readonly keys: ReadonlyMap<string, Secret>
  /** What is not taken from it and why, each to stand behind the name of the file and a colon. */
  readonly elsewhere?: readonly string[]
}
