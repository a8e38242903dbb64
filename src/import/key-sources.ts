import { lstatSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { BrokerError, nearestWord } from '../protocol/index.ts'
import { awsKeys } from './aws-files.ts'
import { dockerKeys } from './docker-config.ts'
import type { FileKey, FileKeys } from './file-keys.ts'
import { readForeignFile } from './foreign-file.ts'
import { ghHostKeys } from './gh-hosts.ts'
import { googleKeys } from './google-credentials.ts'
import type { HostKeys } from './host-keys.ts'
import { netrcKeys } from './netrc.ts'
import { npmrcKeys } from './npmrc.ts'
import { cargoKeys } from './programs/cargo.ts'
import { doctlKeys } from './programs/doctl.ts'
import { flyKeys } from './programs/fly.ts'
import { glabKeys } from './programs/glab.ts'
import { huggingFaceKeys } from './programs/hugging-face.ts'
import { kubeKeys } from './programs/kube.ts'
import { netlifyKeys } from './programs/netlify.ts'
import { pypircKeys } from './programs/pypirc.ts'
import { stripeKeys } from './programs/stripe.ts'
import { vercelKeys } from './programs/vercel.ts'
import { wranglerKeys } from './programs/wrangler.ts'
import { Broken } from './structured-text.ts'
import { type Around, VARIABLE_PLACES, variablePlaces } from './variable-places.ts'

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

/** What a person calls a file, and where it is: the first of the places that is there. */
type Place = readonly [name: string, ...paths: string[]]

interface KeySource {
  readonly files: (surroundings: Surroundings) => readonly Place[]
  /** Of the texts of those files, at least one of which is there. */
  readonly parse: (...texts: readonly string[]) => FileKeys | Broken
}

/** Programs that `--from` may name. Their files are read, never written, and only when they are asked for. */
const SOURCES = {
  gh: { files: (of) => [["the GitHub CLI's hosts.yml", ghHostsPath(of)]], parse: byHost(ghHostKeys) },
  glab: {
    files: (of) => [["the GitLab CLI's config.yml", ...configPaths(of, 'GLAB_CONFIG_DIR', 'glab-cli', 'config.yml')]],
    parse: glabKeys,
  },
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
  cargo: {
    files: ({ environment: { CARGO_HOME: folder }, home }) => {
      const own = folder || join(home, '.cargo')
      // Cargo itself takes the older name first.
      return [["Cargo's credentials", join(own, 'credentials'), join(own, 'credentials.toml')]]
    },
    parse: cargoKeys,
  },
  pypirc: { files: ({ home }) => [['the .pypirc', join(home, '.pypirc')]], parse: pypircKeys },
  stripe: {
    files: (of) => [["the Stripe CLI's config.toml", join(xdgFolder(of), 'stripe', 'config.toml')]],
    parse: (text) => stripeKeys(text),
  },
  doctl: {
    files: (of) => [["doctl's config.yaml", ...configPaths(of, undefined, 'doctl', 'config.yaml')]],
    parse: doctlKeys,
  },
  fly: {
    files: ({ environment: { FLY_CONFIG_DIR: folder }, home }) => [
      ["flyctl's config.yml", join(folder || join(home, '.fly'), 'config.yml')],
    ],
    parse: flyKeys,
  },
  hf: {
    files: (of) => {
      const token = huggingFacePath(of)
      return [
        ["Hugging Face's token", token],
        ["Hugging Face's stored_tokens", join(dirname(token), 'stored_tokens')],
      ]
    },
    parse: huggingFaceKeys,
  },
  vercel: { files: (of) => [["the Vercel CLI's auth.json", ...vercelPaths(of)]], parse: vercelKeys },
  netlify: {
    files: (of) => [
      [
        "the Netlify CLI's config.json",
        join(xdgFolder(of), 'netlify', 'config.json'),
        join(of.home, 'Library/Preferences/netlify/config.json'),
      ],
    ],
    parse: netlifyKeys,
  },
  wrangler: { files: (of) => [["Wrangler's default.toml", ...wranglerPaths(of)]], parse: wranglerKeys },
  kube: {
    files: ({ environment: { KUBECONFIG: paths }, home }) =>
      (paths || join(home, '.kube/config'))
        .split(delimiter)
        .filter((path) => path !== '')
        .map((path): Place => [`kubectl's ${basename(path)}`, path]),
    parse: kubeKeys,
  },
} as const satisfies Record<string, KeySource>
export type KeySourceName = keyof typeof SOURCES

function xdgFolder({ environment: { XDG_CONFIG_HOME: xdg }, home }: Surroundings): string {
  return xdg || join(home, '.config')
}

/** As Go finds the folder for a user's configuration, which is another one on macOS. */
function configPaths(of: Surroundings, variable: string | undefined, folder: string, file: string): [string, string] {
  const own = variable === undefined ? undefined : of.environment[variable]
  const first = own || join(xdgFolder(of), folder)
  return [join(first, file), join(own || join(of.home, 'Library/Application Support', folder), file)]
}

function huggingFacePath({ environment, home }: Surroundings): string {
  const { HF_TOKEN_PATH: token, HF_HOME: folder, XDG_CACHE_HOME: cache } = environment
  return token || join(folder || join(cache || join(home, '.cache'), 'huggingface'), 'token')
}

function vercelPaths({ environment: { XDG_DATA_HOME: data }, home }: Surroundings): [string, ...string[]] {
  return [
    join(data || join(home, '.local/share'), 'com.vercel.cli/auth.json'),
    join(home, 'Library/Application Support/com.vercel.cli/auth.json'),
    join(home, '.vercel/auth.json'),
  ]
}

function wranglerPaths(of: Surroundings): [string, ...string[]] {
  const file = 'config/default.toml'
  return [
    join(xdgFolder(of), 'wrangler', file),
    join(of.home, 'Library/Preferences/wrangler', file),
    join(of.home, '.wrangler', file),
    join(xdgFolder(of), '.wrangler', file),
    join(of.home, 'Library/Preferences/.wrangler', file),
  ]
}

function ghHostsPath({ environment, home }: Surroundings): string {
  const { GH_CONFIG_DIR: own, XDG_CONFIG_HOME: xdg } = environment
  return join(own || join(xdg || join(home, '.config'), 'gh'), 'hosts.yml')
}

function googleCredentialsPath({ environment, home }: Surroundings): string {
  const { GOOGLE_APPLICATION_CREDENTIALS: file, CLOUDSDK_CONFIG: folder } = environment
  return file || join(folder || join(home, '.config/gcloud'), 'application_default_credentials.json')
}

function byHost(parse: (text: string) => HostKeys | Broken): (text: string) => FileKeys | Broken {
  return (text) => {
    const parsed = parse(text)
    if (parsed instanceof Broken) return parsed
    const { keys, elsewhere = [] } = parsed
    return { keys: [...keys].map(([host, value]) => ({ owner: { host }, values: { api_key: value } })), elsewhere }
  }
}

/** What `--from` asked for. */
export interface NamedSources {
  readonly programs: readonly KeySourceName[]
  /** Files of variables, each of which is there. */
  readonly files: readonly string[]
  /** Words for such files, of which none is there. */
  readonly nowhere: readonly string[]
}

/** Every word that `--from` takes. */
export const SOURCE_NAMES: readonly string[] = [...Object.keys(SOURCES), ...VARIABLE_PLACES]

/**
 * Programs by name, and files by path or by a word for some.
 * @throws BrokerError InvalidRequestError for what keys cannot be imported from. It is repeated only where it can be no key;
 *   else its place in the list says which it is.
 */
export function sourcesNamed(names: readonly string[], around: Around): NamedSources {
  const each = [...new Set(names)]
  const places = each
    .filter((name) => !isKeySource(name))
    .map((name) => {
      const files = variablePlaces(name, around) ?? fileNamed(name, around)
      if (files === undefined) throw noPlace(name, names)
      return { name, files }
    })
  return {
    programs: each.filter(isKeySource),
    files: [...new Set(places.flatMap(({ files }) => files))],
    nowhere: places.flatMap(({ name, files }) => (files.length === 0 ? [name] : [])),
  }
}

function fileNamed(name: string, { folder }: Around): readonly string[] | undefined {
  return /[/.]/.test(name) && isThere(resolve(folder, name)) ? [name] : undefined
}

function noPlace(name: string, all: readonly string[]): BrokerError {
  const which = all.length > 1 ? `, in place ${all.indexOf(name) + 1} of ${all.length},` : ''
  const isPath = PATH.test(name)
  const shown = isPath || WORD.test(name) ? ` "${name}"` : ''
  const what = isPath ? 'is not there' : 'is no place that keys can be imported from'
  const near = ALIASES.has(name) ? name : nearestWord(name, [...SOURCE_NAMES, ...ALIASES.keys()])
  const meant = ALIASES.get(near ?? '') ?? near
  return new BrokerError('InvalidRequestError', `What \`--from\` names${which}${shown} ${what}`, {
    hint: `${meant === undefined ? '' : `Did you mean ${meant}? `}Keys can be imported from ${SOURCE_NAMES.join(', ')}, and from files that are there, by their path: ./.envrc, .dev.vars, secrets.toml, compose.yaml, .mcp.json.`,
  })
}

/** What people call these programs, or what they are for. */
const ALIASES: ReadonlyMap<string, KeySourceName> = new Map([
  ['github', 'gh'],
  ['gitlab', 'glab'],
  ['npmrc', 'npm'],
  ['google', 'gcloud'],
  ['crates', 'cargo'],
  ['pypi', 'pypirc'],
  ['digitalocean', 'doctl'],
  ['flyctl', 'fly'],
  ['huggingface', 'hf'],
  ['cloudflare', 'wrangler'],
  ['kubectl', 'kube'],
])

/** Shapes that no key has. */
const WORD = /^[a-z-]{1,12}$/
const PATH =
  /^(?:(?:\.{1,2}|~)\/[\w./-]{1,200}|\.[a-z][\w.-]{0,30}|\/[\w./-]{0,200}\.[a-z]{1,10}|[a-z-]{1,20}\.(?:ya?ml|json|toml|env))$/

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
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
  const texts = named.map((place) =>
    firstText(place, (why) => {
      isSkipped = true
      options.warn(`${place[0]} was not read: ${why}`)
    }),
  )
  if (isSkipped) return []
  const names = named.map(([file]) => file)
  if (texts.some((text) => text !== undefined)) {
    return foundIn(source, names, parse(...texts.map((text) => text ?? '')), options)
  }
  options.note(`No key was found in ${inWords(names)}: ${named.length > 1 ? 'they do' : 'it does'} not exist`)
  return []
}

function firstText([, ...paths]: Place, skip: (why: string) => void): string | undefined {
  let isSkipped = false
  for (const path of paths) {
    const text = readForeignFile(path, (why) => {
      isSkipped = true
      skip(why)
    })
    if (text !== undefined || isSkipped) return text
  }
  return undefined
}

function foundIn(
  source: KeySourceName,
  names: readonly string[],
  parsed: FileKeys | Broken,
  { isKnown, warn, note }: FindKeysOptions,
): readonly FoundKey[] {
  const file = inWords(names)
  if (parsed instanceof Broken) {
    warn(`${names[parsed.file] ?? file} was not read: ${parsed.inWords}`)
    return []
  }
  const found = parsed.keys.filter(({ owner }) => isKnown(owner)).map((key) => ({ ...key, source }))
  for (const why of parsed.elsewhere) warn(`${file}: ${why}`)
  if (found.length === 0 && parsed.elsewhere.length === 0) note(`No key of a provider was found in ${file}`)
  return found
}

function inWords(names: readonly string[]): string {
  return names.join(' and ')
}
