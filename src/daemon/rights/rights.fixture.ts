import { hash } from 'node:crypto'
import { Secret } from '../../protocol/index.ts'
import { openAudit } from '../audit/index.ts'
import type { Store } from '../store/index.ts'
import { type AnchorFile, openVault, systemKeyring } from '../vault/index.ts'
import { openRights } from './open-rights.ts'

export interface SealingOptions {
  readonly anchorFile?: AnchorFile
  readonly onFinding?: (what: string) => void
  readonly now?: () => number
}

/** The vault, the log and the rights that a daemon on this store has. */
export async function openSealing(store: Store, { anchorFile, onFinding, now = Date.now }: SealingOptions = {}) {
  const vault = await openVault({
    store,
    masterKey: {
      mode: 'env',
      masterKey: new Secret(hash('sha256', 'CNRY a key of tests', 'base64')),
      localKeyPath: '/nowhere',
      createFile: () => undefined,
      keyring: systemKeyring(),
    },
    anchorFile: anchorFile ?? { read: () => undefined, write: () => undefined },
    now,
  })
  const audit = openAudit(store, { now })
  const rights = openRights({ store, vault, audit, now, ...(onFinding && { onFinding }) })
  await rights.open()
  return { vault, audit, rights }
}
