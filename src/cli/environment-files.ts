import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { Secret } from '../protocol/index.ts'

/** Where a variable's value was found: `environment`, or the name of the file. */
export interface FoundVariable {
  readonly name: string
  readonly source: string
  readonly value: Secret
}

/** The first one wins; the process's own environment wins over all of them. */
const FILES = ['.env.development.local', '.env.local', '.env.development', '.env'] as const
const MAX_BYTES = 1024 * 1024

/**
 * Finds `names` in the environment and in the .env files of `folder`, each once. Files are read, never run: what would
 * need a shell to become a value is none. `skip` hears of a file that cannot be used and why.
 */
export function findVariables(
  names: ReadonlySet<string>,
  environment: Readonly<Record<string, string>>,
  folder: string,
  skip: (file: string, why: string) => void,
): ReadonlyMap<string, FoundVariable> {
  const found = new Map<string, FoundVariable>()
  const take = (source: string, variables: Readonly<Record<string, string | undefined>>) => {
    for (const [name, value] of Object.entries(variables)) {
      if (names.has(name) && !found.has(name) && isValue(value))
        found.set(name, { name, source, value: new Secret(value) })
    }
  }
  take('environment', environment)
  for (const file of FILES) {
    const text = readEnvironmentFile(folder, file, (why) => skip(file, why))
    if (text !== undefined) take(file, parseEnv(text))
  }
  return found
}

function isValue(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '' && !/[$][({]/.test(value) && !/[\0\r\n]/.test(value)
}

function readEnvironmentFile(folder: string, file: string, skip: (why: string) => void): string | undefined {
  const path = join(folder, file)
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return undefined
  if (stat.isSymbolicLink() && !staysIn(path, folder)) return refuse(skip, 'it is a link out of this folder')
  try {
    return readText(path, skip)
  } catch (error) {
    return refuse(
      skip,
      error instanceof Error && 'code' in error ? `it cannot be read (${error.code})` : 'it cannot be read',
    )
  }
}

function staysIn(path: string, folder: string): boolean {
  try {
    return dirname(realpathSync(path)) === realpathSync(folder)
  } catch {
    return false
  }
}

function readText(path: string, skip: (why: string) => void): string | undefined {
  // Without waiting: a FIFO must not hold the command up.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) return refuse(skip, 'it is no regular file')
    if (stat.size > MAX_BYTES) return refuse(skip, 'it is larger than 1 MiB')
    const bytes = Buffer.alloc(stat.size)
    const length = readSync(descriptor, bytes, 0, stat.size, 0)
    if (bytes.includes(0)) return refuse(skip, 'it is not text')
    return bytes.toString('utf8', 0, length).replace(/^\uFEFF/, '')
  } finally {
    closeSync(descriptor)
  }
}

function refuse(skip: (why: string) => void, why: string): undefined {
  skip(why)
  return undefined
}
