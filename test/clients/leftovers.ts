import { readdirSync, readFileSync } from 'node:fs'

/** Ends what clients left behind in the background: processes whose home is below this folder. Where there is no `/proc`, nothing. */
export function endLeftovers(folder: string): void {
  for (const pid of processes().filter((pid) => isAtHome(pid, folder))) process.kill(pid, 'SIGKILL')
}

function processes(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function isAtHome(pid: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`\0HOME=${folder}/`)
  } catch {
    return false
  }
}
