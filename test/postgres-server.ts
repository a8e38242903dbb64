import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { findProgram } from '../tools/available.ts'
import type { Cleanup } from './daemon-under-test.ts'

export interface Postgres {
  readonly url: string
  /** Makes an empty database; its URL. */
  newDatabase(name: string): Promise<string>
  stop(): Promise<void>
}

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
  const port = await freePort()
  const server = spawn(
    program('postgres'),
    ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const exited = once(server, 'exit')
  const stop = async () => {
    // SIGINT is its fast shutdown: it cuts off its clients.
    if (server.exitCode === null) server.kill('SIGINT')
    await exited
  }
  t.after(stop)
  for await (const line of createInterface({ input: server.stderr })) {
    if (line.includes('ready to accept connections')) break
  }
  const urlOf = (name: string) => `postgres://broker@127.0.0.1:${port}/${name}`
  const newDatabase = async (name: string) => {
    const client = new pg.Client(urlOf('postgres'))
    await client.connect()
    await client.query(`create database ${name}`)
    await client.end()
    return urlOf(name)
  }
  return { url: urlOf('postgres'), newDatabase, stop }
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

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
