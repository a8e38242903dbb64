import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { Secret } from '../protocol/index.ts'
import { readForeignFile } from './foreign-file.ts'

/** The source of what is in the process's own environment. */
export const ENVIRONMENT = 'environment'

/** Where a variable's value was found: {@link ENVIRONMENT}, or the name of the file. */
export interface FoundVariable {
  readonly name: string
  readonly source: string
  readonly value: Secret
}

/** The first one wins; the process's own environment wins over all of them. */
const FILES = ['.env.development.local', '.env.local', '.env.development', '.env'] as const

/**
 * Finds `names` in the environment and in the .env files of `folder`, each once. Files are read, never run: what would
 * need a shell to become a value is none. `warn` hears of a file or a value that cannot be used, and why.
 */
export function findVariables(
  names: ReadonlySet<string>,
  environment: Readonly<Record<string, string>>,
  folder: string,
  warn: (message: string) => void,
): ReadonlyMap<string, FoundVariable> {
  const found = new Map<string, FoundVariable>()
  const take = (source: string, variables: Readonly<Record<string, string | undefined>>) => {
    for (const [name, value = ''] of Object.entries(variables)) {
      if (!names.has(name) || found.has(name) || value.trim() === '') continue
      const problem = problemOf(value, source)
      if (problem === undefined) found.set(name, { name, source, value: new Secret(value) })
      else warn(`${name} in ${source} was not used: ${problem}`)
    }
  }
  take(ENVIRONMENT, environment)
  for (const file of FILES) {
    const text = readForeignFile(join(folder, file), (why) => warn(`${file} was not read: ${why}`))
    if (text !== undefined) take(file, parseEnv(text))
  }
  return found
}

/** In the environment a shell has been at work already. */
function problemOf(value: string, source: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'it has several lines'
  const isMade = source !== ENVIRONMENT && /\$[({]|^\$\w+$/.test(value)
  return isMade ? 'a shell would have to make its value ("$…"), and files are not run' : undefined
}
