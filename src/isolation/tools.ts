import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { IsolationUnavailable } from './level.ts'

/** The programs of the system that isolation is made with. */
export type SystemTool = 'bwrap' | 'nsenter' | 'setpriv'

const PACKAGES: Readonly<Record<SystemTool, string>> = {
  bwrap: 'bubblewrap',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
}

/** Full path of a tool on the PATH. @throws IsolationUnavailable where it leads to none */
export function systemTool(name: SystemTool, { PATH = '' }: Readonly<Record<string, string | undefined>>): string {
  const found = PATH.split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable)
  if (found !== undefined) return found
  throw new IsolationUnavailable(`there is no ${name} on the PATH, which the package ${PACKAGES[name]} brings`)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
