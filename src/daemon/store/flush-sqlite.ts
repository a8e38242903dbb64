import { open } from 'node:fs/promises'
import { unusable } from './store-failure.ts'

/**
 * Has the disk keep what was committed so far to a database in WAL mode, on a thread that answers nobody.
 * @throws BrokerError DaemonUnavailableError
 */
export async function flushSqlite(path: string): Promise<void> {
  try {
    const log = await open(`${path}-wal`, 'r')
    try {
      await log.datasync()
    } finally {
      await log.close()
    }
  } catch (cause) {
    throw unusable('the disk failed to write', { cause })
  }
}
