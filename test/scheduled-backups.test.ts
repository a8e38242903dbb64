import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, watch, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { owner, refusedDaemon, startDaemon, suiteCleanup, temporaryHome } from './daemon-under-test.ts'

describe('backups that the daemon makes by itself', () => {
  const cleanup = suiteCleanup()

  it('are there as often as the setting says, the newest few of them, and in the log', async () => {
    const home = temporaryHome(cleanup)
    const folder = join(dirname(home), 'backups')
    mkdirSync(folder, { mode: 0o700 })
    const recipient = await identityToRecipient(await generateX25519Identity())
    const env = { BROKER_ENCRYPTION_MODE: 'local_key', BROKER_BACKUP_FOLDER: folder, BROKER_BACKUP_KEEP: '2' }
    const refused = await refusedDaemon(home, env)
    assert.equal(refused.code, 2)
    assert.match(refused.output, /BROKER_BACKUP_RECIPIENT/)

    const old = ['broker-2026-01-01T00-00-00-000Z.age', 'broker-2026-01-02T00-00-00-000Z.age']
    for (const name of [...old, 'mine.age']) {
      writeFileSync(join(folder, name), 'old')
      utimesSync(join(folder, name), 0, 0)
    }
    const changes = watch(folder)
    const daemon = await startDaemon(cleanup, { home, env: { ...env, BROKER_BACKUP_RECIPIENT: recipient } })
    const names = () => readdirSync(folder).sort()
    while (names().includes(old[0] ?? '')) await once(changes, 'change')
    changes.close()
    const [second, made = '', ...others] = names()
    assert.deepEqual([second, others], [old[1], ['mine.age']])
    assert.equal(statSync(join(folder, made)).mode & 0o777, 0o600)
    assert.match(readFileSync(join(folder, made), 'latin1'), /^age-encryption\.org\/v1\n-> X25519 /)
    const ada = await owner(daemon)
    const { body } = await ada.call('GET', '/api/audit/events?event=backup.made')
    assert.equal(body.events[0].identity, '(daemon)')
    await daemon.stop()
    // The newest is of today.
    const again = await startDaemon(cleanup, { home, env: { ...env, BROKER_BACKUP_RECIPIENT: recipient } })
    await again.stop()
    assert.equal(names().length, 3)
  })
})
