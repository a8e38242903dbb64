import { type Config, folderOfHome, privateFolder } from '../config/index.ts'
import { BrokerError, type Secret } from '../protocol/index.ts'
import { type MovedTables, moveStore } from './copies/index.ts'
import { homeLock, homeStore } from './settings.ts'
import { readStore, type StoreLocation } from './store/index.ts'
import { takeNewStore } from './take-new-store.ts'

export interface MoveOrder {
  readonly to: 'postgres' | 'sqlite'
  /** Address of the Postgres, whichever end that is. */
  readonly url: Secret
  /** Of Broker. */
  readonly version: string
}

/**
 * Copies the store of a home into an empty Postgres, or one from there into the home. What it is copied from stays as it is.
 * @throws BrokerError ConflictError where the other end is not empty, DaemonUnavailableError while a daemon of the home runs
 */
export async function moveHome(config: Config, { to, url, version }: MoveOrder): Promise<MovedTables> {
  const { paths } = config
  privateFolder(paths.home)
  folderOfHome(paths.server)
  const lock = homeLock(config)
  try {
    const [home, postgres] = [homeStore(config), { kind: 'postgres', url } as const]
    if (to === 'postgres') return await moveStore(home, postgres, version)
    if (await isThere(home)) {
      throw new BrokerError('ConflictError', 'This home has a store already; nothing of it was changed', {
        hint: 'Use a home without one: BROKER_HOME=<folder> broker store migrate --to sqlite',
      })
    }
    return await takeNewStore(home, (draft) => moveStore(postgres, draft, version))
  } finally {
    lock.release()
  }
}

async function isThere(location: StoreLocation): Promise<boolean> {
  try {
    return await readStore(location, async () => true)
  } catch (error) {
    if (error instanceof BrokerError && error.name === 'NotFoundError') return false
    throw error
  }
}
