import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Full path of the first of these programs that the PATH leads to; undefined where it leads to none. */
export function findProgram(
  names: readonly string[],
  { PATH = '' }: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const folders = PATH.split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
