import { join } from 'node:path'
import { root } from './source-files.ts'

/** The daemon as one file: two folders below the root, from where it finds what its sources find. */
export const BUNDLED_DAEMON = join(root, '.suites/daemon/main.js')

export const ALL_SUITES: readonly string[] = ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts']

/**
 * Patterns of the suites of some rooms, by the name of their directory (`vault`, `daemon/vault`), and of some paths.
 * @param paths of a file of tests, or of a folder
 */
export function suitesOf(rooms: readonly string[], paths: readonly string[]): readonly string[] {
  return [...rooms.flatMap(ofRoom), ...paths.map(ofPath)]
}

function ofRoom(room: string): readonly string[] {
  return [`src/${room}/**/*.test.ts`, `src/daemon/${room}/**/*.test.ts`]
}

function ofPath(path: string): string {
  return path.endsWith('.ts') ? path : `${path.replace(/\/$/, '')}/**/*.test.ts`
}
