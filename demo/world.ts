import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LocalApi } from './local-api.ts'
import { check, command, quote } from './report.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** A throw-away home, from which the APIs can be reached under their names. */
export interface World {
  /** Returns whether any file of the home holds these words. */
  homeHolds(text: string): boolean
  /** Starts the command line in the throw-away home. */
  start(args: readonly string[]): Started
  /** Writes a provider definition to a file; its path. */
  definitionFile(definition: { readonly name: string }): string
  close(): Promise<void>
}

export interface Started {
  /** Writes to what it reads from. */
  send(line: string): void
  /** Waits for words on either of its outputs, from its start on. @throws where it ends without them */
  said(words: RegExp): Promise<string>
  /** Closes what it reads from and waits for its end. */
  ended(input?: string): Promise<Ended>
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** @param broker the command line to use, where it is not the checkout's */
export async function makeWorld(apis: readonly LocalApi[], broker = join(ROOT, 'bin/broker')): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'broker-demo-'))
  const home = join(folder, 'home')
  const caFile = join(folder, 'acme-ca.pem')
  writeFileSync(caFile, apis.map(({ caPem }) => caPem).join('\n'))
  const env = {
    ...withoutBroker(process.env),
    BROKER_HOME: home,
    BROKER_PORT: String(await freePort()),
    BROKER_ENCRYPTION_MODE: 'local_key',
    BROKER_PROXY_CA_FILE: caFile,
    BROKER_PROXY_CONNECT_TO: apis
      .flatMap(({ hosts, port }) => hosts.map((host) => `${host}:443:127.0.0.1:${port}`))
      .join(),
  }
  const children = new Set<ChildProcess>()
  const start = (args: readonly string[]) => {
    const child = spawn(broker, args, { env, cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] })
    children.add(child)
    child.once('close', () => children.delete(child))
    return started(child, args)
  }
  return {
    start,
    homeHolds: (text) => filesHold(home, text),
    definitionFile(definition) {
      const file = join(folder, `${definition.name}.json`)
      writeFileSync(file, JSON.stringify(definition, null, 2))
      return file
    },
    async close() {
      // None is left where all went well.
      for (const child of children) child.kill()
      await start(['daemon', 'stop']).ended()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs one command to its end, shown as it would be typed; the demo fails where the command does. */
export async function step(world: World, args: readonly string[], input?: string): Promise<Ended> {
  command(`${input === undefined ? '' : '… | '}broker ${args.join(' ')}`)
  const ended = await world.start(args).ended(input)
  if (ended.code !== 0) quote(ended.stderr || ended.stdout)
  check('exit code 0', ended.code === 0)
  return ended
}

/** A module of this folder behind `broker run`. */
export function startBehindBroker(world: World, module: string, ...args: readonly string[]): Started {
  command(`broker run -- node ${module}`)
  return world.start(['run', '--', process.execPath, fileURLToPath(new URL(module, import.meta.url)), ...args])
}

function started(child: ChildProcessWithoutNullStreams, args: readonly string[]): Started {
  // A command that reads nothing closes its end first.
  child.stdin.on('error', () => undefined)
  const said = { stdout: '', stderr: '' }
  const heard = new EventEmitter().setMaxListeners(0)
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      said[name] += chunk
      heard.emit('more')
    })
  }
  const code = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  return {
    send: (line) => child.stdin.write(`${line}\n`),
    async said(words) {
      for (;;) {
        const [found] = words.exec(said.stdout) ?? words.exec(said.stderr) ?? []
        if (found !== undefined) return found
        const more = await Promise.race([once(heard, 'more'), code])
        if (!Array.isArray(more)) throw new Error(`broker ${args.join(' ')} ended with ${more}: ${said.stderr}`)
      }
    },
    async ended(input = '') {
      child.stdin.end(input)
      return { code: await code, ...said }
    },
  }
}

function filesHold(folder: string, text: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text))
}

function withoutBroker(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BROKER_')))
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
