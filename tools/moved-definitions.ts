/**
 * `npm run moved`: writes down every destination that a bundled definition had at an earlier commit, so that connections
 * of that time can be told what has changed, and into CHANGELOG.md which definitions moved since the newest tag.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CredentialKind,
  destinationText,
  differenceOf,
  differencesOf,
  hasSection,
  isSameDestination,
} from '../src/daemon/providers/index.ts'
import type { ProviderDefinition } from '../src/schemas/index.ts'
import { root } from './source-files.ts'

const KINDS: readonly CredentialKind[] = ['api_key', 'oauth2', 'signing', 'client_credentials']
const TABLE = 'src/daemon/providers/earlier-destinations.ts'
const CHANGELOG = 'CHANGELOG.md'
const BEGIN = '<!-- made by `npm run moved` -->\n'
const END = '<!-- end -->'

/** Destinations of one commit: text by `provider kind`. */
type Destinations = ReadonlyMap<string, string>

/** Returns what the history of the definitions says today. Needs all of it: a shallow clone has none. */
export function movedFiles(): readonly { readonly path: string; readonly text: string }[] {
  const present = presentDestinations()
  const history = earlierDestinations()
  const changelog = readFileSync(join(root, CHANGELOG), 'utf8')
  return [
    { path: TABLE, text: tableOf(present, history) },
    { path: CHANGELOG, text: withSection(changelog, sectionOf(present, history)) },
  ]
}

/** Returns whether there is a history to ask: a shallow clone has none, nor has what was unpacked from an archive. */
export function hasHistory(): boolean {
  try {
    return git(['rev-parse', '--is-shallow-repository']).trim() === 'false'
  } catch {
    return false
  }
}

function git(args: readonly string[], input = ''): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', input, maxBuffer: 2 ** 29 })
}

function presentDestinations(): Destinations {
  const folder = join(root, 'providers')
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return destinationsOf(files.map((name) => readFileSync(join(folder, name), 'utf8')))
}

interface Release {
  readonly destinations: Destinations
  /** It was in a version that people have; without any tag, every commit counts as one. */
  readonly isReleased: boolean
}

/** Of every commit that touched a definition, oldest first. */
function earlierDestinations(): readonly Release[] {
  const commits = linesOf(git(['log', '--reverse', '--format=%H', '--', 'providers']))
  const tag = linesOf(git(['tag', '--sort=-creatordate']))[0]
  const released = new Set(tag === undefined ? commits : linesOf(git(['log', '--format=%H', tag, '--', 'providers'])))
  return commits.map((commit) => ({
    destinations: destinationsOf(definitionsAt(commit)),
    isReleased: released.has(commit),
  }))
}

function definitionsAt(commit: string): readonly string[] {
  const entries = linesOf(git(['ls-tree', commit, 'providers/'])).map((line) => line.split(/\s+/))
  const ids = entries.flatMap(([, , id = '', path = '']) => (path.endsWith('.json') ? [id] : []))
  return textsOf(ids)
}

const known = new Map<string, string>()

/** All at once: a process for each of thousands takes a minute. */
function textsOf(ids: readonly string[]): readonly string[] {
  const unknown = ids.filter((id) => !known.has(id))
  let rest = Buffer.from(unknown.length === 0 ? '' : git(['cat-file', '--batch'], unknown.join('\n')))
  for (const id of unknown) {
    const start = rest.indexOf('\n') + 1
    const length = Number(rest.toString('utf8', 0, start).trim().split(' ')[2])
    known.set(id, rest.toString('utf8', start, start + length))
    rest = rest.subarray(start + length + 1)
  }
  return ids.map((id) => known.get(id) ?? '')
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter(Boolean)
}

function destinationsOf(texts: readonly string[]): Destinations {
  return new Map(texts.flatMap(destinationsIn))
}

const parsed = new Map<string, readonly (readonly [string, string])[]>()

/** A definition is the same at most commits. */
function destinationsIn(text: string): readonly (readonly [string, string])[] {
  const before = parsed.get(text)
  if (before !== undefined) return before
  const definition = JSON.parse(text) as ProviderDefinition
  const isThere = (kind: CredentialKind) =>
    kind === 'oauth2' ? definition.oauth !== undefined : hasSection(definition, kind)
  const found = KINDS.filter(isThere).map(
    (kind) => [`${definition.name} ${kind}`, destinationText(definition, kind)] as const,
  )
  parsed.set(text, found)
  return found
}

function tableOf(present: Destinations, history: readonly Release[]): string {
  const earlier = new Map<string, Map<string, string[]>>()
  for (const [key, text] of movedSince(present, history)) {
    const [provider = '', kind = ''] = key.split(' ')
    const kinds = earlier.get(provider) ?? new Map<string, string[]>()
    earlier.set(provider, kinds.set(kind, [...(kinds.get(kind) ?? []), text]))
  }
  const sorted = [...earlier].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const table = Object.fromEntries(
    sorted.map(([provider, kinds]) => [
      provider,
      Object.fromEntries([...kinds].map(([kind, all]) => [kind, differencesOf(kind as CredentialKind, all)])),
    ]),
  )
  return formatted(`import type { CredentialKind } from './destination-digest.ts'
import type { JsonObject } from './merge-patch.ts'

/**
 * Made by \`npm run moved\`: by provider and kind, what its credentials were bound to under earlier definitions, newest first,
 * each as the difference (RFC 7396) from the one after it.
 */
export const EARLIER_DESTINATIONS: Readonly<
  Record<string, Readonly<Partial<Record<CredentialKind, readonly JsonObject[]>>>>
> = ${JSON.stringify(table, undefined, 2)}
`)
}

/** Each destination that is not the present one, once, newest first. */
function movedSince(present: Destinations, history: readonly Release[]): readonly (readonly [string, string])[] {
  const all = history.toReversed().flatMap(({ destinations }) => [...destinations])
  const moved = all.filter(([key, text]) => present.get(key) !== text)
  return [...new Map(moved.map(([key, text]) => [`${key} ${text}`, [key, text] as const])).values()]
}

/** Returns whom each earlier destination belonged to, `provider kind`, and its text. */
export function movedDestinations(): readonly (readonly [string, string])[] {
  return movedSince(presentDestinations(), earlierDestinations())
}

function formatted(source: string): string {
  const args = ['check', '--write', '--stdin-file-path', TABLE]
  return execFileSync(join(root, 'node_modules/.bin/biome'), args, { cwd: root, encoding: 'utf8', input: source })
}

const WORDS: Readonly<Record<CredentialKind, string>> = {
  api_key: 'keys',
  oauth2: 'logins',
  signing: 'signing keys',
  client_credentials: 'clients',
}

/** One line for each that has to be approved after an upgrade: what is new, and what is gone. */
function sectionOf(present: Destinations, history: readonly Release[]): string {
  const before = new Map(
    history
      .filter(({ isReleased }) => isReleased)
      .toReversed()
      .flatMap((one) => [...one.destinations]),
  )
  const lines = [...present]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, text]) => {
      const difference = differenceOf(before.get(key) ?? text, text)
      if (isSameDestination(difference)) return []
      const [provider = '', kind = ''] = key.split(' ')
      const added = Object.values(difference.added)
        .flat()
        .map((line) => `\`+ ${line}\``)
      const removed = Object.values(difference.removed)
        .flat()
        .map((line) => `\`- ${line}\``)
      return [`- ${provider}, ${WORDS[kind as CredentialKind]}: ${shortened([...added, ...removed]).join(', ')}\n`]
    })
  return lines.length === 0 ? 'None.\n' : lines.join('')
}

const MOST_SHOWN = 30

/** `broker connections approve` shows all of them. */
function shortened(changes: readonly string[]): readonly string[] {
  if (changes.length <= MOST_SHOWN) return changes
  return [...changes.slice(0, MOST_SHOWN), `and ${changes.length - MOST_SHOWN} more`]
}

function withSection(page: string, section: string): string {
  const [before = '', rest = ''] = page.split(BEGIN)
  const [, ...after] = rest.split(END)
  return `${before}${BEGIN}\n${section}\n${END}${after.join(END)}`
}

if (import.meta.main) {
  for (const { path, text } of movedFiles()) {
    writeFileSync(join(root, path), text)
    process.stdout.write(`wrote ${path}\n`)
  }
}
