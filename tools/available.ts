/**
 * What the suites may count on beyond what npm brings. A suite asks here and is skipped with the reason:
 * `describe('…', { skip: whyNot('postgres') }, …)`.
 */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

export type Part =
  | 'postgres'
  | 'redis'
  | 'secret service'
  | 'chromium'
  | 'openssl'
  | 'curl'
  | 'python3'
  | 'pip'
  | 'skopeo'
  | 'docker registry'
  | 'cargo'
  | 'java'
  | 'maven'
  | 'wget'
  | 'requests for python3'
  | 'grpc for python3'
  | 'nghttp2'
  | 'strace'
  | 'bubblewrap'
  | 'zsh'
  | 'fish'

/**
 * The programs of each part, and the Debian packages that bring them. One with its full path, which may be another file, is
 * Debian's own: what a version manager put on the PATH under its name finds nothing in the home of a test.
 */
export const parts: Readonly<
  Record<Part, { readonly programs: readonly string[]; readonly packages: readonly string[] }>
> = {
  postgres: { programs: ['initdb', 'postgres'], packages: ['postgresql'] },
  redis: { programs: ['redis-server', 'redis-cli'], packages: ['redis-server', 'redis-tools'] },
  'secret service': {
    programs: ['gnome-keyring-daemon', 'dbus-run-session', 'secret-tool'],
    packages: ['gnome-keyring', 'dbus-x11', 'libsecret-tools'],
  },
  chromium: { programs: ['chromium'], packages: ['chromium'] },
  openssl: { programs: ['openssl'], packages: ['openssl'] },
  curl: { programs: ['curl'], packages: ['curl', 'ca-certificates'] },
  python3: { programs: ['python3'], packages: ['python3-minimal'] },
  pip: { programs: ['/usr/bin/pip3'], packages: ['python3-pip'] },
  skopeo: { programs: ['skopeo'], packages: ['skopeo'] },
  'docker registry': { programs: ['docker-registry'], packages: ['docker-registry'] },
  cargo: { programs: ['/usr/bin/cargo'], packages: ['cargo'] },
  java: { programs: ['java', 'javac'], packages: ['default-jdk-headless'] },
  maven: { programs: ['mvn'], packages: ['maven'] },
  wget: { programs: ['/usr/bin/wget'], packages: ['wget'] },
  'requests for python3': {
    programs: ['/usr/lib/python3/dist-packages/requests/__init__.py'],
    packages: ['python3-requests'],
  },
  'grpc for python3': {
    programs: ['/usr/lib/python3/dist-packages/grpc/__init__.py'],
    packages: ['python3-grpcio'],
  },
  nghttp2: { programs: ['nghttp', 'h2load'], packages: ['nghttp2-client'] },
  strace: { programs: ['strace'], packages: ['strace'] },
  bubblewrap: { programs: ['bwrap', 'nsenter', 'setpriv'], packages: ['bubblewrap', 'util-linux'] },
  zsh: { programs: ['zsh'], packages: ['zsh'] },
  fish: { programs: ['fish'], packages: ['fish'] },
}

/** Full path of a program, where it is on the PATH or where Debian keeps those of Postgres; a full path, where it is there. */
export function findProgram(name: string): string | undefined {
  if (isAbsolute(name)) return existsSync(name) ? name : undefined
  return [...(process.env['PATH'] ?? '').split(delimiter), ...postgresFolders()]
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

/** False where the part is there; else the reason, for `skip`. */
export function whyNot(part: Part): string | false {
  const missing = parts[part].programs.filter((name) => findProgram(name) === undefined)
  return missing.length > 0 && `${part} is not there: no ${missing.join(', ')}`
}

function postgresFolders(): readonly string[] {
  const base = '/usr/lib/postgresql'
  try {
    return readdirSync(base)
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(base, version, 'bin'))
  } catch {
    return []
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
