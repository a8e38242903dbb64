/**
 * Sealed records: the only room that knows the master key. Master key → a data key for each vault → each record sealed
 * whole and bound to its name, version and destination; a keyed manifest tells what a vault must hold.
 * Must never log, print or keep a plaintext, nor make a new key for a vault that has one.
 */

export type { AnchorFile } from './anchor.ts'
export { masterKeyOf, settleKeyFor } from './carried-key.ts'
export { systemKeyring } from './keyring.ts'
export type { MasterKeySettings } from './master-key-source.ts'
export {
  type OpenedRecord,
  openVault,
  type RecordRef,
  type SealedRecord,
  UNLOCK_HINT,
  type Vault,
} from './open-vault.ts'
export type { OutsideSeals } from './outside-seals.ts'
export type { FoundList, RightsSeals, RowKey, RowList } from './rights-seals.ts'
export type { GivenKey } from './staged-key.ts'
