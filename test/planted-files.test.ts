import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { BROKER } from './broker-command.ts'
import { refusedDaemon, startDaemon, temporaryHome } from './daemon-under-test.ts'

/** Devices, and links to them, are tried in the rooms that open files. */
const KINDS = ['a link', 'a FIFO'] as const

/** The daemon opens, or names, these: and does not start, saying which one it is. */
const REFUSED_BY_DAEMON = [
  'client/config.json',
  'providers',
  'server',
  'server/logs',
  'server/logs/daemon.log',
  'server/config.json',
  'server/daemon.key',
  'server/bootstrap.secret',
  ...['broker.db', 'replay.db', 'daemon.lock'].flatMap((database) =>
    ['', '-wal', '-shm', '-journal'].map((ending) => `server/${database}${ending}`),
  ),
]

/** It starts: these are replaced whole, left out, or keep the vault sealed, which readiness says. */
const SERVED_WITH = [
  'identities',
  'identities/ada.key',
  'providers/acme.json',
  'server/copies',
  'server/daemon.json',
  'server/master.key',
  'server/vault-anchor.json',
]

/** What a command opens. One without its log goes on. */
const COMMANDS: readonly (readonly [path: string, command: string, outcome: 'refused' | 'done'])[] = [
  ['client', 'agent create ada', 'refused'],
  ['client/config.json', 'agent create ada', 'refused'],
  ['client/logs', 'agent create ada', 'done'],
  ['client/logs/broker.log', 'agent create ada', 'done'],
  ['client/logs/broker.log', 'log --raw', 'refused'],
  ['identities', 'agent create ada', 'refused'],
  ['identities/ada.key', 'agent create ada', 'refused'],
  ['identities/ada.json', 'agent create ada', 'refused'],
  ['server', 'daemon start', 'refused'],
  ['server/bootstrap.secret', 'agent create ada', 'refused'],
  ['server/daemon.json', 'daemon start', 'refused'],
  ['server/logs', 'daemon start', 'refused'],
  ['server/logs/start.log', 'daemon start', 'refused'],
  ['server/logs/daemon.log', 'daemon logs', 'refused'],
]

const OPTIONS = { concurrency: 2, timeout: 240_000 }
const PATIENCE_MS = 30_000

describe('what was planted in a home at a path that the daemon opens', OPTIONS, () => {
  for (const path of REFUSED_BY_DAEMON) {
    for (const kind of KINDS) {
      it(`keeps the daemon from starting, untouched: ${kind} at ${path}`, async (t) => {
        const { home, assertUntouched } = planted(t, path, kind)
        const { code, output } = await refusedDaemon(home, ENV)
        assert.deepEqual({ code, output: output.split('\n')[0]?.includes(`/home/${path}`) }, { code: 4, output: true })
        assertUntouched()
      })
    }
  }

  for (const path of SERVED_WITH) {
    for (const kind of KINDS) {
      it(`is not followed: ${kind} at ${path}`, async (t) => {
        const { home, assertUntouched } = planted(t, path, kind)
        await (await startDaemon(t, { home, env: ENV })).stop()
        assertUntouched()
      })
    }
  }
})

describe('what was planted in a home at a path that a command opens', OPTIONS, () => {
  for (const [path, command, outcome] of COMMANDS) {
    for (const kind of KINDS) {
      it(`is not followed by \`broker ${command}\`: ${kind} at ${path}`, (t) => {
        const { home, assertUntouched } = planted(t, path, kind)
        const { status, stderr } = spawnSync(BROKER, command.split(' '), {
          env: { ...ENV, PATH: process.env['PATH'], HOME: dirname(home), BROKER_HOME: home, BROKER_PORT: '1' },
          timeout: PATIENCE_MS,
          encoding: 'utf8',
        })
        assert.equal(status, outcome === 'refused' ? 4 : 0, stderr)
        if (outcome === 'refused') assert.match(stderr, new RegExp(`/home/${path}`))
        assertUntouched()
      })
    }
  }
})

const ENV = { BROKER_ENCRYPTION_MODE: 'local_key' }

function planted(t: TestContext, path: string, kind: (typeof KINDS)[number]) {
  const home = temporaryHome(t)
  const place = join(home, path)
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
  const target = join(home, '../target')
  writeFileSync(target, '', { mode: 0o644 })
  if (kind === 'a link') symlinkSync(target, place)
  else execFileSync('mkfifo', [place])
  const before = lookOf(target)
  return { home, assertUntouched: () => assert.deepEqual(lookOf(target), before) }
}

function lookOf(path: string) {
  const { mode, mtimeMs, nlink, size } = statSync(path)
  return { mode, mtimeMs, nlink, size }
}
