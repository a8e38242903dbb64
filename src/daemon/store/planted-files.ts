import { lstatSync } from 'node:fs'
import { BrokerError } from '../../protocol/index.ts'

/** Files that SQLite keeps beside a database. */
const BESIDE = ['', '-wal', '-shm', '-journal']

/**
 * SQLite follows links, and reads from whatever it finds.
 * @throws BrokerError OperationNotAllowedError where a database, or a file beside it, is there and no regular file
 */
export function refusePlanted(database: string): void {
  const planted = BESIDE.map((ending) => `${database}${ending}`).find(isOther)
  if (planted === undefined) return
  throw new BrokerError('OperationNotAllowedError', `Cannot use the file "${planted}": it is a link, or no file`, {
    hint: 'Remove it, or put the file itself in its place.',
  })
}

function isOther(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === false
}
