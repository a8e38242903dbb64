import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generateSigningKey, mintProof, type SigningKey } from '../src/identity/index.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** The daemon of this checkout: what `npm test` has made one file of, or the sources. */
export const DAEMON_ENTRY = process.env['SUITES_DAEMON'] ?? entryOf(ROOT)

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any
}

export interface DaemonUnderTest {
  readonly home: string
  readonly port: number
  readonly origin: string
  readonly process: ChildProcess
  /** All that it wrote to its standard streams so far. */
  output(): string
  /** Asks it to end and waits; the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface DaemonOptions {
  readonly home?: string
  readonly env?: Readonly<Record<string, string>>
  /** The checkout whose daemon it is; this one if absent. */
  readonly checkout?: string
}

/** Where to leave what must happen once a test, or a suite, is over. A test's own context is one. */
export interface Cleanup {
  after(task: () => unknown): void
}

/** The cleanup of the `describe` it is called in, newest task first. */
export function suiteCleanup(): Cleanup {
  const tasks: (() => unknown)[] = []
  after(async () => {
    for (const task of tasks.toReversed()) await task()
  })
  return { after: (task) => tasks.push(task) }
}

/** What kills the daemons of a home. */
const kills = new Map<string, (() => Promise<unknown>)[]>()

/** A folder of its own for a test, removed after it, when its daemons are gone: a test's hooks run in their order. */
export function temporaryHome(t: Cleanup): string {
  const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  const home = join(folder, 'home')
  t.after(async () => {
    await Promise.all((kills.get(home) ?? []).map((kill) => kill()))
    kills.delete(home)
    rmSync(folder, { recursive: true, force: true })
  })
  return home
}

/** The real daemon as a process of its own, on a free port. */
export async function startDaemon(t: Cleanup, { home = temporaryHome(t), env = {}, checkout }: DaemonOptions = {}) {
  const child = spawnDaemon(home, env, checkout)
  let output = ''
  child.stdout?.on('data', (chunk) => (output += chunk))
  child.stderr?.on('data', (chunk) => (output += chunk))
  const exited = once(child, 'exit')
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    const [code] = await exited
    return code as number | null
  }
  const kill = () => stop('SIGKILL')
  t.after(kill)
  kills.set(home, [...(kills.get(home) ?? []), kill])
  const port = await Promise.race([
    whenListening(home, child.pid),
    exited.then(() => {
      throw new Error(`The daemon ended before it listened: ${output}${lastLogged(home)}`)
    }),
  ])
  const daemon: DaemonUnderTest = {
    home,
    port,
    origin: `http://127.0.0.1:${port}`,
    process: child,
    output: () => output,
    stop,
  }
  return daemon
}

/** Returns what the daemon wrote last: why it could not start. */
function lastLogged(home: string): string {
  const path = join(home, 'server', 'logs', 'daemon.log')
  return existsSync(path) ? (readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '') : ''
}

/** Starts it where it is expected to refuse; its exit code and what it said. */
export async function refusedDaemon(home: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawnDaemon(home, env)
  let output = ''
  child.stderr?.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  return { code: code as number | null, output }
}

function entryOf(checkout: string): string {
  return join(checkout, 'src/daemon/main.ts')
}

function spawnDaemon(home: string, env: Readonly<Record<string, string>>, checkout?: string): ChildProcess {
  return spawn(process.execPath, [checkout === undefined ? DAEMON_ENTRY : entryOf(checkout)], {
    env: { PATH: process.env['PATH'], HOME: home, BROKER_HOME: home, BROKER_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The port of the home's daemon, or of that process: `server/daemon.json` is written once it listens. */
export async function whenListening(home: string, pid?: number): Promise<number> {
  const path = join(home, 'server', 'daemon.json')
  const read = () => {
    try {
      // A test may have put something else there.
      if (!lstatSync(path).isFile()) return undefined
      const info = JSON.parse(readFileSync(path, 'utf8')) as { pid: number; port: number }
      return pid === undefined || info.pid === pid ? info.port : undefined
    } catch {
      return undefined
    }
  }
  const folder = join(home, '..')
  const changes = watch(folder, { recursive: true })
  try {
    for (;;) {
      const changed = once(changes, 'change')
      const port = read()
      if (port !== undefined) return port
      await changed
    }
  } finally {
    changes.close()
  }
}

export interface Caller {
  readonly key: SigningKey
  readonly handle: string
  /** A signed request with a JSON body. */
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

export function caller(daemon: DaemonUnderTest, handle: string, key = generateSigningKey()): Caller {
  return {
    key,
    handle,
    call(method, path, body, headers = {}) {
      const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))
      const proof = mintProof(key, { handle, method, url: daemon.origin + path, body: bytes })
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
      return send(daemon, method, path, bytes, { ...type, authorization: `PoP ${proof}`, ...headers })
    },
  }
}

/** A registered identity of the local owner. */
export async function owner(daemon: DaemonUnderTest, handle = 'ada'): Promise<Caller> {
  const one = caller(daemon, handle)
  const bootstrap = readFileSync(join(daemon.home, 'server', 'bootstrap.secret'), 'utf8').trim()
  const answer = await one.call(
    'POST',
    '/api/identities/register',
    { handle, did: one.key.did },
    { 'x-broker-bootstrap': bootstrap },
  )
  if (answer.status !== 201) throw new Error(`Registration failed: ${answer.text}`)
  return one
}

/** Stores an API key by a login session, as the command line does. */
export async function connect(one: Caller, provider: string, key: string, more: Record<string, unknown> = {}) {
  const session = await one.call('POST', '/api/auth/sessions', { provider, ...more })
  if (session.status !== 201) throw new Error(session.text)
  const done = await one.call('POST', `/api/auth/sessions/${session.body.id}/resume`, { input: { api_key: key } })
  if (done.body.status !== 'completed') throw new Error(done.text)
}

/**
 * One request on a connection of its own, with exactly these headers.
 * @param from an address of this machine to come from: all of 127.0.0.0/8 are
 */
export function send(
  daemon: Pick<DaemonUnderTest, 'port'>,
  method: string,
  path: string,
  body: Uint8Array | string = '',
  headers: Readonly<Record<string, string | string[]>> = {},
  from?: string,
): Promise<Answer> {
  // Node frames the body of a DELETE by nothing unless it is told to.
  const framing: Record<string, string> = body.length > 0 ? { 'content-length': String(Buffer.byteLength(body)) } : {}
  const place = { host: '127.0.0.1', port: daemon.port, ...(from !== undefined && { localAddress: from }) }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { ...place, method, path, headers: { ...framing, ...headers }, agent: false },
      (incoming) => {
        let text = ''
        incoming.setEncoding('utf8')
        incoming.on('data', (chunk) => (text += chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const isJson = String(incoming.headers['content-type']).startsWith('application/json')
          const parsed = isJson && text !== '' ? JSON.parse(text) : undefined
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parsed })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
