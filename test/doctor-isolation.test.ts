import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { ATTACKER } from '../src/isolation/index.ts'
import { findProgram } from '../tools/available.ts'
import { BROKER, type BrokerHome, onboarded } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'
import { freePort } from './free-port.ts'
import { whyNoIsolation } from './isolation-here.ts'
import { pathWith } from './path-with.ts'

/** `nobody`, who is on every system. */
const USER = 65_534

/** Some systems let nobody but root look into the memory of what it did not start. */
const MAY_ATTACH = process.getuid?.() === 0 || !existsSync('/proc/sys/kernel/yama/ptrace_scope')

/** Everything that the shield holds, in the order of the table in SECURITY.md. */
const OF_KEYS = [
  'identity_key',
  'master_key',
  'owner_secrets',
  'vault_store',
  'broker_settings',
  'daemon_memory',
  'daemon_environment',
  'run_memory',
  'run_environment',
  'sign_in_link',
  'secret_from_run',
]
const OF_SANDBOX = [
  'daemon',
  'metadata_address',
  'network_without_proxy',
  'machine_through_proxy',
  'ssh_agent',
  'docker_socket',
  'kill_parent',
  'write_outside',
]

interface Report {
  readonly level: string
  readonly attacks: readonly { readonly name: string; readonly verdict: string; readonly detail?: string }[]
}

function names({ attacks }: Report, verdict: string): readonly string[] {
  return attacks.filter((one) => one.verdict === verdict).map(({ name }) => name)
}

describe('broker doctor --isolation', { skip: whyNoIsolation(), timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  let agents: Readonly<Record<string, string>>
  before(async () => {
    world = await onboarded(cleanup)
    agents = { SSH_AUTH_SOCK: await socket('agent'), DOCKER_HOST: `unix://${await socket('docker')}` }
  })

  /** A socket that somebody answers at, in a folder that a sandbox shows. */
  async function socket(name: string): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
    cleanup.after(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, name)
    const server = createSocketServer((one) => one.end()).listen(path)
    await once(server, 'listening')
    cleanup.after(() => server.close())
    return path
  }

  async function doctor(args: readonly string[], env = {}) {
    const { code, stdout, stderr } = await world.broker(['doctor', ...args, '--json'], { env: { ...agents, ...env } })
    return { code, stderr, report: JSON.parse(stdout) as Report }
  }

  it('has every attack on keys held by the shield, and says what the shield does not promise', async () => {
    const { code, report, stderr } = await doctor(['--isolation=shield'])

    assert.equal(code, 0, JSON.stringify(report) + stderr)
    assert.equal(report.level, 'shield')
    assert.deepEqual(names(report, 'held'), OF_KEYS)
    assert.deepEqual(names(report, 'skipped'), ['keyring', ...OF_SANDBOX])
  })

  it('has every attack held in the sandbox', async () => {
    const { code, report, stderr } = await doctor(['--isolation=sandbox'])

    assert.equal(code, 0, JSON.stringify(report) + stderr)
    assert.equal(report.level, 'sandbox')
    assert.deepEqual(names(report, 'held'), [...OF_KEYS, ...OF_SANDBOX])
  })

  it('tries attacks that get through where nothing is in their way', async () => {
    const server = createServer((_, answer) => answer.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanup.after(() => server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const file = (...names: readonly string[]) => [join(world.home, ...names)]
    const orders = {
      identity_key: file('client', 'config.json'),
      master_key: file('server', 'master.key'),
      owner_secrets: file('server', 'bootstrap.secret'),
      vault_store: file('server', 'broker.db'),
      broker_settings: [world.home],
      ...(MAY_ATTACH && { daemon_memory: [world.daemon.process.pid], run_memory: [process.pid] }),
      daemon_environment: [world.daemon.process.pid],
      run_environment: [process.pid],
      daemon: [world.daemon.port],
      network_without_proxy: [port],
      machine_through_proxy: [port],
      ssh_agent: [agents['SSH_AUTH_SOCK']],
      docker_socket: [agents['DOCKER_HOST']?.replace('unix://', '')],
      kill_parent: [process.pid],
      write_outside: [join(world.folder, 'written')],
    }

    const command = [process.execPath, ATTACKER, JSON.stringify(orders)]
    const { stdout, stderr } = await world.broker(['run', '--no-shield', '--', ...command])

    const outcomes = JSON.parse(stdout) as Report['attacks']
    assert.deepEqual(
      outcomes.filter(({ verdict }) => verdict !== 'leaked'),
      [],
      stderr,
    )
    assert.equal(outcomes.length, Object.keys(orders).length)
  })

  it('is level none, in one line, where there is no bubblewrap', async () => {
    const env = { PATH: pathWith(join(world.folder, 'bin')) }

    const named = await doctor(['--isolation=shield'], env)
    const unnamed = await doctor(['--isolation'], env)

    for (const { report, stderr } of [named, unnamed]) {
      assert.equal(report.level, 'none')
      assert.equal(names(report, 'skipped').length, report.attacks.length)
      assert.equal(stderr.trim().split('\n').length, 1)
      assert.match(stderr, /bubblewrap/)
    }
    assert.deepEqual([named.code, unnamed.code], [1, 0])
  })

  describe('as an ordinary user', { skip: whyNoUser() }, () => {
    let env: Readonly<Record<string, string>>
    let folder: string
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
      cleanup.after(() => rmSync(folder, { recursive: true, force: true }))
      chmodSync(folder, 0o755)
      for (const name of ['user', 'user/tmp', 'user/work']) {
        mkdirSync(join(folder, name))
        chownSync(join(folder, name), USER, USER)
      }
      const home = join(folder, 'user')
      env = {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        TMPDIR: join(home, 'tmp'),
        BROKER_ENCRYPTION_MODE: 'local_key',
        BROKER_PORT: String(await freePort()),
      }
      const done = await asUser(['onboard', '--json'])
      assert.equal(done.code, 0, done.stdout + done.stderr)
      cleanup.after(() => asUser(['daemon', 'stop']))
    })

    async function asUser(args: readonly string[]) {
      const cwd = join(folder, 'user', 'work')
      const child = spawn(BROKER, args, { cwd, env, uid: USER, gid: USER, stdio: ['ignore', 'pipe', 'pipe'] })
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (chunk) => (stdout += chunk))
      child.stderr.on('data', (chunk) => (stderr += chunk))
      const [code] = await once(child, 'close')
      return { code: code as number | null, stdout, stderr }
    }

    for (const [level, held] of [
      ['shield', OF_KEYS],
      ['sandbox', [...OF_KEYS, ...OF_SANDBOX.filter((name) => !/agent|docker/.test(name))]],
    ] as const) {
      it(`has the same held by the ${level}`, async () => {
        const { code, stdout, stderr } = await asUser(['doctor', `--isolation=${level}`, '--json'])

        const report = JSON.parse(stdout) as Report
        assert.equal(code, 0, stdout + stderr)
        assert.deepEqual(
          names(report, 'held').filter((name) => !/agent|docker/.test(name)),
          held,
        )
        assert.deepEqual(names(report, 'leaked'), [])
      })
    }

    it('keeps number, parent, exit code and signals of its command under the shield', async () => {
      const script = 'test "$(cat /proc/self/comm)" != "" && id -u && kill -TERM $$'
      const { code, stdout } = await asUser(['run', '--require-isolation', '--', 'sh', '-c', script])

      assert.deepEqual([code, stdout], [143, `${USER}\n`])
    })
  })
})

/** Root alone can be another; and the other has to be able to read this checkout. */
function whyNoUser(): string | false {
  if (process.getuid?.() !== 0) return 'this is an ordinary user already'
  const setpriv = findProgram('setpriv')
  if (setpriv === undefined) return 'there is no setpriv'
  const tried = spawnSync(setpriv, ['--reuid', String(USER), '--regid', String(USER), '--clear-groups', BROKER, '-v'])
  return tried.status !== 0 && 'another user cannot run this checkout'
}
