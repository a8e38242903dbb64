import { basename } from 'node:path'
import { Broken, isTree, parseJson, parseToml, parseYaml, type Tree, treeIn } from './structured-text.ts'

/** One that a file gives. */
export interface WrittenVariable {
  readonly name: string
  readonly value: string
  /** What in the file it is for, in words: `service "web"`. A name may stand there once for each. */
  readonly of?: string
}
type Variables = readonly WrittenVariable[]

/**
 * The variables in a file of structure, by the format that its name tells; undefined where it is one of lines, as .env and
 * .envrc are. Of a name that is there several times the one that counts is the first.
 */
export function structuredVariables(path: string, text: string): Variables | Broken | undefined {
  const name = basename(path).toLowerCase()
  const format = FORMATS.find(([ending]) => ending.test(name))
  if (format === undefined) return undefined
  const [, parse, read] = format
  const tree = parse(text)
  return tree instanceof Broken ? tree : read(tree)
}

type Format = readonly [ending: RegExp, parse: (text: string) => Tree | Broken, read: (tree: Tree) => Variables]

const FORMATS: readonly Format[] = [
  [/\.json$/, parseJson, inEnvBlocks],
  [/\.ya?ml$/, parseYaml, ofServices],
  [/\.toml$/, parseToml, ofSections],
]

const DEEPEST = 8

/** Of what an agent starts: each `env` at whatever depth. */
function inEnvBlocks(tree: Tree): Variables {
  const found: WrittenVariable[] = []
  const look = (value: unknown, path: readonly string[]) => {
    if (path.length > DEEPEST) return
    if (Array.isArray(value)) for (const [at, item] of value.entries()) look(item, [...path, String(at + 1)])
    if (!isTree(value)) return
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'env' && isTree(inner)) found.push(...textsOf(inner, `"${path.join('.')}"`))
      else look(inner, [...path, name])
    }
  }
  look(tree, [])
  return found
}

/** The `environment` of each service of a compose file, as a mapping or as lines; files that it names are not read. */
function ofServices(tree: Tree): Variables {
  return Object.entries(treeIn(tree, 'services')).flatMap(([service, settings]) => {
    const environment = isTree(settings) ? settings['environment'] : undefined
    const of = `service "${service}"`
    if (isTree(environment)) return textsOf(environment, of)
    return Array.isArray(environment) ? environment.flatMap((line) => lineIn(line, of)) : []
  })
}

function lineIn(line: unknown, of: string): Variables {
  const [, name, value] = typeof line === 'string' ? (/^([^=]+)=(.*)$/s.exec(line) ?? []) : []
  return name === undefined || value === undefined ? [] : [{ name, value, of }]
}

/** Values without a section by their names; `[openai] api_key` as OPENAI_API_KEY, unless it is named as variables are. */
function ofSections(tree: Tree): Variables {
  const sections = Object.entries(tree).flatMap(([section, inner]) =>
    isTree(inner)
      ? textsOf(inner, `section "${section}"`).map((one) => ({ ...one, name: variableOf(section, one.name) }))
      : [],
  )
  return [...textsOf(tree, 'its top'), ...sections]
}

function variableOf(section: string, name: string): string {
  return /^[A-Z][A-Z0-9_]*$/.test(name) ? name : `${section}_${name}`.replace(/\W/g, '_').toUpperCase()
}

function textsOf(tree: Tree, of: string): Variables {
  return Object.entries(tree).flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value, of }] : []))
}
