import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { BrokerError } from '../protocol/index.ts'
import { type PlacedJson, PlacedJsonError, parsePlacedJson } from './placed-json.ts'

const MAX_BYTES = 1024 * 1024
const TOO_LARGE = 'it is larger than 1 MiB'

/** A provider definition as somebody wrote it; the daemon's rules decide whether it is a good one. */
export interface WrittenDefinition {
  /** Where it came from, as it was typed; `-` is standard input. */
  readonly file: string
  readonly name: string
  readonly hosts: readonly string[]
  readonly definition: unknown
  /** Line of a part of the definition in the file. */
  lineOf(path: string): number
}

/** A file that no definition could be read from. */
interface UnreadFile {
  readonly file: string
  readonly failure: BrokerError
}

export type ReadDefinition = WrittenDefinition | UnreadFile

export function isWritten(one: ReadDefinition): one is WrittenDefinition {
  return !('failure' in one)
}

/** What a path stands for: one text of one definition or more, or a folder of such. */
export interface Definitions {
  readonly isMany: boolean
  readonly read: readonly ReadDefinition[]
}

/**
 * Reads what `register` and `validate` are given: a file, a folder's `*.json`, or standard input by `-`.
 * @throws BrokerError InvalidRequestError where there is no such thing, or a folder has none
 */
export async function readDefinitions(path: string, input: Readable): Promise<Definitions> {
  if (path === '-') return oneText('-', await bytesOf(input))
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) throw unusable(path, 'there is no such file')
  return stat.isDirectory() ? ofFolder(path) : oneText(path, readBytes(path))
}

function ofFolder(path: string): Definitions {
  const names = readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
  if (names.length === 0) throw unusable(path, 'the folder has no *.json')
  return { isMany: true, read: names.flatMap((name) => tryOne(join(path, name))) }
}

function tryOne(file: string): readonly ReadDefinition[] {
  try {
    return definitionsIn(file, readBytes(file))
  } catch (failure) {
    if (failure instanceof BrokerError) return [{ file, failure }]
    throw failure
  }
}

function oneText(file: string, bytes: Buffer): Definitions {
  const read = definitionsIn(file, bytes)
  return { isMany: read.length !== 1, read }
}

/** @throws BrokerError InvalidRequestError naming the file */
function readBytes(path: string): Buffer {
  try {
    const stat = statSync(path)
    if (!stat.isFile()) throw unusable(path, 'it is no file')
    if (stat.size > MAX_BYTES) throw unusable(path, TOO_LARGE)
    return readFileSync(path)
  } catch (cause) {
    if (cause instanceof BrokerError) throw cause
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    throw unusable(path, code === 'ENOENT' ? 'there is no such file' : 'it cannot be read', cause)
  }
}

async function bytesOf(input: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    size += chunk.length
    if (size > MAX_BYTES) throw unusable('-', TOO_LARGE)
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks)
}

/** One definition, a list of such, or what `provider inspect` prints. */
function definitionsIn(file: string, bytes: Buffer): readonly WrittenDefinition[] {
  const json = parsed(file, textOf(file, bytes))
  if (!Array.isArray(json.value)) return [written(file, json, '', json.value)]
  if (json.value.length === 0) throw unusable(file, 'the list has no definition')
  return json.value.map((one, index) => written(file, json, String(index), one))
}

function written(file: string, json: PlacedJson, at: string, value: unknown): WrittenDefinition {
  if (!isObject(value)) throw unusable(file, 'it is not a JSON object')
  if ('format' in value && 'payload' in value) throw unusable(file, 'it is a signed catalogue', undefined, IS_CATALOGUE)
  const inner = isInspected(value) ? value['definition'] : value
  const prefix = [at, isInspected(value) ? 'definition' : ''].filter((part) => part !== '')
  if (!isObject(inner)) throw unusable(file, '"definition" is not a JSON object')
  // Where a definition came from is the daemon's to say: its answers have it, files need not.
  const { source: _ours, ...definition } = inner
  const { name, hosts } = definition
  return {
    file,
    name: typeof name === 'string' ? name : '(no name)',
    hosts: Array.isArray(hosts) ? hosts.map(String) : [],
    definition,
    lineOf: (path) => json.lineOf([...prefix, path].filter((part) => part !== '').join('.')),
  }
}

const IS_CATALOGUE = { hint: 'Use it with `broker provider update <file>`.' }

type Json = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `provider inspect` prints the definition beside its connections. */
function isInspected(value: Json): boolean {
  const names = Object.keys(value)
  return names.includes('definition') && names.every((name) => name === 'definition' || name === 'connections')
}

function textOf(file: string, bytes: Buffer): string {
  if (bytes.length === 0) throw unusable(file, 'it is empty')
  if (/^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2))) throw unusable(file, 'it is UTF-16: save it as UTF-8')
  if (bytes.includes(0)) throw unusable(file, 'it is not text')
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (text.trim() === '') throw unusable(file, 'it is empty')
    return text
  } catch (cause) {
    if (cause instanceof BrokerError) throw cause
    throw unusable(file, 'it is not UTF-8 text', cause)
  }
}

function parsed(file: string, text: string): PlacedJson {
  const begins = text.trimStart()[0]
  if (begins !== '{' && begins !== '[') {
    if (isYaml(text)) throw unusable(file, 'it is YAML; a definition is JSON')
    // Quoted nowhere: it may be the wrong file.
    throw unusable(file, 'it is not JSON')
  }
  try {
    return parsePlacedJson(text)
  } catch (cause) {
    if (cause instanceof PlacedJsonError) throw notJson(file, text, cause)
    throw cause
  }
}

/** Of this kind, that is: its first line that says anything is a document's begin or one of our fields. */
function isYaml(text: string): boolean {
  const first = text.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#')) ?? ''
  return /^(?:---|%YAML|(?:- )?(?:schema_version|name|display_name|auth_type|flow|hosts|definition)\s*:)/.test(first)
}

function notJson(file: string, text: string, { message, line, column }: PlacedJsonError): BrokerError {
  const shown = lineShown(text, line, column)
  return unusable(file, `line ${line}, column ${column}: ${message}`, undefined, {
    details: shown === undefined ? [] : [{ path: `line ${line}`, message: shown }],
  })
}

const SHOWN = 100

/** Shown only of what is meant as a definition: another file may have a secret in that very line. */
function lineShown(text: string, line: number, column: number): string | undefined {
  if (!/"(?:schema_version|hosts|auth_type)"/.test(text)) return undefined
  const whole = text.split(/\r\n|\r|\n/)[line - 1] ?? ''
  const from = Math.max(0, Math.min(column - SHOWN / 2, whole.length - SHOWN))
  const part = whole.slice(from, from + SHOWN).trim()
  return part === '' ? undefined : part
}

/** @param why follows the name of the file */
function unusable(path: string, why: string, cause?: unknown, options: BrokerError['options'] = {}): BrokerError {
  const what = path === '-' ? 'standard input' : `the file "${path}"`
  return new BrokerError('InvalidRequestError', `Cannot use ${what}: ${why}`, { ...options, cause })
}
