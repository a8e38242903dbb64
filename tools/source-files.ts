import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TEST_FILE } from './arrows.ts'

export interface SourceFile {
  /** From the checkout's root, with slashes: `src/daemon/main.ts`. */
  readonly path: string
  readonly text: string
}

export const root = join(import.meta.dirname, '..')

/** Every source file of the product, without its tests. */
export function sourceFiles(): readonly SourceFile[] {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:[cm]?[tj]s|tsx)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).replaceAll('\\', '/'))
    .filter((path) => !TEST_FILE.test(path))
    .toSorted()
    .map((path) => ({ path: path.slice(root.length + 1), text: readFileSync(path, 'utf8') }))
}
