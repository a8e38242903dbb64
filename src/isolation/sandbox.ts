import { existsSync, realpathSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hiddenArguments } from './hidden-places.ts'
import { IsolationUnavailable, type Sandbox } from './level.ts'
import { refuseHiddenNeeds, type ShieldOptions, tryOut } from './shield.ts'
import { terminalFilter } from './terminal-filter.ts'
import { systemTool } from './tools.ts'
import { cacheFolders, credentialPlaces, socketFolders } from './user-places.ts'

export interface SandboxOptions extends ShieldOptions {
  /** What the command may read although it is hidden from others: absolute, and there. */
  readonly readable: readonly string[]
  /** What the command may write beside its folder, caches and temporary files: absolute, and there. */
  readonly writable: readonly string[]
  /** Home folder of the user. */
  readonly userFolder: string
  /** What the command sees as the file of host names; the machine's where absent. */
  readonly hostsFile?: string | undefined
}

const FIRST_PROCESS = fileURLToPath(new URL('./sandbox-init.cjs', import.meta.url))

/**
 * Leaves a command its own folder, caches and temporary files to write, no network, no processes but its own, no sockets of
 * the machine, and nothing of what keeps credentials. What the command is started by is a program of ours, which listens inside for
 * it and passes on to sockets that it is shown: see `sandbox-init.cjs`.
 * @throws IsolationUnavailable
 */
export async function makeSandbox(options: SandboxOptions): Promise<Sandbox> {
  refuseHiddenNeeds(options)
  if (process.platform !== 'linux') throw new IsolationUnavailable('this system has none')
  const bwrap = systemTool('bwrap', options.environment)
  const walls = wallsOf(options)
  const enclosed: Sandbox['enclosed'] = ([file, ...args], { shown = [], own = [], filterAt }) => [
    bwrap,
    ...walls,
    ...shown.flatMap((path) => ['--ro-bind', path, path]),
    ...own.flatMap(bound),
    ...hiddenArguments(options.hidden),
    ...(options.hostsFile ? ['--ro-bind', options.hostsFile, '/etc/hosts'] : []),
    ...(filterAt === undefined ? [] : ['--seccomp', String(filterAt)]),
    ...['--chdir', options.folder, '--', file, ...args],
  ]
  await tryOut(enclosed(['true'], {}), options.environment)
  return { enclosed, firstProcess: [process.execPath, FIRST_PROCESS], filter: terminalFilter() }
}

const NAMESPACES = ['user', 'pid', 'net', 'ipc', 'uts']

function wallsOf({ folder, readable, writable, environment, userFolder, needed }: SandboxOptions): readonly string[] {
  const [temporary = '/tmp'] = needed
  const folders = unique(['/tmp', '/var/tmp', '/run', temporary].filter((path) => existsSync(path)).map(real))
  const sockets = socketFolders(environment, userFolder)
  const credentials = credentialPlaces(environment, userFolder)
  const isOpened = (path: string) => [...readable, ...writable].some((opened) => isWithin(real(opened), real(path)))
  return [
    ...NAMESPACES.map((name) => `--unshare-${name}`),
    // In a network of its own it may serve at any port.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_NET_BIND_SERVICE'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...folders.flatMap((path) => ['--tmpfs', path]),
    // Where some systems have their programs.
    ...['/run/current-system', '/run/wrappers'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...unique([ownFolder(folder), ...cacheFolders(environment, userFolder)].flatMap(there)).flatMap(bound),
    ...unique([...credentials, ...sockets].flatMap(there))
      .filter((path) => !isOpened(path) && !isWithin(path, real(folder)))
      .flatMap(covered),
    ...readable.flatMap((path) => ['--ro-bind', real(path), real(path)]),
    ...writable.flatMap((path) => bound(real(path))),
  ]
}

/** All of a machine is no folder to work in. */
function ownFolder(folder: string): string {
  return real(folder) === '/' ? '' : folder
}

function bound(path: string): readonly string[] {
  return ['--bind', path, path]
}

function covered(path: string): readonly string[] {
  return statSync(path).isDirectory() ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]
}

function there(path: string): readonly string[] {
  return path !== '' && existsSync(path) ? [real(path)] : []
}

function real(path: string): string {
  return realpathSync(path)
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || !way.startsWith('..')
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)]
}
