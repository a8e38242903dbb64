import assert from 'node:assert/strict'
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { findProgram } from '../tools/available.ts'
import type { Cleanup } from './daemon-under-test.ts'
import { freePort } from './free-port.ts'

export interface Postgres {
  readonly url: string
  /** Makes an empty database; its URL. */
  newDatabase(name: string): Promise<string>
  stop(): Promise<void>
  /** Ends it, fast or at once, and starts it again on the same port and data. */
  restart(how: 'fast' | 'immediate'): Promise<void>
  /** Stops all its processes where they are; what lets them go on. */
  freeze(): () => void
}

/** The user that is asked for a password, once a test has made it. */
export const WITH_PASSWORD = 'locked'

/** A Postgres of its own on a free port; it refuses to run as root, so there it runs as its own user. */
export async function startPostgres(t: Cleanup): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'broker-postgres-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const account = process.getuid?.() === 0 ? postgresAccount() : undefined
  if (account) chownSync(folder, account.uid, account.gid)
  const data = join(folder, 'data')
  const options = { ...account, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C' } }
  const made = spawnSync(
    program('initdb'),
    ['-D', data, '-A', 'trust', '-U', 'broker', '--no-sync', '-E', 'UTF8'],
    options,
  )
  assert.equal(made.status, 0, String(made.stderr))
  const rules = join(data, 'pg_hba.conf')
  writeFileSync(rules, `host all ${WITH_PASSWORD} all scram-sha-256\n${readFileSync(rules, 'utf8')}`)
  const port = await freePort()
  let server: Server
  const start = async () => {
    server = await startServer(['-D', data, '-p', String(port), '-c', `unix_socket_directories=${folder}`], options)
  }
  // SIGINT is its fast shutdown: it cuts off its clients. SIGQUIT ends it as a crash would.
  const stop = async (signal: NodeJS.Signals = 'SIGINT') => {
    if (server.process.exitCode === null) server.process.kill(signal)
    await server.exited
  }
  await start()
  t.after(() => stop())
  const urlOf = (name: string) => `postgres://broker@127.0.0.1:${port}/${name}`
  const newDatabase = async (name: string) => {
    const client = new pg.Client(urlOf('postgres'))
    await client.connect()
    await client.query(`create database ${name}`)
    await client.end()
    return urlOf(name)
  }
  return {
    url: urlOf('postgres'),
    newDatabase,
    stop: () => stop(),
    async restart(how) {
      await stop(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await start()
    },
    freeze() {
      const pid = server.process.pid ?? 0
      const all = [pid, ...childrenOf(pid)]
      for (const one of all) process.kill(one, 'SIGSTOP')
      return () => {
        for (const one of all.splice(0)) process.kill(one, 'SIGCONT')
      }
    },
  }
}

interface Server {
  readonly process: ChildProcess
  readonly exited: Promise<unknown>
}

async function startServer(args: readonly string[], options: SpawnOptions): Promise<Server> {
  const server = spawn(program('postgres'), [...args, '-c', 'listen_addresses=127.0.0.1'], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(server, 'exit')
  for await (const line of createInterface({ input: server.stderr })) {
    if (line.includes('ready to accept connections')) break
  }
  // Read on, or it waits for somebody who takes what it says.
  server.stderr.resume()
  return { process: server, exited }
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((one) => one > 0 && parentOf(one) === pid)
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

function program(name: string): string {
  const path = findProgram(name)
  assert.ok(path, name)
  return path
}

function postgresAccount(): { uid: number; gid: number } {
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres']).stdout)
  return { uid: id('-u'), gid: id('-g') }
}
