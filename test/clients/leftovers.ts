import { readdirSync, readFileSync } from 'node:fs'

/** Ends what a client left behind in the background: processes whose home is this one. Where there is no `/proc`, nothing. */
export function endLeftovers(home: string): void {
  for (const pid of processes().filter((pid) => isAtHome(pid, home))) process.kill(pid, 'SIGKILL')
}

function processes(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function isAtHome(pid: number, home: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`HOME=${home}`)
  } catch {
    return false
  }
}
