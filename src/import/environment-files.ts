import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { Secret } from '../protocol/index.ts'
import { readForeignFile } from './foreign-file.ts'
import { whyNoKey } from './no-key.ts'
import { Broken } from './structured-text.ts'
import { structuredVariables, type WrittenVariable } from './variable-file.ts'

/** The source of what is in the process's own environment. */
export const ENVIRONMENT = 'environment'

/** Where a variable's value was found: {@link ENVIRONMENT}, or the name of the file. */
export interface FoundVariable {
  readonly name: string
  readonly source: string
  /** What of the source it is for, in words: `service "web"`. */
  readonly of?: string
  readonly value: Secret
}

/** The source, with what of it is meant. */
export function placeOf({ source, of }: Pick<FoundVariable, 'source' | 'of'>): string {
  return of === undefined ? source : `${source} (${of})`
}

/** The first one wins; the process's own environment wins over all of them. */
const FILES = ['.env.development.local', '.env.local', '.env.development', '.env'] as const

export interface FoundVariables {
  /** Each once, by name. */
  readonly found: ReadonlyMap<string, FoundVariable>
  /** Which were there, by name the place of each, and had no value that can be used. */
  readonly unread: ReadonlyMap<string, string>
  /** Others that may hold a key, where they were found first. */
  readonly others: readonly Pick<FoundVariable, 'name' | 'source'>[]
}

export interface FindVariablesOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string
  /** Read after those of the folder, by their paths. */
  readonly files?: readonly string[]
  /** Hears of a file or a value that cannot be used, and why. */
  readonly warn: (message: string) => void
}

/**
 * Finds `names` in the environment and in files. Files are read, never run: what would need a shell to become a value is
 * none.
 */
export function findVariables(
  names: ReadonlySet<string>,
  { environment, folder, files = [], warn }: FindVariablesOptions,
): FoundVariables {
  const found = new Map<string, FoundVariable>()
  const others = new Map<string, Pick<FoundVariable, 'name' | 'source'>>()
  const unread = new Map<string, string>()
  const refuse = (name: string, place: Pick<FoundVariable, 'source' | 'of'>, why: string) => {
    unread.set(name, place.source)
    warn(`${name} in ${placeOf(place)} ${why}`)
  }
  const sayIfAnother = (variable: FoundVariable, before: FoundVariable, problem: string | undefined) => {
    const isKey = problem === undefined && whyNoKey(variable.value) === undefined
    const isTold = variable.source === before.source ? before.of !== variable.of : files.includes(variable.source)
    if (isKey && isTold && !variable.value.equals(before.value)) warn(another(variable, before))
  }
  const take = (
    source: string,
    variables: readonly WrittenVariable[],
    oddityIn: (name: string) => string | undefined = () => undefined,
  ) => {
    for (const { name, value: text, of } of variables) {
      if (!names.has(name) && !others.has(name) && mayHoldKey(name, text)) others.set(name, { name, source })
      if (!names.has(name) || text.trim() === '') continue
      const variable = { name, source, value: new Secret(text), ...(of !== undefined && { of }) }
      const problem = problemOf(text, source) ?? oddityIn(name)
      const before = found.get(name)
      if (before) sayIfAnother(variable, before, problem)
      else if (problem === undefined) found.set(name, variable)
      else refuse(name, variable, `was not used: ${problem}`)
    }
  }
  const takeLines = (file: string, raw: string) => {
    // A CR alone ends a line, too: else two keys of two providers would be one.
    const text = raw.replace(/\r\n?/g, '\n')
    const [read, lines] = [parseEnv(text), linesIn(text)]
    take(file, written(read), (name) => oddityOf(lines.get(name) ?? ''))
    for (const name of lines.keys()) {
      if (names.has(name) && !found.has(name) && read[name] === undefined)
        refuse(name, { source: file }, 'was not read: a quote before it is not closed')
    }
  }
  take(ENVIRONMENT, written(environment))
  for (const file of [...FILES, ...files]) {
    const text = readForeignFile(resolve(folder, file), (why) => warn(`${file} was not read: ${why}`))
    if (text === undefined) continue
    const variables = structuredVariables(file, text)
    if (variables === undefined) takeLines(file, text)
    else if (variables instanceof Broken) warn(`${file} was not read: ${variables.inWords}`)
    else take(file, variables)
  }
  return { found, unread, others: [...others.values()] }
}

function written(variables: Readonly<Record<string, string | undefined>>): readonly WrittenVariable[] {
  return Object.entries(variables).map(([name, value = '']) => ({ name, value }))
}

/**
 * Of two values of one name in one file, or in a file that was asked for and one before it. That the files of a folder
 * override each other is what they are for.
 */
function another(variable: FoundVariable, before: FoundVariable): string {
  const isOneFile = variable.source === before.source && before.of !== undefined
  const taken = isOneFile ? before.of : before.source === ENVIRONMENT ? 'the environment' : placeOf(before)
  const way = SECRET_NAME.test(variable.name) ? ' (`broker login <provider> --connection <name>` stores it beside)' : ''
  return `${variable.name} in ${placeOf(variable)} was not used: ${taken} has another value${way}`
}

/** By its name, and by a value that is a word of some length and no placeholder. */
function mayHoldKey(name: string, value: string): boolean {
  return SECRET_NAME.test(name) && /^\S{16,}$/.test(value) && whyNoKey(new Secret(value)) === undefined
}

const SECRET_NAME = /(?:^|_)(?:API_?KEY|TOKEN|SECRET|SECRET_KEY|ACCESS_KEY|PRIVATE_KEY|PAT|APIKEY|AUTH_KEY)$/

/** The values as they are written, by name; the last line of a name counts. */
function linesIn(text: string): ReadonlyMap<string, string> {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  return new Map(
    lines.flatMap((line) => {
      const [, name, value = ''] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, value.trim()] as const]
    }),
  )
}

/** Returns what tools read in different ways: nobody knows what was meant. */
function oddityOf(value: string): string | undefined {
  const [quote = ''] = value
  if (!/["'`]/.test(quote)) {
    return /^[^\s#]+#/.test(value)
      ? 'only some tools take its "#" for the beginning of a comment: put the value in quotes'
      : undefined
  }
  const end = value.indexOf(quote, 1)
  if (end < 0) return `its quote (${quote}) is not closed on its line`
  const after = value.slice(end + 1).trim()
  return after === '' || after.startsWith('#') ? undefined : 'something follows its closing quote'
}

/** In the environment a shell has been at work already. */
function problemOf(value: string, source: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'it has several lines, or its quote is not closed'
  const [, word] = SCHEME.exec(value) ?? []
  if (word !== undefined) return `its first word (${word}) is no part of a key: leave it out`
  const isMade = source !== ENVIRONMENT && /\$[({]|^\$\w+$/.test(value)
  return isMade ? 'a shell would have to make its value ("$…"), and files are not run' : undefined
}

/** Of a header, which is often copied whole. */
const SCHEME = /^\s*(Bearer|Basic|Token|Bot|ApiKey)\s+\S/i
