import { basename } from 'node:path'
import { Broken, isTree, parseJson, parseToml, parseYaml, type Tree, treeIn } from './structured-text.ts'

export type Variables = Readonly<Record<string, string>>

/**
 * The variables in a file of structure, by the format that its name tells; undefined where it is one of lines, as .env and
 * .envrc are.
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

/** Of what an agent starts: each `env` at whatever depth, the first of a name. */
function inEnvBlocks(tree: Tree): Variables {
  const found: (readonly [string, string])[] = []
  const look = (value: unknown, depth: number) => {
    if (depth > DEEPEST) return
    if (Array.isArray(value)) for (const item of value) look(item, depth + 1)
    if (!isTree(value)) return
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'env' && isTree(inner)) found.push(...textsOf(inner))
      else look(inner, depth + 1)
    }
  }
  look(tree, 0)
  return Object.fromEntries(found.toReversed())
}

/** The `environment` of each service of a compose file, as a mapping or as lines; files that it names are not read. */
function ofServices(tree: Tree): Variables {
  const services = Object.values(treeIn(tree, 'services')).filter(isTree)
  const found = services.flatMap(({ environment }) => {
    if (isTree(environment)) return textsOf(environment)
    return Array.isArray(environment) ? environment.flatMap(lineIn) : []
  })
  return Object.fromEntries(found.toReversed())
}

function lineIn(line: unknown): readonly (readonly [string, string])[] {
  const [, name, value] = typeof line === 'string' ? (/^([^=]+)=(.*)$/s.exec(line) ?? []) : []
  return name === undefined || value === undefined ? [] : [[name, value]]
}

/** Values without a section by their names; `[openai] api_key` as OPENAI_API_KEY, unless it is named as variables are. */
function ofSections(tree: Tree): Variables {
  const sections = Object.entries(tree).flatMap(([section, inner]) =>
    isTree(inner) ? textsOf(inner).map(([name, value]) => [variableOf(section, name), value] as const) : [],
  )
  return Object.fromEntries([...sections, ...textsOf(tree)])
}

function variableOf(section: string, name: string): string {
  return /^[A-Z][A-Z0-9_]*$/.test(name) ? name : `${section}_${name}`.replace(/\W/g, '_').toUpperCase()
}

function textsOf(tree: Tree): readonly (readonly [string, string])[] {
  return Object.entries(tree).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []))
}
