import type { ProviderDefinition } from '../../schemas/index.ts'
import type { Db } from '../store/index.ts'
import {
  type DefinitionFile,
  fingerprint,
  readDefinitions,
  removeDefinition,
  writeDefinition,
} from './definition-files.ts'

/** Holds the definitions that did not come with the installation: a folder of a home, or the store of a deployment. */
export interface CustomDefinitions {
  /**
   * Sees what other daemons have changed; absent where none can.
   * @param tx the transaction that is about to change them
   */
  refresh?(tx?: Db): Promise<void>
  /** Changes when a definition comes, goes or is written. */
  version(): string
  /** Sorted by name. */
  files(): readonly DefinitionFile[]
  /** One sentence, where there are some that cannot be read now. */
  problem?(): string | undefined
  /** @param tx the transaction of the act, which a folder does not need */
  write(definition: ProviderDefinition, tx?: Db): Promise<void>
  /** Returns whether there was one to remove, readable or not. The name has been checked. */
  remove(name: string, tx?: Db): Promise<boolean>
}

/** The definitions of a folder, which is made when the first one is written. Files that others may write are left out. */
export function definitionFolder(dir: string): CustomDefinitions {
  return {
    version: () => fingerprint(dir),
    files: () => readDefinitions(dir, 'only the owner'),
    write: async (definition) => writeDefinition(dir, definition),
    remove: async (name) => removeDefinition(dir, name),
  }
}
