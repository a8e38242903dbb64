import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../tools/available.ts'

/** A PATH of one new folder, with what `broker` itself needs and no bubblewrap, or this script in its place. */
export function pathWith(folder: string, bwrap?: string): string {
  mkdirSync(folder, { recursive: true })
  for (const name of ['sh', 'true', 'nsenter', 'setpriv', 'env', 'readlink', 'dirname', 'touch']) {
    const found = findProgram(name)
    if (found && !existsSync(join(folder, name))) symlinkSync(found, join(folder, name))
  }
  if (bwrap !== undefined) {
    writeFileSync(join(folder, 'bwrap'), bwrap)
    chmodSync(join(folder, 'bwrap'), 0o755)
  }
  return folder
}
