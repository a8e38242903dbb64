import { spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isNothingListening } from '../client/index.ts'
import {
  type Config,
  type DaemonInfo,
  folderOfHome,
  isSealed,
  privateFolder,
  readDaemonInfo,
  withoutProxies,
} from '../config/index.ts'
import { BrokerError } from '../protocol/index.ts'
import { ensureDashboard } from './built-dashboard.ts'
import type { DebugLog } from './debug-log.ts'
import { connect, proveDaemon } from './session.ts'

const START_LIMIT = 20_000
// It lets a refresh that is under way come to its end.
const STOP_LIMIT = 40_000
const LOOK_AGAIN = 25

const ENTRY = fileURLToPath(new URL('../daemon/main.ts', import.meta.url))

/** File and arguments of the daemon's own entry: the command line never loads the daemon's code. */
export const DAEMON_COMMAND: readonly [string, ...string[]] = [
  process.execPath,
  '--disable-sigusr1',
  '--disable-warning=ExperimentalWarning',
  ENTRY,
]

/** The environment in which a daemon keeps its compiled code where this command keeps its own, if it does. */
export function withCompileCache(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir()
  // The folder's last part is of this version of Node.
  return folder === undefined ? environment : { ...environment, NODE_COMPILE_CACHE: dirname(folder) }
}

/** Starts the daemon in the background where nothing listens at the home's own address; any other daemon is left to itself. */
export async function ensureDaemon(config: Config, log: DebugLog): Promise<'running' | 'started'> {
  try {
    await proveDaemon(config, log)
    return 'running'
  } catch (error) {
    if (!config.baseUrlIsOwn || !isNothingListening(error)) throw error
    await startDaemon(config, log)
    return 'started'
  }
}

/**
 * Starts the home's daemon in the background and waits until it has proven to be it.
 * @throws BrokerError DaemonUnavailableError with the daemon's own last words.
 */
export async function startDaemon(config: Config, log: DebugLog): Promise<DaemonInfo> {
  requireOwn(config)
  privateFolder(config.paths.home)
  folderOfHome(config.paths.server)
  folderOfHome(dirname(config.paths.daemonLog))
  const built = ensureDashboard()
  // What cannot be read after the start is refused before it.
  readDaemonInfo(config.paths)
  const words = join(dirname(config.paths.daemonLog), 'start.log')
  const [file, ...args] = DAEMON_COMMAND
  const output = openForWords(words)
  const child = spawn(file, args, {
    detached: true,
    cwd: '/',
    // It outlives the run that it may be started in.
    env: {
      ...withCompileCache(config.outerRun === undefined ? config.environment : withoutProxies(config.environment)),
      // Where commands look for it: a daemon that comes after another of this home takes its place.
      BROKER_PORT: String(config.ownPort),
    },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  let ended: number | string | undefined
  child.once('error', (error) => {
    ended = error.message
  })
  child.once('exit', (code, signal) => {
    ended = code ?? signal ?? 1
  })
  child.unref()
  log.write({ event: 'daemon_started', pid: child.pid })
  const info = await untilProven(config, log, () => {
    if (ended !== undefined) throw didNotStart(config, words)
  })
  await built
  return info
}

async function untilProven(config: Config, log: DebugLog, checkAlive: () => void): Promise<DaemonInfo> {
  const client = connect(config, log)
  const deadline = Date.now() + START_LIMIT
  try {
    for (;;) {
      const info = readDaemonInfo(config.paths)
      const isLate = Date.now() > deadline
      // What is written may be of a daemon before, as long as nothing listens.
      const mayComeYet = (error: unknown) => (isSealed(info) ? isNothingListening(error) : !isLate)
      if (info && (await hasProven(client, mayComeYet))) return info
      checkAlive()
      if (Date.now() > deadline) throw tooSlow(config)
      await delay(LOOK_AGAIN)
    }
  } finally {
    client.close()
  }
}

async function hasProven(
  client: ReturnType<typeof connect>,
  mayComeYet: (error: unknown) => boolean,
): Promise<boolean> {
  try {
    await client.prove()
    return true
  } catch (error) {
    if (mayComeYet(error)) return false
    throw error
  }
}

/** Ends the home's daemon, having made sure that it is it, and waits until it is gone. Undefined where none runs. */
export async function stopDaemon(config: Config, log: DebugLog): Promise<DaemonInfo | undefined> {
  requireOwn(config)
  const info = readDaemonInfo(config.paths)
  try {
    await proveDaemon(config, log)
  } catch (error) {
    if (isNothingListening(error)) return undefined
    // It cannot prove anything. That it is ours, this home says, and nobody else writes there.
    if (info === undefined || !isSealed(info) || !isAlive(info.pid)) throw error
  }
  if (info === undefined) return undefined
  process.kill(info.pid, 'SIGTERM')
  await untilGone(info)
  return info
}

async function untilGone({ pid }: DaemonInfo): Promise<void> {
  const deadline = Date.now() + STOP_LIMIT
  while (isAlive(pid)) {
    if (Date.now() > deadline) {
      throw new BrokerError('DaemonUnavailableError', `The daemon (pid ${pid}) was told to stop and still runs`, {
        hint: 'See what it waits for with `broker daemon logs`.',
      })
    }
    await delay(LOOK_AGAIN)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false
  }
}

// In a container the first process may take seconds to collect an ended one.
function isZombie(pid: number): boolean {
  try {
    return /\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** @throws BrokerError OperationNotAllowedError where the configured daemon is not one of this home. */
export function requireOwn(config: Config): void {
  if (config.baseUrlIsOwn) return
  throw new BrokerError('OperationNotAllowedError', `The daemon at ${config.baseUrl} is not started from this home`, {
    hint: 'Start it where it belongs; `broker daemon serve` runs one in the foreground.',
  })
}

function openForWords(path: string): number {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    // Not emptied before it is known to be a file; a FIFO is not waited for.
    const descriptor = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
    if (!fstatSync(descriptor).isFile()) throw new Error('it is no regular file')
    ftruncateSync(descriptor)
    return descriptor
  } catch (cause) {
    throw new BrokerError('OperationNotAllowedError', `Cannot write "${path}": it is a link, or no regular file`, {
      hint: 'Remove it and start the daemon again.',
      cause,
    })
  }
}

function didNotStart(config: Config, words: string): BrokerError {
  const last = readFileSync(words, 'utf8').trim().split('\n').slice(-5).join('; ')
  return new BrokerError('DaemonUnavailableError', `The daemon did not start${last ? `: ${last}` : ''}`, {
    hint: `Its log is "${config.paths.daemonLog}"; \`broker daemon serve\` runs it in the foreground.`,
  })
}

function tooSlow(config: Config): BrokerError {
  const seconds = START_LIMIT / 1000
  return new BrokerError('DaemonUnavailableError', `The daemon was started and did not answer within ${seconds} s`, {
    hint: `Its log is "${config.paths.daemonLog}".`,
  })
}
