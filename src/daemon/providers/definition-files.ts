import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { BrokerError, parseStrictJson, StrictJsonError } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { parseDefinition } from './parse-definition.ts'

export interface LoadedDefinitions {
  readonly definitions: readonly ProviderDefinition[]
  /** Files that are broken, by name and never by path: the provider they mean is not there. */
  readonly issues: readonly string[]
  /** Files that were left out because someone else may have written them. */
  readonly warnings: readonly string[]
}

/** A definition as it is kept, unparsed; `distrust` where somebody else may have written it. */
export type DefinitionFile = { readonly name: string } & ({ readonly text: string } | { readonly distrust: string })

const SUFFIX = '.json'
const MAX_BYTES = 256 * 1024
const WRITABLE_BY_OTHERS = 0o022

/**
 * Parses every definition; one that is broken keeps none of the others from loading.
 * @param checked digest of files that were held to all rules before: when these are the same, they are not held to them again
 */
export function loadDefinitions(files: readonly DefinitionFile[], checked?: string): LoadedDefinitions {
  const toDefinition = checked !== undefined && digestOfFiles(files) === checked ? checkedDefinition : definitionIn
  const outcomes = files.map((file) => outcomeOf(file, toDefinition))
  return {
    definitions: outcomes.flatMap((outcome) => ('definition' in outcome ? [outcome.definition] : [])),
    issues: outcomes.flatMap((outcome) => ('issue' in outcome ? [outcome.issue] : [])),
    warnings: outcomes.flatMap((outcome) => ('warning' in outcome ? [outcome.warning] : [])),
  }
}

/** Reads every definition of a directory. */
export function readDefinitions(dir: string, trust: Trust): readonly DefinitionFile[] {
  return namesIn(dir).map((name) => ({ name, ...readTrusted(join(dir, name), trust) }))
}

/** SHA-256 of the names and texts of a directory's definitions. */
export function digestOfDefinitions(dir: string): string {
  return digestOfFiles(readDefinitions(dir, 'as installed'))
}

function digestOfFiles(files: readonly DefinitionFile[]): string {
  return hash('sha256', JSON.stringify(files), 'base64url')
}

/** Changes when a file comes, goes or is written. */
export function fingerprint(dir: string): string {
  return namesIn(dir)
    .map((name) => {
      const stat = statSync(join(dir, name), { throwIfNoEntry: false, bigint: true })
      return `${name} ${stat?.ino} ${stat?.size} ${stat?.mtimeNs} ${stat?.ctimeNs}`
    })
    .join('\n')
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith(SUFFIX))
      .toSorted()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

type Trust = 'as installed' | 'only the owner'
type Outcome = { readonly definition: ProviderDefinition } | { readonly issue: string } | { readonly warning: string }

function outcomeOf(file: DefinitionFile, toDefinition: (text: string) => ProviderDefinition): Outcome {
  const shown = JSON.stringify(file.name)
  if ('distrust' in file) return { warning: `Provider file ${shown} is ignored: it ${file.distrust}` }
  try {
    const definition = toDefinition(file.text)
    if (`${definition.name}${SUFFIX}` === file.name) return { definition }
    return { issue: `Provider file ${shown} is not loaded: it defines another name than its own` }
  } catch (error) {
    return { issue: `Provider file ${shown} is not loaded: ${reasonOf(error)}` }
  }
}

function definitionIn(text: string): ProviderDefinition {
  return parseDefinition(parseStrictJson(text))
}

function checkedDefinition(text: string): ProviderDefinition {
  return JSON.parse(text) as ProviderDefinition
}

function reasonOf(error: unknown): string {
  if (error instanceof StrictJsonError) return `it ${error.message}`
  if (error instanceof BrokerError) return error.message.replace(/^Cannot use this provider definition: /, '')
  throw error
}

/** Opens first and asks afterwards, of the open file: what was checked is what is read. */
function readTrusted(path: string, trust: Trust): { readonly text: string } | { readonly distrust: string } {
  let file: number
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for its writer.
    const follow = trust === 'only the owner' ? constants.O_NOFOLLOW : 0
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | follow)
  } catch (error) {
    return { distrust: hasCode(error, 'ELOOP') ? 'is a symbolic link' : 'cannot be opened' }
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return { distrust: 'is not a regular file' }
    if (stat.size > MAX_BYTES) return { distrust: `is larger than ${MAX_BYTES / 1024} KiB` }
    if (trust === 'only the owner') {
      if (process.getuid !== undefined && stat.uid !== process.getuid()) return { distrust: 'belongs to another user' }
      if ((stat.mode & WRITABLE_BY_OTHERS) !== 0) return { distrust: 'can be written by others' }
    }
    return { text: readFileSync(file, 'utf8') }
  } finally {
    closeSync(file)
  }
}

/** Name of the file that holds the definition of that name, which has been checked. */
export function definitionFileName(name: string): string {
  return basename(`${name}${SUFFIX}`)
}

/** The text of a definition's file. */
export function definitionText(definition: ProviderDefinition): string {
  return `${JSON.stringify(definition, undefined, 2)}\n`
}

/** Writes `<name>.json` whole or not at all, readable by its owner only. */
export function writeDefinition(dir: string, definition: ProviderDefinition): void {
  if (mkdirSync(dir, { recursive: true, mode: 0o700 }) !== undefined) syncDirectory(dirname(dir))
  const path = pathOf(dir, definition.name)
  const draft = `${path}.${process.pid}.tmp`
  rmSync(draft, { force: true })
  try {
    writeDraft(draft, definitionText(definition))
    // Replaces a planted link and does not follow it.
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  syncDirectory(dir)
}

function writeDraft(path: string, text: string): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function syncDirectory(dir: string): void {
  const file = openSync(dir, constants.O_RDONLY)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Returns whether there was a file to remove, readable or not. The name has been checked. */
export function removeDefinition(dir: string, name: string): boolean {
  try {
    unlinkSync(pathOf(dir, name))
    syncDirectory(dir)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

function pathOf(dir: string, name: string): string {
  return join(dir, definitionFileName(name))
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
