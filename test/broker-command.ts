import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Cleanup, type DaemonUnderTest, startDaemon, temporaryHome } from './daemon-under-test.ts'

/** The command line of this checkout. */
export const BROKER = fileURLToPath(new URL('../bin/broker', import.meta.url))
const ASKING_CHILD = fileURLToPath(new URL('./asking-child.ts', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  /** Standard input; empty where absent. */
  readonly input?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A home, its daemon, and the command line on both, in a folder of their own. */
export interface BrokerHome {
  readonly home: string
  readonly daemon: DaemonUnderTest
  /** Where commands are called. */
  readonly folder: string
  /** The environment of every command. */
  readonly env: Readonly<Record<string, string>>
  /** `TMPDIR` of all of them. */
  readonly temporary: string
  broker(args: readonly string[], options?: CommandOptions): Promise<Ended>
  start(args: readonly string[], options?: CommandOptions): RunningCommand
  /** `broker run` with these options around a child that asks what it is told to. */
  startAsking(args?: readonly string[], options?: CommandOptions): Promise<AskingRun>
  /** Starts the daemon again, on the port it had. */
  restart(t: Cleanup): Promise<DaemonUnderTest>
}

export interface RunningCommand {
  readonly process: ChildProcess
  readonly ended: Promise<Ended>
}

/** What the child of a run was answered; `failure` in place of all others where the request failed. */
export interface ChildAnswer {
  readonly status?: number
  readonly brokerError?: string | null
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  readonly body?: any
  readonly failure?: string
}

export interface AskingRun extends RunningCommand {
  readonly child: { readonly pid: number; readonly env: Readonly<Record<string, string>> }
  get(url: string): Promise<ChildAnswer>
  /** Through the proxy by CONNECT alone, so that a refusal can be read; `as` are other proxy credentials. */
  connect(authority: string, as?: string): Promise<ChildAnswer>
  /** Lets the child end. */
  end(): Promise<Ended>
}

/**
 * Starts the daemon on a free port and onboards. `env` goes to the daemon and to every command.
 * @param first happens before
 */
export async function onboarded(
  t: Cleanup,
  env: Readonly<Record<string, string>> = {},
  first: (world: BrokerHome) => Promise<unknown> = async () => undefined,
): Promise<BrokerHome> {
  const home = temporaryHome(t)
  const folder = join(dirname(home), 'folder')
  const temporary = join(dirname(home), 'temporary')
  for (const made of [folder, temporary]) mkdirSync(made)
  const daemonEnv = { BROKER_ENCRYPTION_MODE: 'local_key', ...env, TMPDIR: temporary }
  const daemon = await startDaemon(t, { home, env: daemonEnv })
  const common = {
    PATH: process.env['PATH'] ?? '',
    HOME: dirname(home),
    BROKER_HOME: home,
    ...daemonEnv,
    BROKER_PORT: String(daemon.port),
  }
  const start: BrokerHome['start'] = (args, options = {}) => {
    const running = startCommand(args, { cwd: folder, ...options, env: { ...common, ...options.env } })
    t.after(() => void running.process.kill('SIGKILL'))
    return running
  }
  const world: BrokerHome = {
    home,
    daemon,
    folder,
    temporary,
    env: common,
    start,
    broker: (args, options = {}) => {
      const running = start(args, options)
      running.process.stdin?.end(options.input ?? '')
      return running.ended
    },
    startAsking: (args = [], options = {}) =>
      askingRun(start(['run', ...args, '--', process.execPath, ASKING_CHILD], options)),
    restart: (cleanup) => startDaemon(cleanup, { home, env: { ...daemonEnv, BROKER_PORT: String(daemon.port) } }),
  }
  await first(world)
  const done = await world.broker(['onboard', '--json'])
  if (done.code !== 0) throw new Error(`Onboarding failed: ${done.stdout}${done.stderr}`)
  return world
}

/** Stores a key the way a script does: registered where `definition` is given, then piped in. */
export async function logIn(world: BrokerHome, provider: string, key: string, args: readonly string[] = []) {
  const done = await world.broker(['login', provider, ...args], { input: `${key}\n` })
  if (done.code !== 0) throw new Error(`Login failed: ${done.stderr}`)
}

function startCommand(args: readonly string[], { cwd, env }: CommandOptions): RunningCommand {
  const child = spawn(BROKER, args, { ...(cwd && { cwd }), env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  // A command that reads nothing closes its end first.
  child.stdin.on('error', () => undefined)
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return { process: child, ended }
}

async function askingRun(running: RunningCommand): Promise<AskingRun> {
  const { stdin, stdout } = running.process
  if (!stdin || !stdout) throw new Error('The command has no pipes')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`The run ended: ${JSON.stringify(await running.ended)}`)
    return JSON.parse(value)
  }
  const ask = (...words: readonly string[]) => {
    stdin.write(`${JSON.stringify(words)}\n`)
    return next()
  }
  return {
    ...running,
    child: await next(),
    get: (url) => ask('get', url),
    connect: (authority, as = '') => ask('connect', authority, as),
    end: () => {
      stdin.end()
      return running.ended
    },
  }
}
