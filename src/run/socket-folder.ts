import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const LONGEST_RUN_MS = 8 * 24 * 60 * 60 * 1000

/** Removes what runs left there that were killed: no run lives as long as that. Then makes a folder for the sockets of one. */
export function createSocketFolder(parent: string): string {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat && stat.mtimeMs < Date.now() - LONGEST_RUN_MS) rmSync(path, { recursive: true, force: true })
  }
  return mkdtempSync(join(parent, 'r'))
}
