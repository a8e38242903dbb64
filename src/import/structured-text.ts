/**
 * Files in JSON, YAML, TOML and INI as nested names and values. They are somebody else's: nothing in them is run, included
 * or built, and what is said of a file that breaks is a line number, never a piece of it.
 */
import json5 from 'json5'
import { parse as parseTomlText, TomlError } from 'smol-toml'
import { LineCounter, parseDocument } from 'yaml'

/** Names with values of every kind. One of YAML may hold itself: go down by a bounded number of steps. */
export type Tree = Readonly<Record<string, unknown>>

/** Text that does not keep the grammar of its format. */
export class Broken {
  /** The line where that shows, from 1; undefined where it is not known. */
  readonly line: number | undefined
  /** Which of the files read together it is. */
  readonly file: number

  constructor(line?: number, file = 0) {
    this.line = line
    this.file = file
  }

  /** After "it was not read:". */
  get inWords(): string {
    return this.line === undefined ? 'it is not written as expected' : `line ${this.line} is not written as expected`
  }
}

/** With the comments and the commas at the end that editors take. An empty text has no names, as in the other formats. */
export function parseJson(text: string): Tree | Broken {
  if (text.trim() === '') return {}
  try {
    return treeOrBroken(asJson(text))
  } catch (error) {
    return new Broken(lineOf(error))
  }
}

/** Of an end of a line it says that it is in column 0 of the next. */
function lineOf(error: unknown): number | undefined {
  if (!(error instanceof Error && 'lineNumber' in error && 'columnNumber' in error)) return undefined
  return Number(error.lineNumber) - (error.columnNumber === 0 ? 1 : 0)
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Slower, as it goes by the character.
    return json5.parse(text)
  }
}

// The parser takes its time with what is made to take it.
const MOST_YAML = 256 * 1024
const MOST_ALIASES = 100

/** The first document. Aliases are followed to a bound; a name that stands twice has its last value. */
export function parseYaml(text: string): Tree | Broken {
  if (text.length > MOST_YAML) return new Broken()
  const lines = new LineCounter()
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      logLevel: 'silent',
      merge: true,
      prettyErrors: false,
      uniqueKeys: false,
    })
    const error = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS')
    if (error) return new Broken(lines.linePos(error.pos[0]).line)
    return treeOrBroken(document.toJS({ maxAliasCount: MOST_ALIASES }) ?? {})
  } catch {
    return new Broken()
  }
}

export function parseToml(text: string): Tree | Broken {
  try {
    return parseTomlText(text, { integersAsBigInt: 'asNeeded' })
  } catch (error) {
    return new Broken(error instanceof TomlError ? error.line : undefined)
  }
}

/** Sections of names and values as Python's configparser reads them, without what is indented below a value. */
export function parseIni(text: string): Tree | Broken {
  const sections = new Map<string, Map<string, string>>()
  let section: Map<string, string> | undefined
  let indent = Number.POSITIVE_INFINITY
  for (const [at, row] of text.split(/\r?\n/).entries()) {
    const line = row.trim()
    const own = row.length - row.trimStart().length
    if (line === '' || /^[#;]/.test(line) || own > indent) continue
    const [, header] = /^\[([^\]]+)\]/.exec(line) ?? []
    const [, name, value = ''] = /^([^=:]+)[=:](.*)$/.exec(line) ?? []
    if (header !== undefined) {
      section = sections.get(header) ?? new Map()
      sections.set(header, section)
      indent = Number.POSITIVE_INFINITY
    } else if (section && name !== undefined) {
      section.set(name.trim().toLowerCase(), value.trim())
      indent = own
    } else return new Broken(at + 1)
  }
  return Object.fromEntries([...sections].map(([name, values]) => [name, Object.fromEntries(values)]))
}

/** The tree of that name; an empty one where there is none. */
export function treeIn(tree: Tree, name: string): Tree {
  const value = own(tree, name)
  return isTree(value) ? value : {}
}

/** The text of that name; undefined for none, and for an empty one. */
export function textIn(tree: Tree, name: string): string | undefined {
  const value = own(tree, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function own(tree: Tree, name: string): unknown {
  return Object.hasOwn(tree, name) ? tree[name] : undefined
}

function treeOrBroken(value: unknown): Tree | Broken {
  return isTree(value) ? value : new Broken(1)
}
