import { join } from 'node:path'
import { BrokerError, type Secret } from '../protocol/index.ts'
import { readForeignFile } from './foreign-file.ts'
import { ghHostKeys } from './gh-hosts.ts'
import type { HostKeys } from './host-keys.ts'
import { netrcKeys } from './netrc.ts'
import { npmrcKeys } from './npmrc.ts'

/** A key that another program keeps. */
export interface FoundKey {
  /** The host that takes it. */
  readonly host: string
  readonly source: KeySourceName
  readonly value: Secret
}

/** Where the files of other programs are looked for. */
interface Surroundings {
  readonly environment: Readonly<Record<string, string>>
  /** The user's home folder. */
  readonly home: string
}

interface KeySource {
  /** What a person calls the file. */
  readonly file: string
  readonly path: (surroundings: Surroundings) => string
  /** Undefined where the text is not understood. */
  readonly parse: (text: string) => HostKeys | undefined
}

/** What `--from` may name. Files are read, never written, and only when they are asked for. */
const SOURCES = {
  gh: { file: "the GitHub CLI's hosts.yml", path: ghHostsPath, parse: ghHostKeys },
  npm: {
    file: "npm's .npmrc",
    path: ({ environment: { NPM_CONFIG_USERCONFIG: upper, npm_config_userconfig: lower }, home }) =>
      upper || lower || join(home, '.npmrc'),
    parse: npmrcKeys,
  },
  netrc: {
    file: 'the .netrc',
    path: ({ environment: { NETRC: path }, home }) => path || join(home, '.netrc'),
    parse: netrcKeys,
  },
} as const satisfies Record<string, KeySource>
export type KeySourceName = keyof typeof SOURCES

/** Why the others that people ask for are not there. */
const LATER: Readonly<Record<string, string>> = {
  aws: 'requests to AWS are signed with the key, and no provider of this version signs',
  docker: 'registries exchange the password for a token, and no provider of this version does',
  gcloud: 'what gcloud keeps is exchanged for access tokens, and no provider of this version does that',
}

function ghHostsPath({ environment, home }: Surroundings): string {
  const { GH_CONFIG_DIR: own, XDG_CONFIG_HOME: xdg } = environment
  return join(own || join(xdg || join(home, '.config'), 'gh'), 'hosts.yml')
}

/** @throws BrokerError InvalidRequestError for one that cannot be imported from. */
export function keySourcesNamed(names: readonly string[]): readonly KeySourceName[] {
  return [...new Set(names)].map((name) => {
    if (isKeySource(name)) return name
    const sentence = Object.hasOwn(LATER, name)
      ? `Keys of \`${name}\` cannot be imported yet: ${LATER[name]}`
      : '`--from` names a place that keys cannot be imported from'
    throw new BrokerError('InvalidRequestError', sentence, {
      hint: `Keys can be imported from ${Object.keys(SOURCES).join(', ')}.`,
    })
  })
}

function isKeySource(name: string): name is KeySourceName {
  return Object.hasOwn(SOURCES, name)
}

export interface FindKeysOptions extends Surroundings {
  /** Of the providers that take a key. */
  readonly hosts: ReadonlySet<string>
  /** Hears of a file that cannot be used, and of a key that is elsewhere. */
  readonly warn: (message: string) => void
  /** Hears of a source that has nothing. */
  readonly note: (message: string) => void
}

/** Finds what these sources keep for `hosts`, in the order of the sources. */
export function findKeys(sources: readonly KeySourceName[], options: FindKeysOptions): readonly FoundKey[] {
  return sources.flatMap((source) => keysOf(source, options))
}

function keysOf(source: KeySourceName, options: FindKeysOptions): readonly FoundKey[] {
  const { file, path }: KeySource = SOURCES[source]
  let isSkipped = false
  const text = readForeignFile(path(options), (why) => {
    isSkipped = true
    options.warn(`${file} was not read: ${why}`)
  })
  if (isSkipped) return []
  if (text !== undefined) return parsedKeys(source, text, options)
  options.note(`No key was found in ${file}: it does not exist`)
  return []
}

function parsedKeys(source: KeySourceName, text: string, { hosts, warn, note }: FindKeysOptions): readonly FoundKey[] {
  const { file, parse }: KeySource = SOURCES[source]
  const parsed = parse(text)
  if (!parsed) {
    warn(`${file} was not read: it is not written as expected`)
    return []
  }
  const found = [...parsed.keys].flatMap(([host, value]) => (hosts.has(host) ? [{ host, source, value }] : []))
  if (parsed.elsewhere) warn(`no key was found in ${file}: ${parsed.elsewhere}`)
  else if (found.length === 0) note(`No key of a provider was found in ${file}`)
  return found
}
