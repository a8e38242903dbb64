import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { type Cleanup, caller, connect, owner, startDaemon } from './daemon-under-test.ts'

/** A real Secret Service on a session bus of its own, unlocked; the environment that reaches it. */
async function startSecretService(t: Cleanup): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'broker-keyring-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const base = { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_RUNTIME_DIR: folder }
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
    env: base,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => bus.kill())
  const [address] = (await once(bus.stdout, 'data')) as [Buffer]
  const env = { ...base, DBUS_SESSION_BUS_ADDRESS: address.toString().trim() }
  // It goes to the background, and its first process ends, once it has the name on the bus.
  const keyring = spawn('gnome-keyring-daemon', ['--unlock', '--components=secrets'], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  keyring.stdin.end('a password')
  await once(keyring, 'exit')
  const stop = async () => {
    const gone = once(bus, 'exit')
    bus.kill()
    await gone
  }
  return { env, stop }
}

describe('a master key in the OS keyring', { skip: whyNot('secret service') }, () => {
  it('is what `auto` chooses where there is one, and opens the vault again', async (t) => {
    const { env, stop } = await startSecretService(t)
    const first = await startDaemon(t, { env })
    const ada = await owner(first)
    await connect(ada, 'openai', `sk-CNRY${'a'.repeat(44)}`)
    const { body } = await ada.call('GET', '/api/ready')
    assert.equal(body.status, 'ready')
    assert.equal(body.configured_encryption_mode, 'auto')
    assert.equal(body.effective_encryption_source, 'keyring')
    assert.match(body.encryption_backend, /Secret Service/)
    assert.equal(existsSync(join(first.home, 'server/master.key')), false)
    await first.stop()

    const second = await startDaemon(t, { home: first.home, env })
    const again = caller(second, 'ada', ada.key)
    assert.equal((await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
    await second.stop()

    await stop()
    const third = await startDaemon(t, { home: first.home, env })
    const sealed = await caller(third, 'ada', ada.key).call('GET', '/api/ready')
    assert.equal(sealed.body.status, 'not_ready')
    assert.match(sealed.body.issues.join(' '), /keyring that holds the key does not answer/)
    assert.equal(existsSync(join(first.home, 'server/master.key')), false)
  })

  it('is a file instead where no keyring answers, unless the keyring was asked for', async (t) => {
    const nobody = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' }
    const auto = await startDaemon(t, { env: nobody })
    assert.equal((await (await owner(auto)).call('GET', '/api/health')).body.effective_encryption_source, 'local_key')
    const strict = await startDaemon(t, { env: { ...nobody, BROKER_ENCRYPTION_MODE: 'keyring' } })
    const health = await caller(strict, 'nobody').call('GET', '/api/health')
    assert.equal(health.body.effective_encryption_source, undefined)
    assert.equal(existsSync(join(strict.home, 'server/master.key')), false)
  })
})
