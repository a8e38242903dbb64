import { join } from 'node:path'
import { BrokerError } from '../protocol/index.ts'
import { awsKeys } from './aws-files.ts'
import { dockerKeys } from './docker-config.ts'
import type { FileKey, FileKeys } from './file-keys.ts'
import { readForeignFile } from './foreign-file.ts'
import { ghHostKeys } from './gh-hosts.ts'
import { googleKeys } from './google-credentials.ts'
import type { HostKeys } from './host-keys.ts'
import { netrcKeys } from './netrc.ts'
import { npmrcKeys } from './npmrc.ts'

/** A key that another program keeps. */
export interface FoundKey extends FileKey {
  readonly source: KeySourceName
}

/** Where the files of other programs are looked for. */
interface Surroundings {
  readonly environment: Readonly<Record<string, string>>
  /** The user's home folder. */
  readonly home: string
}

interface KeySource {
  /** What a person calls each file, and where it is. */
  readonly files: (surroundings: Surroundings) => readonly (readonly [name: string, path: string])[]
  /** Of the texts of those files, at least one of which is there; undefined where one is not understood. */
  readonly parse: (...texts: readonly string[]) => FileKeys | undefined
}

/** What `--from` may name. Files are read, never written, and only when they are asked for. */
const SOURCES = {
  gh: { files: (of) => [["the GitHub CLI's hosts.yml", ghHostsPath(of)]], parse: byHost(ghHostKeys) },
  npm: {
    files: ({ environment: { NPM_CONFIG_USERCONFIG: upper, npm_config_userconfig: lower }, home }) => [
      ["npm's .npmrc", upper || lower || join(home, '.npmrc')],
    ],
    parse: byHost(npmrcKeys),
  },
  netrc: {
    files: ({ environment: { NETRC: path }, home }) => [['the .netrc', path || join(home, '.netrc')]],
    parse: byHost(netrcKeys),
  },
  aws: {
    files: ({ environment: { AWS_SHARED_CREDENTIALS_FILE: keys, AWS_CONFIG_FILE: config }, home }) => [
      ['the AWS credentials file', keys || join(home, '.aws/credentials')],
      ['the AWS config file', config || join(home, '.aws/config')],
    ],
    parse: awsKeys,
  },
  docker: {
    files: ({ environment: { DOCKER_CONFIG: folder }, home }) => [
      ["docker's config.json", join(folder || join(home, '.docker'), 'config.json')],
    ],
    parse: dockerKeys,
  },
  gcloud: {
    files: (of) => [["gcloud's application default credentials", googleCredentialsPath(of)]],
    parse: googleKeys,
  },
} as const satisfies Record<string, KeySource>
export type KeySourceName = keyof typeof SOURCES

function ghHostsPath({ environment, home }: Surroundings): string {
  const { GH_CONFIG_DIR: own, XDG_CONFIG_HOME: xdg } = environment
  return join(own || join(xdg || join(home, '.config'), 'gh'), 'hosts.yml')
}

function googleCredentialsPath({ environment, home }: Surroundings): string {
  const { GOOGLE_APPLICATION_CREDENTIALS: file, CLOUDSDK_CONFIG: folder } = environment
  return file || join(folder || join(home, '.config/gcloud'), 'application_default_credentials.json')
}

function byHost(parse: (text: string) => HostKeys | undefined): (text: string) => FileKeys | undefined {
  return (text) => {
    const { keys, elsewhere } = parse(text) ?? {}
    return (
      keys && {
        keys: [...keys].map(([host, value]) => ({ owner: { host }, values: { api_key: value } })),
        elsewhere: elsewhere === undefined ? [] : [elsewhere],
      }
    )
  }
}

/** @throws BrokerError InvalidRequestError for one that cannot be imported from. */
export function keySourcesNamed(names: readonly string[]): readonly KeySourceName[] {
  return [...new Set(names)].map((name) => {
    if (isKeySource(name)) return name
    throw new BrokerError('InvalidRequestError', '`--from` names a place that keys cannot be imported from', {
      hint: `Keys can be imported from ${Object.keys(SOURCES).join(', ')}.`,
    })
  })
}

function isKeySource(name: string): name is KeySourceName {
  return Object.hasOwn(SOURCES, name)
}

export interface FindKeysOptions extends Surroundings {
  /** Whether there is a provider for such a key. */
  readonly isKnown: (owner: FileKey['owner']) => boolean
  /** Hears of a file that cannot be used, and of a key that is elsewhere. */
  readonly warn: (message: string) => void
  /** Hears of a source that has nothing. */
  readonly note: (message: string) => void
}

/** Finds what these sources keep for providers, in the order of the sources. */
export function findKeys(sources: readonly KeySourceName[], options: FindKeysOptions): readonly FoundKey[] {
  return sources.flatMap((source) => keysOf(source, options))
}

function keysOf(source: KeySourceName, options: FindKeysOptions): readonly FoundKey[] {
  const { files, parse }: KeySource = SOURCES[source]
  const named = files(options)
  let isSkipped = false
  const texts = named.map(([file, path]) =>
    readForeignFile(path, (why) => {
      isSkipped = true
      options.warn(`${file} was not read: ${why}`)
    }),
  )
  if (isSkipped) return []
  const names = named.map(([file]) => file).join(' and ')
  if (texts.some((text) => text !== undefined)) {
    return foundIn(source, names, parse(...texts.map((text) => text ?? '')), options)
  }
  options.note(`No key was found in ${names}: ${named.length > 1 ? 'they do' : 'it does'} not exist`)
  return []
}

function foundIn(
  source: KeySourceName,
  file: string,
  parsed: FileKeys | undefined,
  { isKnown, warn, note }: FindKeysOptions,
): readonly FoundKey[] {
  if (!parsed) {
    warn(`${file} was not read: it is not written as expected`)
    return []
  }
  const found = parsed.keys.filter(({ owner }) => isKnown(owner)).map((key) => ({ ...key, source }))
  for (const why of parsed.elsewhere) warn(`${file}: ${why}`)
  if (found.length === 0 && parsed.elsewhere.length === 0) note(`No key of a provider was found in ${file}`)
  return found
}
