import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, realpathSync } from 'node:fs'
import { relative } from 'node:path'
import type { Readable } from 'node:stream'
import { type HiddenPlaces, hiddenArguments } from './hidden-places.ts'
import { type Enclosure, IsolationUnavailable } from './level.ts'
import { systemTool } from './tools.ts'

export interface ShieldOptions {
  readonly hidden: HiddenPlaces
  /** Where the command is started. */
  readonly folder: string
  /** Folders that the command needs, which may not lie in what is hidden. */
  readonly needed: readonly string[]
  /** Names the PATH on which the system's tools are. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * Hides what is Broker's from a command and leaves it all else: bubblewrap makes a mount namespace without it, and the
 * command enters that by itself, so that it is the process that was started, with its signals, its terminal and its number.
 * An ordinary user's has a user namespace of its own, from which no process outside can be looked into. Root keeps its own
 * and loses the capabilities for that: in another one it could not bind a port or change an owner.
 * @throws IsolationUnavailable
 */
export async function raiseShield(options: ShieldOptions): Promise<Enclosure> {
  if (process.platform !== 'linux') throw new IsolationUnavailable('this system has no shield; macOS has the sandbox')
  refuseHiddenNeeds(options)
  const { environment, folder, hidden } = options
  const tools = {
    bwrap: systemTool('bwrap', environment),
    nsenter: systemTool('nsenter', environment),
    ...(isRoot() && { setpriv: systemTool('setpriv', environment) }),
  }
  const holder = startHolder(tools.bwrap, hidden, environment)
  const release = () => void holder.stdin?.end()
  try {
    const wards = tools.setpriv ? lessThanRoot(tools.setpriv) : []
    // Not --wd, which is opened before: a folder of the namespace outside leads up to everything there.
    const inside = [`--wdns=${folder}`, '--', ...wards]
    // Meanwhile: whether these tools know what they are told.
    const [pid] = await Promise.all([pidWithin(holder), tryOut([tools.nsenter, ...inside, 'true'], environment)])
    const spaces = [...namespacesOf(pid), ...inside]
    const enclosed: Enclosure['enclosed'] = (command) => [tools.nsenter, ...spaces, ...command]
    return { level: 'shield', enclosed, release }
  } catch (error) {
    release()
    throw error
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** @throws IsolationUnavailable where the command would be without a folder that it needs */
export function refuseHiddenNeeds({ hidden, folder, needed }: ShieldOptions): void {
  const home = realpathSync(hidden.home)
  for (const path of [folder, ...needed]) {
    if (existsSync(path) && isWithin(home, path))
      throw new IsolationUnavailable(`"${path}" is within the home of Broker, which is hidden`)
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, realpathSync(path))
  return way === '' || !way.startsWith('..')
}

/** Says `ready` once all is mounted, and waits until nobody holds its standard input any more. */
const HOLD = 'echo ready; read -r _'

function startHolder(bwrap: string, hidden: HiddenPlaces, { PATH }: ShieldOptions['environment']): ChildProcess {
  const own = isRoot() ? [] : ['--unshare-user']
  const args = [...own, '--dev-bind', '/', '/', ...hiddenArguments(hidden), '--info-fd', '3', '--', 'sh', '-c', HOLD]
  // In a session of its own: what a terminal sends is for the command.
  return spawn(bwrap, args, { detached: true, cwd: '/', env: { PATH }, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
}

const TIME_LIMIT = 20_000

/** Number of a process in the namespaces, once they are whole. */
async function pidWithin(holder: ChildProcess): Promise<number> {
  const [, stdout, stderr, info] = holder.stdio as readonly Readable[]
  const complaint = collected(stderr)
  const whole = Promise.all([said(stdout, /ready/), said(info, /"child-pid":\s*(\d+)/)])
  const failed = once(holder, 'close').then(
    () => undefined,
    (error: Error) => error,
  )
  const tooLate = setTimeout(() => holder.kill('SIGKILL'), TIME_LIMIT)
  holder.stdin?.on('error', () => {})
  try {
    const found = await Promise.race([whole, failed])
    if (Array.isArray(found)) return Number(found[1]?.[1])
    throw new IsolationUnavailable(reasonOf(complaint.text) ?? found?.message ?? 'bubblewrap ended before it was ready')
  } finally {
    clearTimeout(tooLate)
    for (const one of [holder, ...holder.stdio]) (one as { unref?: () => void } | null)?.unref?.()
  }
}

/** What a stream says, as soon as it has said it; never where it does not. */
function said(stream: Readable | undefined, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve) => {
    const heard = collected(stream)
    stream?.on('data', () => {
      const match = pattern.exec(heard.text)
      if (match) resolve(match)
    })
  })
}

/** All that has come so far. */
function collected(stream: Readable | null | undefined): { readonly text: string } {
  const heard = { text: '' }
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    heard.text += chunk
  })
  return heard
}

/** `bwrap: setting up uid map: Permission denied` */
function reasonOf(complaint: string): string | undefined {
  const line = complaint
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^\S*bwrap:\s*/, '')
  return line ? `bubblewrap says: ${line}` : undefined
}

function namespacesOf(pid: number): readonly string[] {
  const spaces = `/proc/${pid}/ns`
  const user = isRoot() ? [] : [`--user=${spaces}/user`, '--preserve-credentials']
  return [...user, `--mount=${spaces}/mnt`]
}

/**
 * Capabilities by which root would undo the mounts or look into a process that has them. What is left of root does not look
 * into one that has more.
 */
const TAKEN_FROM_ROOT = ['sys_admin', 'sys_ptrace', 'dac_read_search', 'perfmon', 'bpf', 'checkpoint_restore']

function lessThanRoot(setpriv: string): readonly string[] {
  const less = TAKEN_FROM_ROOT.map((name) => `-${name}`).join(',')
  return [setpriv, `--bounding-set=${less}`, `--inh-caps=${less}`, '--']
}

/** What cannot be entered is found out before anybody counts on it. */
export async function tryOut([file, ...args]: readonly [string, ...string[]], { PATH }: ShieldOptions['environment']) {
  const child = spawn(file, args, { cwd: '/', env: { PATH }, stdio: ['ignore', 'ignore', 'pipe'] })
  const complaint = collected(child.stderr)
  const code = await once(child, 'close').then(
    ([code]) => code as number | null,
    () => null,
  )
  if (code === 0) return
  const why = complaint.text.trim().split('\n').at(0)
  throw new IsolationUnavailable(`it cannot be entered${why ? `: ${why}` : ''}`)
}
