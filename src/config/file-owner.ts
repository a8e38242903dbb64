import type { Stats } from 'node:fs'

/** Returns whether a file or folder belongs to another user. */
export function isForeign(stat: Stats): boolean {
  return process.getuid !== undefined && stat.uid !== process.getuid()
}
