import { writeSync } from 'node:fs'
import { BrokerError } from '../../protocol/index.ts'
import { openFileJournal } from './journal.ts'

/** Writes numbers, says each that it was answered for, and is killed after so many; or is refused, and ends with 3. */
const [folder = '', most = ''] = process.argv.slice(2)
// It is drained as it goes: into nothing, slowly.
const journal = openFileJournal<number>({
  folder,
  store: () => new Promise(() => undefined),
  onFailure: () => undefined,
})
for (let row = 1; ; row += 1) {
  try {
    await journal.write(row)
  } catch (error) {
    process.exit(error instanceof BrokerError && error.name === 'DaemonUnavailableError' ? 3 : 4)
  }
  writeSync(1, `${row}\n`)
  if (row === Number(most)) process.kill(process.pid, 'SIGKILL')
}
