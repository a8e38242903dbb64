import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from '../tools/available.ts'
import type { Cleanup } from './daemon-under-test.ts'
import { freePort } from './free-port.ts'

export interface RedisServer {
  readonly url: string
  /** The same for a user, or a password alone. */
  urlFor(user: string, password: string, database?: number): string
  /** What `redis-cli` answers. */
  command(...args: readonly string[]): string
  /** All that it holds, as it would write it to a disk. */
  dump(): Buffer
  stop(): Promise<void>
  /** On the same port, empty. */
  start(): Promise<void>
  /** Stops it where it is; what lets it go on. */
  freeze(): () => void
}

/** A Redis of its own on a free port. */
export async function startRedis(t: Cleanup): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'broker-redis-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  let server: ChildProcess
  const start = async () => {
    server = await startServer(folder, port)
  }
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }
  const command = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program('redis-cli'), ['-h', '127.0.0.1', '-p', String(port), ...args])
    assert.equal(status, 0, String(stderr))
    return String(stdout).trim()
  }
  await start()
  t.after(stop)
  return {
    url: `redis://127.0.0.1:${port}`,
    urlFor: (user, password, database = 0) => `redis://${user}:${password}@127.0.0.1:${port}/${database}`,
    command,
    dump() {
      command('SAVE')
      return readFileSync(join(folder, 'dump.rdb'))
    },
    stop,
    start,
    freeze() {
      server.kill('SIGSTOP')
      return () => server.kill('SIGCONT')
    },
  }
}

async function startServer(folder: string, port: number): Promise<ChildProcess> {
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--rdbcompression',
    'no',
  ]
  rmSync(join(folder, 'dump.rdb'), { force: true })
  const server = spawn(program('redis-server'), options, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.includes('Ready to accept connections')) break
  }
  server.stdout.resume()
  return server
}

function program(name: string): string {
  const path = findProgram(name)
  assert.ok(path, name)
  return path
}
