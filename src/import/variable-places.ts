import { lstatSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

export interface Around {
  /** Where the command is called. */
  readonly folder: string
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
}

/** The files of variables that are there; undefined where `name` is neither a word for some nor an agent's folder. */
export function variablePlaces(name: string, around: Around): readonly string[] | undefined {
  if (Object.hasOwn(PLACES, name)) return PLACES[name]?.(around).filter((path) => statOf(path) !== undefined)
  const folder = resolve(around.folder, name)
  const files = statOf(folder)?.isDirectory() ? FOLDERS.get(basename(folder)) : undefined
  return files?.map((file) => join(folder, file)).filter((path) => statOf(path) !== undefined)
}

const OF_CLAUDE = ['settings.local.json', 'settings.json'] as const
const OF_CURSOR = ['mcp.json'] as const
const FOLDERS = new Map<string, readonly string[]>([
  ['.claude', OF_CLAUDE],
  ['.cursor', OF_CURSOR],
])

/** Where agents, editors and compose keep the variables of what they start, by the word that `--from` has for it. */
const PLACES: Readonly<Record<string, (around: Around) => readonly string[]>> = {
  claude: ({ folder, home, environment: { CLAUDE_CONFIG_DIR: own } }) => [
    ...OF_CLAUDE.map((file) => join(folder, '.claude', file)),
    join(folder, '.mcp.json'),
    ...OF_CLAUDE.map((file) => join(own || join(home, '.claude'), file)),
    join(own || home, '.claude.json'),
    join(home, 'Library/Application Support/Claude/claude_desktop_config.json'),
  ],
  cursor: ({ folder, home }) => [folder, home].flatMap((at) => OF_CURSOR.map((file) => join(at, '.cursor', file))),
  mcp: ({ folder }) => ['.mcp.json', '.vscode/mcp.json'].map((file) => join(folder, file)),
  compose: ({ folder }) =>
    ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'].map((file) => join(folder, file)),
}

/** The words for such places. */
export const VARIABLE_PLACES: readonly string[] = Object.keys(PLACES)

function statOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
