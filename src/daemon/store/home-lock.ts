import { DatabaseSync } from 'node:sqlite'
import { BrokerError } from '../../protocol/index.ts'
import { refusePlanted } from './planted-files.ts'
import { storeFailure } from './store-failure.ts'

/**
 * One daemon for a home. The lock is the operating system's, by way of SQLite: it goes with the process, however that
 * ends, and a stale file means nothing.
 * @param holder names the daemon that has the lock, for the error
 * @throws BrokerError DaemonUnavailableError
 */
export function lockHome(path: string, holder: () => string): { release(): void } {
  const database = openLock(path)
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive')
  } catch (cause) {
    database.close()
    if (!isBusy(cause)) throw storeFailure(cause)
    throw new BrokerError('DaemonUnavailableError', `Another daemon serves this home already: ${holder()}`, {
      hint: 'See `broker daemon status`; stop it with `broker daemon stop`.',
      cause,
    })
  }
  return { release: () => database.close() }
}

function openLock(path: string): DatabaseSync {
  refusePlanted(path)
  try {
    return new DatabaseSync(path)
  } catch (cause) {
    throw storeFailure(cause)
  }
}

const SQLITE_BUSY = 5

function isBusy(cause: unknown): boolean {
  return cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY
}
