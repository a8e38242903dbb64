/**
 * `npm run moved`: writes down every destination that a bundled definition had at an earlier commit, so that connections
 * of that time can be told what has changed, and prints what moved since the newest tag (or since a commit that is named)
 * for CHANGELOG.md.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CredentialKind,
  destinationText,
  differenceOf,
  hasSection,
  isSameDestination,
} from '../src/daemon/providers/index.ts'
import type { ProviderDefinition } from '../src/schemas/index.ts'
import { root } from './source-files.ts'

const KINDS: readonly CredentialKind[] = ['api_key', 'oauth2', 'signing', 'client_credentials']
const TARGET = 'src/daemon/providers/earlier-destinations.ts'

/** Destinations of one commit: text by `provider kind`. */
type Destinations = ReadonlyMap<string, string>

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', maxBuffer: 2 ** 28 })
}

/** Every commit that touched a definition, newest first. */
export function commitsOfDefinitions(): readonly string[] {
  return git('log', '--format=%H', '--', 'providers').trim().split('\n').filter(Boolean)
}

export function destinationsAt(commit: string): Destinations {
  const names = git('ls-tree', '--name-only', commit, 'providers/').trim().split('\n')
  const definitions = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(git('show', `${commit}:${name}`)) as ProviderDefinition)
  return new Map(definitions.flatMap(destinationsOf))
}

function destinationsOf(definition: ProviderDefinition): readonly (readonly [string, string])[] {
  const isThere = (kind: CredentialKind) =>
    kind === 'oauth2' ? definition.oauth !== undefined : hasSection(definition, kind)
  return KINDS.filter(isThere).map((kind) => [`${definition.name} ${kind}`, destinationText(definition, kind)])
}

function earlierDestinations(): Readonly<Record<string, readonly unknown[]>> {
  const [newest = 'HEAD', ...older] = commitsOfDefinitions()
  const present = destinationsAt(newest)
  const earlier = new Map<string, Set<string>>()
  for (const commit of older) {
    for (const [key, text] of destinationsAt(commit)) {
      if (present.get(key) === text) continue
      const [provider = ''] = key.split(' ')
      earlier.set(provider, (earlier.get(provider) ?? new Set()).add(text))
    }
  }
  const sorted = [...earlier].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([provider, texts]) => [provider, [...texts].map((text) => JSON.parse(text))]))
}

function movedSince(commit: string): readonly string[] {
  const [before, now] = [destinationsAt(commit), destinationsAt('HEAD')]
  return [...now].flatMap(([key, text]) => {
    const old = before.get(key)
    if (old === undefined || old === text) return []
    const { added, removed } = differenceOf(old, text)
    const lines = [
      ...Object.values(added)
        .flat()
        .map((line) => `+ ${line}`),
      ...Object.values(removed)
        .flat()
        .map((line) => `- ${line}`),
    ]
    const change = differenceOf(old, text)
    return [`- \`${key.replace(' ', '` (')}): ${isSameDestination(change) ? 'needs nothing' : lines.join('; ')}`]
  })
}

function newestTag(): string | undefined {
  return git('tag', '--sort=-creatordate').split('\n').find(Boolean)
}

if (import.meta.main) {
  const table = JSON.stringify(earlierDestinations(), undefined, 2)
  writeFileSync(
    join(root, TARGET),
    `/** Made by \`npm run moved\`: by provider, what its credentials were bound to under earlier definitions. */
export const EARLIER_DESTINATIONS: Readonly<Record<string, readonly EarlierDestination[]>> = ${table}

export interface EarlierDestination {
  readonly auth_type: string
  readonly [member: string]: unknown
}
`,
  )
  execFileSync('npx', ['biome', 'check', '--write', TARGET], { cwd: root, stdio: 'ignore' })
  process.stdout.write(`wrote ${TARGET}\n`)
  const since = process.argv[2] ?? newestTag()
  if (since !== undefined) process.stdout.write(`${movedSince(since).join('\n')}\n`)
}
