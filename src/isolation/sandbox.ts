import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hiddenArguments } from './hidden-places.ts'
import { IsolationUnavailable, type Sandbox } from './level.ts'
import { seatbeltProfile } from './seatbelt.ts'
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
  /** Ports of this machine that it shares. */
  readonly ports: readonly number[]
}

/** Where this version of Broker is. */
const PROGRAM = fileURLToPath(new URL('../../', import.meta.url))
const FIRST_PROCESS = fileURLToPath(new URL('./sandbox-init.cjs', import.meta.url))

/**
 * Leaves a command its own folder, caches and temporary files to write, no network, no processes but its own, no sockets of
 * the machine, and nothing of what keeps credentials. What the command is started by is a program of ours, which listens inside for
 * it and passes on to sockets that it is shown: see `sandbox-init.cjs`.
 * @throws IsolationUnavailable
 */
export async function makeSandbox(options: SandboxOptions): Promise<Sandbox> {
  refuseHiddenNeeds(options)
  if (process.platform === 'darwin') return await seatbelt(options)
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

const SANDBOX_EXEC = '/usr/bin/sandbox-exec'

/** On macOS a profile is all there is: no first program, and no way out but the ports that it names. */
async function seatbelt(options: SandboxOptions): Promise<Sandbox> {
  const { folder, needed, readable, writable, environment, userFolder, hidden, ports } = options
  if (!existsSync(SANDBOX_EXEC)) throw new IsolationUnavailable(`there is no ${SANDBOX_EXEC}`)
  const caches = cacheFolders(environment, userFolder)
  const enclosed: Sandbox['enclosed'] = ([file, ...args], { shown = [], own = [], reached = [] }) => {
    const profile = seatbeltProfile({
      hidden: { ...hidden, home: real(hidden.home), instead: real(hidden.instead) },
      credentials: credentialPlaces(environment, userFolder).flatMap(there),
      readable: [...readable, ...shown].map(real),
      writable: [...[ownFolder(folder), ...needed, ...caches, ...writable].flatMap(there), ...own],
      reached,
      shared: ports,
    })
    return [SANDBOX_EXEC, '-p', profile, file, ...args]
  }
  await tryOut(enclosed(['true'], {}), environment)
  return { enclosed, firstProcess: undefined, filter: undefined }
}

const NAMESPACES = ['user', 'pid', 'net', 'ipc', 'uts']

function wallsOf({ folder, readable, writable, environment, userFolder, needed }: SandboxOptions): readonly string[] {
  const [temporary = '/tmp'] = needed
  const folders = unique(['/tmp', '/var/tmp', '/run', temporary].filter((path) => existsSync(path)).map(real))
  const sockets = socketFolders(environment, userFolder)
  const credentials = credentialPlaces(environment, userFolder)
  const isOpened = (path: string) => [...readable, ...writable].some((opened) => isWithin(real(opened), real(path)))
  const hidden = unique([...credentials, ...sockets].flatMap(there)).filter(
    (path) => !isOpened(path) && !isWithin(path, real(folder)),
  )
  return [
    ...NAMESPACES.map((name) => `--unshare-${name}`),
    // In a network of its own it may serve at any port.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_NET_BIND_SERVICE'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...folders.flatMap((path) => ['--tmpfs', path]),
    // Broker itself may be there, from a checkout or from npx.
    ...unique([PROGRAM, dirname(process.execPath)].map(real))
      .filter((path) => folders.some((covering) => isWithin(covering, path)))
      .flatMap((path) => ['--ro-bind', path, path]),
    // Where some systems have their programs.
    ...['/run/current-system', '/run/wrappers'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...unique([ownFolder(folder), ...cacheFolders(environment, userFolder)].flatMap(there)).flatMap(bound),
    ...hidden.flatMap(covered),
    ...readable.flatMap((path) => ['--ro-bind', real(path), real(path)]),
    ...writable.flatMap((path) => bound(real(path))),
    // Not before: what was opened within has its place there.
    ...hidden.filter(isFolder).flatMap((path) => ['--remount-ro', path]),
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
  return isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]
}

function isFolder(path: string): boolean {
  return statSync(path).isDirectory()
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
