import { join } from 'node:path'
import type { Client, Place } from './client.ts'

/** A client that is about to be run. */
export interface Start {
  readonly client: Client
  /** Of `broker run`. */
  readonly env: Readonly<Record<string, string>>
  readonly place: Place
  /** To be called when the first piece of the stream is shown. */
  readonly onFirst: () => void
}

/** Writes down the environment, to be searched with the files, and becomes the command. */
const RECORDING = ['sh', '-c', 'env >"$0"; exec "$@"']

/** The arguments of `broker`. */
export function commandOf({ client, place }: Start): readonly string[] {
  return ['run', '--', ...RECORDING, join(place.temporary, 'environment'), ...client.command]
}
