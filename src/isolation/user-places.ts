import { isAbsolute, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Folders in which programs keep what they have fetched, and expect to write. */
export function cacheFolders(environment: Environment, home: string): readonly string[] {
  const named = CACHE_VARIABLES.map((name) => environment[name]).filter((path) => path && isAbsolute(path))
  return [...(named as readonly string[]), ...CACHES.map((path) => join(home, path))]
}

const CACHE_VARIABLES = [
  'XDG_CACHE_HOME',
  'npm_config_cache',
  'PIP_CACHE_DIR',
  'GOCACHE',
  'GOMODCACHE',
  'YARN_CACHE_FOLDER',
]

const CACHES = [
  '.cache',
  '.npm/_cacache',
  '.npm/_logs',
  '.yarn/cache',
  '.bun/install/cache',
  '.local/share/pnpm/store',
  '.cargo/registry',
  '.cargo/git',
  'go/pkg',
  '.gradle/caches',
  '.m2/repository',
  '.nuget/packages',
  'Library/Caches',
]

/** Where other programs keep keys and tokens of the user. */
export function credentialPlaces({ GNUPGHOME, CARGO_HOME }: Environment, home: string): readonly string[] {
  const named = [GNUPGHOME, CARGO_HOME && join(CARGO_HOME, 'credentials.toml')].filter(
    (path) => path && isAbsolute(path),
  )
  return [...(named as readonly string[]), ...CREDENTIALS.map((path) => join(home, path))]
}

const CREDENTIALS = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.netrc',
  '.pgpass',
  '.git-credentials',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.config/op',
  '.config/doctl',
  '.config/containers',
  '.config/git/credentials',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.terraform.d/credentials.tfrc.json',
  '.pypirc',
  '.vault-token',
  '.password-store',
  '.local/share/keyrings',
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  'Library/Keychains',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/Firefox',
  'Library/Cookies',
]

/** Sockets of the user's agents and services which are not in a folder for such. */
export function socketFolders({ SSH_AUTH_SOCK, DOCKER_HOST }: Environment, home: string): readonly string[] {
  const docker = /^unix:\/\/(\/.*)$/.exec(DOCKER_HOST ?? '')?.[1]
  const named = [SSH_AUTH_SOCK, docker].filter((path) => path && isAbsolute(path))
  return [...(named as readonly string[]), ...SOCKETS.map((path) => join(home, path))]
}

const SOCKETS = ['.colima', '.lima', '.orbstack', '.rd', '.local/share/containers', '.1password', '.config/1Password']
