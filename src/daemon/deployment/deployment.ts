import type { SigningKey } from '../../identity/index.ts'
import type { Actor } from '../../protocol/index.ts'
import type { CatalogueStore, CustomDefinitions } from '../providers/index.ts'

export interface Deployment {
  /**
   * The key that clients know the daemons by.
   * @throws BrokerError DaemonUnavailableError where it cannot be had: the vault is sealed, or somebody removed the key
   */
  key(): Promise<SigningKey>
  readonly definitions: CustomDefinitions
  readonly catalogue: CatalogueStore
  /** Returns what is wrong with it, as sentences; nothing while the vault is sealed. */
  issues(): Promise<readonly string[]>
  /** Takes it as it is, after damage or a restored backup, where there is something wrong with it. */
  restore(actor: Actor): Promise<void>
}

/** That of a home, whose files are its own. */
export function deploymentOfHome(
  key: SigningKey,
  { definitions, catalogue }: Pick<Deployment, 'definitions' | 'catalogue'>,
): Deployment {
  return {
    key: async () => key,
    definitions,
    catalogue,
    issues: async () => [],
    restore: async () => undefined,
  }
}
