import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { BrokerError } from '../protocol/index.ts'
import type { HomePaths } from './home.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** The one file of a home whose store is in it, too. */
export function anchorOfHome({ vaultAnchor }: HomePaths) {
  return {
    read: () => readPrivateFile(vaultAnchor),
    write: (text: string) => writePrivateFile(vaultAnchor, text),
  }
}

/**
 * A file for each store that the home is used with, by the id of its deployment. `earlier` is the home's one file, which
 * versions of before wrote whatever the store was.
 */
export function anchorOfDeployment({ server, vaultAnchor }: HomePaths) {
  const name = (deploymentId: string) => `vault-anchor-${deploymentId}.json`
  const pathOf = (deploymentId: string) => {
    // The id is the store's word, and becomes a part of a path here.
    if (!/^[0-9a-f-]{36}$/.test(deploymentId)) throw damagedId()
    return join(server, name(deploymentId))
  }
  return {
    name,
    read: (deploymentId: string) => readPrivateFile(pathOf(deploymentId)),
    write: (text: string, deploymentId: string) => writePrivateFile(pathOf(deploymentId), text),
    earlier: {
      read: () => readPrivateFile(vaultAnchor),
      remove: () => rmSync(vaultAnchor, { force: true }),
    },
  }
}

function damagedId(): BrokerError {
  return new BrokerError('DaemonUnavailableError', 'The store does not say which deployment it is of', {
    hint: 'It was changed outside of Broker: restore it from a backup.',
  })
}
