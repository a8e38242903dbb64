import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { openAudit } from '../audit/index.ts'
import { openStore } from '../store/index.ts'
import { openVault, systemKeyring } from '../vault/index.ts'
import { openKeys } from './open-keys.ts'

const MINUTE = 60_000

describe('a daemon that locks itself', () => {
  it('does so once nobody has used it for so long, and says why; any use puts it off', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const folder = mkdtempSync(join(tmpdir(), 'broker-keys-'))
    const store = await openStore({
      kind: 'sqlite',
      path: join(folder, 'broker.db'),
      replayPath: join(folder, 'replay.db'),
    })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    const vault = await openVault({
      store,
      masterKey: {
        mode: 'env',
        get masterKey() {
          return new Secret(hash('sha256', 'CNRY a key of tests', 'base64'))
        },
        localKeyPath: '/nowhere',
        createFile: () => undefined,
        keyring: systemKeyring(),
      },
      anchorFile: { read: () => undefined, write: () => undefined },
    })
    const locked = Promise.withResolvers<void>()
    const operatorSecret = new Secret('CNRY operator')
    const keys = openKeys({
      store,
      vault,
      rights: { open: async () => undefined, forget: () => locked.resolve() },
      audit: openAudit(store),
      operatorSecret,
      autoLockMs: 15 * MINUTE,
      onFailure: locked.reject,
    })

    t.mock.timers.tick(14 * MINUTE)
    keys.used()
    t.mock.timers.tick(14 * MINUTE)
    keys.requireOpen()
    t.mock.timers.tick(MINUTE)
    await locked.promise

    assert.throws(() => keys.requireOpen(), { name: 'DaemonUnavailableError' })
    const [event] = await store.db.selectFrom('audit_events').select(['event', 'reason', 'identity']).execute()
    assert.deepEqual({ ...event }, { event: 'vault.locked', reason: 'nobody used it', identity: '(daemon)' })
    // It does not open by itself, and by nobody else's word.
    assert.equal((await vault.unlock()).kind, 'sealed')
    await assert.rejects(keys.unlock({ passphrase: new Secret('CNRY whatever') }), {
      name: 'AuthenticationFailedError',
    })
    await keys.unlock({ operator: operatorSecret })
    keys.requireOpen()
    await keys.close()
  })
})
