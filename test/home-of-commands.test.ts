import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BROKER, onboarded } from './broker-command.ts'
import { type Cleanup, startDaemon } from './daemon-under-test.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const NOBODY = 65_534
const asRoot = { skip: process.getuid?.() === 0 ? false : 'needs another user to be' }

describe('a home where no folder can be made', { timeout: 60_000, skip: process.platform !== 'linux' }, () => {
  for (const command of ['onboard', 'daemon start', 'agent create ci', 'whoami']) {
    it(`ends \`broker ${command}\`, and says so where it is needed`, async (t) => {
      const world = await onboarded(t)
      const env = { BROKER_HOME: '/proc/broker-home', BROKER_PORT: '1' }
      const { code, stderr } = await world.broker(command.split(' '), { env })
      assert.notEqual(code, 0)
      const said =
        command === 'whoami' ? /does not answer/ : /Cannot use the folder "\/proc\/broker-home": it cannot be made/
      assert.match(stderr, said)
    })
  }

  it('is no place for exported definitions either', async (t) => {
    const world = await onboarded(t)
    const { code, stderr } = await world.broker(['provider', 'export', 'openai', '--out', '/proc/x/y'])
    assert.equal(code, 2)
    assert.match(stderr, /The folder "\/proc\/x\/y" cannot be made; nothing was written/)
  })
})

describe('a daemon at a port of its own', { timeout: 120_000 }, () => {
  it('is found by later commands of its home without the variable', async (t) => {
    const world = await onboarded(t)
    const { code, stdout } = await world.broker(['whoami', '--json'], { env: { BROKER_PORT: '' } })
    assert.equal(code, 0, stdout)
    assert.equal(JSON.parse(stdout).daemon_url, world.daemon.origin)
  })

  it('is not asked where an address was chosen', async (t) => {
    const world = await onboarded(t)
    const asked = async (env: Readonly<Record<string, string>>) =>
      JSON.parse((await world.broker(['daemon', 'status', '--json'], { env: { BROKER_PORT: '', ...env } })).stdout)
    assert.deepEqual(
      [await asked({ BROKER_BASE_URL: 'http://127.0.0.1:1' }), await asked({ BROKER_PORT: '1' })].map(
        ({ status, daemon_url }) => [status, daemon_url],
      ),
      Array(2).fill(['stopped', 'http://127.0.0.1:1']),
    )
    writeFileSync(join(world.home, 'client/config.json'), '{"daemon_base_url": "http://127.0.0.1:1"}', { mode: 0o600 })
    assert.equal((await asked({})).daemon_url, 'http://127.0.0.1:1')
  })

  it('keeps its port where a command starts it again', async (t) => {
    const world = await onboarded(t)
    const env = { BROKER_PORT: '' }
    try {
      const restarted = await world.broker(['daemon', 'restart', '--json'], { env })
      assert.equal(JSON.parse(restarted.stdout).daemon_url, world.daemon.origin)
      process.kill(JSON.parse(restarted.stdout).pid, 'SIGKILL')
      const started = await world.broker(['daemon', 'start', '--json'], { env })

      assert.deepEqual(
        [JSON.parse(started.stdout).status, JSON.parse(started.stdout).port],
        ['started', world.daemon.port],
      )
    } finally {
      await world.broker(['daemon', 'stop'], { env })
    }
  })
})

describe('a daemon of another version', { timeout: 120_000 }, () => {
  for (const [version, said] of [
    ['0.0.1', /^The daemon is older \(0\.0\.1\) than this command line \([\d.]+\): broker daemon restart$/m],
    ['99.0.0', /^The daemon is newer \(99\.0\.0\) than this command line \([\d.]+\): update your command line$/m],
  ] as const) {
    it(`is named once, on standard error alone: ${version}`, async (t) => {
      const world = await onboarded(t)
      await world.daemon.stop()
      const env = { BROKER_PORT: String(world.daemon.port), BROKER_ENCRYPTION_MODE: 'local_key' }
      await startDaemon(t, { home: world.home, env, checkout: checkoutOf(t, version) })

      for (const command of [
        ['connections', '--json'],
        ['daemon', 'status', '--json'],
        ['onboard', '--json'],
      ]) {
        const { code, stdout, stderr } = await world.broker(command)
        assert.equal(code, 0, stderr)
        JSON.parse(stdout)
        assert.equal(stderr.match(new RegExp(said, 'gm'))?.length, 1, stderr)
      }
    })
  }

  it('is not spoken of where it is the same', async (t) => {
    const { stderr } = await (await onboarded(t)).broker(['connections', '--json'])
    assert.equal(stderr, '')
  })
})

describe('a home that cannot be used', { timeout: 60_000 }, () => {
  it('is said to have no place where HOME is empty, or names what is not there', (t) => {
    const none = broker(t, ['connections'], { HOME: '' })
    assert.equal(none.status, 2)
    assert.match(none.stderr, /error: HOME names no folder.*\nhint: Set HOME, or BROKER_HOME/)
    const missing = broker(t, ['onboard', '--json'], { HOME: '/nonexistent/ada' })
    assert.equal(missing.status, 4)
    assert.match(JSON.parse(missing.stdout).message, /HOME names a folder that does not exist/)
    assert.match(JSON.parse(missing.stdout).hint, /BROKER_HOME=/)
  })

  it('is said to be another user’s, before anything is read of it', asRoot, (t) => {
    const home = join(folder(t), 'home')
    mkdirSync(home, { mode: 0o700 })
    chownSync(home, NOBODY, NOBODY)
    for (const command of [['connections'], ['onboard'], ['daemon', 'start'], ['log']]) {
      const { status, stderr } = broker(t, command, { BROKER_HOME: home })
      assert.equal(status, 4)
      assert.match(stderr, /belongs to another user \(uid 65534\)\nhint: .*without sudo.*BROKER_HOME=/)
      assert.doesNotMatch(stderr, /\n\s+at /)
    }
  })

  it('is said where it cannot be made or written', asRoot, (t) => {
    const closed = folder(t)
    chmodSync(closed, 0o755)
    const [made, unmade] = [join(closed, 'made'), join(closed, 'unmade')]
    for (const path of [made, join(made, 'identities'), join(made, 'client')]) {
      mkdirSync(path, { mode: 0o500 })
      chownSync(path, NOBODY, NOBODY)
    }
    for (const [home, why] of [
      [unmade, 'it cannot be made (EACCES)'],
      [made, 'it cannot be written (EACCES)'],
    ] as const) {
      const { status, stderr } = broker(t, ['onboard'], { BROKER_HOME: home }, NOBODY)
      assert.equal(status, 4, stderr)
      assert.ok(stderr.includes(why), stderr)
      assert.match(stderr, /\nhint: .*BROKER_HOME=/)
    }
  })
})

function broker(t: TestContext, args: readonly string[], env: Readonly<Record<string, string>>, uid?: number) {
  return spawnSync(BROKER, args, {
    cwd: folder(t),
    env: { PATH: process.env['PATH'] ?? '', HOME: '/', BROKER_PORT: '1', ...env },
    encoding: 'utf8',
    ...(uid !== undefined && { uid, gid: uid }),
  })
}

function folder(t: Cleanup): string {
  const path = mkdtempSync(join(tmpdir(), 'broker-test-'))
  chmodSync(path, 0o755)
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** These sources as another version. */
function checkoutOf(t: Cleanup, version: string): string {
  const path = folder(t)
  cpSync(join(ROOT, 'src'), join(path, 'src'), { recursive: true })
  for (const name of ['node_modules', 'providers', 'dist']) symlinkSync(join(ROOT, name), join(path, name))
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  writeFileSync(join(path, 'package.json'), JSON.stringify({ ...manifest, version }))
  return path
}
