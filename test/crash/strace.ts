import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAEMON_ENTRY, whenListening } from '../daemon-under-test.ts'

/** What can be done to one call of a daemon: the process ends before it, or it fails. */
export const FAULTS = ['kill', 'EIO', 'ENOSPC'] as const
export type Fault = (typeof FAULTS)[number]

/** A call on a file of the home: the how manieth of its name in its thread. */
export interface Point {
  readonly call: string
  readonly ordinal: number
  /** For people: the call with its file. */
  readonly what: string
}

/** Calls that change a file or a folder; a question mark for those that not every processor has. */
const CALLS = [
  ...['openat', 'write', 'pwrite64', 'writev', 'pwritev', 'fsync', 'fdatasync', 'ftruncate', 'fchmod', 'fchmodat'],
  ...['?rename', 'renameat', '?renameat2', '?unlink', 'unlinkat', '?mkdir', 'mkdirat', '?link', 'linkat', '?chmod'],
]

export interface TracedDaemon {
  /** Undefined where it ended before it listened. */
  readonly port: number | undefined
  /** Asks it to end, and waits. */
  stop(): Promise<Ended>
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
  /** Whether it had to be ended by force. */
  readonly isStuck: boolean
}

export interface Trace {
  readonly home: string
  /** Where the calls are written. */
  readonly file: string
}

const PATIENCE_MS = 40_000

/** Starts the daemon of a home under strace, with a fault at a point where one is given. */
export async function traceDaemon(
  { home, file }: Trace,
  fault?: { readonly fault: Fault; readonly point: Point },
): Promise<TracedDaemon> {
  const child = spawn('strace', [...straceOptions(file, fault), process.execPath, DAEMON_ENTRY], {
    env: { ...TRACED, PATH: process.env['PATH'], HOME: home, BROKER_HOME: home, BROKER_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const exited = once(child, 'close')
  const port = await withinPatience(Promise.race([whenListening(home), exited.then(() => undefined)]))
  return {
    port: port === 'late' ? undefined : port,
    async stop() {
      signalTo(file, child, 'SIGTERM')
      const isStuck = port === 'late' || (await withinPatience(exited)) === 'late'
      if (isStuck) signalTo(file, child, 'SIGKILL')
      await exited
      return { code: child.exitCode, signal: child.signalCode, output, isStuck }
    },
  }
}

/** Sources that were read once are read faster: most of a run is the daemon's start. */
export const ENV = { BROKER_ENCRYPTION_MODE: 'local_key', NODE_COMPILE_CACHE: join(tmpdir(), 'broker-sweep-cache') }

// Threads of a pool, and io_uring, would make calls in another order each time.
const TRACED = { ...ENV, UV_USE_IO_URING: '0', UV_THREADPOOL_SIZE: '1' }

export function straceOptions(
  file: string,
  fault?: { readonly fault: Fault; readonly point: Point },
): readonly string[] {
  const always = [
    '-f',
    '--seccomp-bpf',
    '-y',
    '-qq',
    '-s',
    '0',
    '-o',
    file,
    '-e',
    'signal=none',
    '-e',
    `trace=${CALLS.join()}`,
  ]
  if (fault === undefined) return always
  const { call, ordinal } = fault.point
  const deed = fault.fault === 'kill' ? 'signal=SIGKILL' : `error=${fault.fault}`
  return [...always, '-e', `inject=${call}:${deed}:when=${ordinal}`]
}

/** Returns what the work comes to, or `late`. */
export async function withinPatience<Result>(work: Promise<Result>): Promise<Result | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), PATIENCE_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** To the daemon itself: its number begins the first line. What kills strace alone lets it go on. */
function signalTo(file: string, child: ChildProcess, signal: NodeJS.Signals): void {
  const pid = Number(/^\d+/.exec(readTrace(file))?.[0])
  try {
    if (pid > 0 && child.exitCode === null) process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

/** Every point of a run, once each, in their order. */
export function pointsOf(trace: Trace): readonly Point[] {
  const points = new Map<string, Point>()
  for (const { call, ordinal, line } of callsOf(trace.file)) {
    const key = `${call} ${ordinal}`
    if (isOfHome(line, trace.home) && !points.has(key))
      points.set(key, { call, ordinal, what: nameOf(line, trace.home) })
  }
  return [...points.values()]
}

/**
 * Returns what the fault came upon; undefined where that was, in any thread, no file of the home: calls of a run are not numbered
 * alike each time, and a failed call on a socket is no failed disk.
 */
export function hitOf(trace: Trace, fault: Fault, { call, ordinal }: Point): string | undefined {
  const hits = callsOf(trace.file).filter((one) => one.call === call && one.ordinal === ordinal)
  const [first, ...others] = fault === 'kill' ? hits.slice(0, 1) : hits
  if (first === undefined || ![first, ...others].every(({ line }) => isOfHome(line, trace.home))) return undefined
  return nameOf(first.line, trace.home)
}

const CALL = /^(\d+) +(\w+)\(/

function callsOf(file: string): readonly { call: string; ordinal: number; line: string }[] {
  const counts = new Map<string, number>()
  return readTrace(file)
    .split('\n')
    .flatMap((line) => {
      const [, thread, call] = CALL.exec(line) ?? []
      if (thread === undefined || call === undefined) return []
      const ordinal = (counts.get(`${thread} ${call}`) ?? 0) + 1
      counts.set(`${thread} ${call}`, ordinal)
      return [{ call, ordinal, line }]
    })
}

function readTrace(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function isOfHome(line: string, home: string): boolean {
  if (/ openat\(/.test(line) && !line.includes('O_CREAT')) return false
  return line.includes(`"${home}`) || line.includes(`<${home}`)
}

function nameOf(line: string, home: string): string {
  const call = CALL.exec(line)?.[2] ?? ''
  const paths = [...line.matchAll(/[<"](\/[^>"]*)[>"]/g)].flatMap(([, path = '']) =>
    path.startsWith(home) ? [path.slice(home.length + 1) || '.'] : [],
  )
  return `${call} ${paths.join(' → ')}`.replaceAll(/\.[0-9a-f]{12}\.tmp/g, '.….tmp').replaceAll(join(home), '')
}
