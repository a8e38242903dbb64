import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Secret } from '../protocol/index.ts'
import { loopbackSocket } from '../proxy/index.ts'

export interface LeftProcess {
  readonly pid: number
  readonly name: string
  /** In clock ticks since the system started: with its number it names one process. */
  readonly startedAt: string
}

/**
 * Returns whether it still runs: it is not one that has ended and waits for its parent, nor another that got its number.
 * @throws where this process may open no file to look
 */
export function isRunning({ pid, startedAt }: LeftProcess): boolean {
  const stat = statOf(pid)
  return stat !== undefined && !ENDED.has(stat.state) && stat.startedAt === startedAt
}

/** Whether this system tells which processes belong to a run: Linux does, by /proc. */
export const KNOWS_DESCENDANTS = process.platform === 'linux'

/**
 * The processes of one run: its child, whatever descends from it, and what was started with the run's own credentials in
 * its environment, which is how a process is known whose parents have ended. Where the system does not tell there are none.
 */
export class Descendants {
  readonly #marker: Secret
  readonly #admitted = new Map<number, string>()
  #root: { readonly pid: number; readonly startedAt: string | undefined } | undefined

  /** `marker` is a text that only the environment of this run's processes holds. */
  constructor(marker: Secret) {
    this.#marker = marker
  }

  /** The child, until it has ended: its number may be another's then. */
  setRoot(pid: number | undefined): void {
    this.#root = pid === undefined ? undefined : { pid, startedAt: startTimeWherePossible(pid) }
  }

  /** Asks the child to end, unless it has. */
  endRoot(): void {
    if (this.#root === undefined) return
    const { pid, startedAt } = this.#root
    if (startedAt !== startTimeWherePossible(pid)) return
    try {
      process.kill(pid, 'SIGTERM')
    } catch {
      // It ended meanwhile, or became another user's.
    }
  }

  /** Those that run now, the child among them. @throws where this process may open no file to look */
  living(): readonly LeftProcess[] {
    if (!KNOWS_DESCENDANTS) return []
    const all = runningProcesses()
    const marked = all.filter(({ pid }) => pid === this.#root?.pid || this.#isMarked(pid))
    const family = new Set(marked.map(({ pid }) => pid))
    // Parents may stand behind their children in the list.
    for (let grown = true; grown; ) {
      const children = all.filter(({ pid, parent }) => family.has(parent) && !family.has(pid))
      for (const { pid } of children) family.add(pid)
      grown = children.length > 0
    }
    const members = all.filter(({ pid }) => family.has(pid))
    return members.map(({ pid, name, startedAt }) => ({ pid, name: programOf(pid) ?? name, startedAt }))
  }

  /**
   * Returns whether the connection from `peerPort` to `ownPort`, both on loopback, was opened by one of them. A process that is
   * not found, or cannot be looked for, is none of them.
   */
  ownConnection(peerPort: number, ownPort: number): boolean {
    try {
      return this.#opened(peerPort, ownPort)
    } catch {
      return false
    }
  }

  #opened(peerPort: number, ownPort: number): boolean {
    const inode = KNOWS_DESCENDANTS ? socketInode(peerPort, ownPort) : undefined
    if (inode === undefined) return false
    // Those that were found before are looked at first: reading every process takes milliseconds.
    return this.#holdsAmongAdmitted(inode) || this.living().some(({ pid }) => this.#admits(pid, inode))
  }

  #holdsAmongAdmitted(inode: string): boolean {
    for (const [pid, startedAt] of this.#admitted) {
      if (startTime(pid) !== startedAt) this.#admitted.delete(pid)
      else if (holdsSocket(pid, inode)) return true
    }
    return false
  }

  #admits(pid: number, inode: string): boolean {
    const startedAt = startTime(pid)
    if (startedAt === undefined || !holdsSocket(pid, inode)) return false
    this.#admitted.set(pid, startedAt)
    return true
  }

  #isMarked(pid: number): boolean {
    return (
      pid !== process.pid && isOwn(pid) && (readText(`/proc/${pid}/environ`)?.includes(this.#marker.reveal()) ?? false)
    )
  }
}

/** The first word of its command line, without the folder: the name in `stat` is that of a thread. */
function programOf(pid: number): string | undefined {
  const [program = ''] = readText(`/proc/${pid}/cmdline`)?.split('\0', 1) ?? []
  return basename(program).slice(0, 40) || undefined
}

interface RunningProcess extends LeftProcess {
  readonly parent: number
}

const ENDED = new Set(['Z', 'X', 'x'])

function runningProcesses(): readonly RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = statOf(Number(name))
      return stat === undefined || ENDED.has(stat.state) ? [] : [{ pid: Number(name), ...stat }]
    })
}

interface ProcessStat extends Omit<RunningProcess, 'pid'> {
  readonly state: string
}

/** proc(5): the name stands in parentheses and may hold any character, parentheses too. */
function statOf(pid: number): ProcessStat | undefined {
  const text = readText(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  const end = text.lastIndexOf(')')
  const [state = '', parent = '', ...rest] = text.slice(end + 2).split(' ')
  return { name: text.slice(text.indexOf('(') + 1, end), state, parent: Number(parent), startedAt: rest[17] ?? '' }
}

function startTime(pid: number): string | undefined {
  return statOf(pid)?.startedAt
}

/** Undefined, too, where the system does not tell, or nothing can be opened to look. */
function startTimeWherePossible(pid: number): string | undefined {
  try {
    return startTime(pid)
  } catch {
    return undefined
  }
}

/** The inode of the socket whose own end is `localPort` and whose other end is `remotePort`, where it is of our own user. */
function socketInode(localPort: number, remotePort: number): string | undefined {
  const socket = loopbackSocket(localPort, remotePort)
  return socket !== undefined && socket.uid === process.getuid?.() && socket.inode !== '0' ? socket.inode : undefined
}

function holdsSocket(pid: number, inode: string): boolean {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some((descriptor) => linkOf(`${folder}/${descriptor}`) === `socket:[${inode}]`)
  } catch {
    return false
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function isOwn(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.getuid?.()
}

// Processes end while they are looked at, and some may not be looked into. That nothing can be opened tells nothing of any.
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_DESCRIPTORS.has(String(error.code))) throw error
    return undefined
  }
}

const NO_DESCRIPTORS = new Set(['EMFILE', 'ENFILE'])
