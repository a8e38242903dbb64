import { DatabaseSync } from 'node:sqlite'
import { BrokerError } from '../../protocol/index.ts'

/**
 * One daemon for a home. The lock is the operating system's, by way of SQLite: it goes with the process, however that
 * ends, and a stale file means nothing.
 * @param holder names the daemon that has the lock, for the error
 * @throws BrokerError DaemonUnavailableError
 */
export function lockHome(path: string, holder: () => string): { release(): void } {
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive')
  } catch (cause) {
    database.close()
    throw new BrokerError('DaemonUnavailableError', `Another daemon serves this home already: ${holder()}`, {
      hint: 'See `broker daemon status`; stop it with `broker daemon stop`.',
      cause,
    })
  }
  return { release: () => database.close() }
}
