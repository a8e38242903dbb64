import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { openStore, type Store } from '../store/index.ts'
import { systemKeyring } from './keyring.ts'
import { openVault, type RecordRef, type Vault } from './open-vault.ts'

const RECORD: RecordRef = { vaultId: 'vault', kind: 'connection', id: 'acme' }
const BOUND_TO = 'api.acme.test'

describe('a record that was read', () => {
  let store: Store
  let vault: Vault
  let anchor = ''
  let written = 0
  let isDown = false

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-vault-'))
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    isDown = false
    const closed = await openStore({
      kind: 'sqlite',
      path: join(folder, 'closed.db'),
      replayPath: join(folder, 'r.db'),
    })
    await closed.close()
    vault = await openVault({
      store: Object.create(store, { db: { get: () => (isDown ? closed : store).db } }),
      masterKey: {
        mode: 'env',
        masterKey: new Secret(hash('sha256', 'CNRY a key of tests', 'base64')),
        localKeyPath: '/nowhere',
        createFile: () => undefined,
        keyring: systemKeyring(),
      },
      anchorFile: {
        read: () => undefined,
        write: (text) => {
          anchor = text
          written += 1
        },
      },
    })
    await store.transaction((tx) => vault.create(tx, RECORD.vaultId))
    await put('CNRY first')
  })

  const put = (value: string) => store.transaction((tx) => vault.put(tx, RECORD, BOUND_TO, new Secret(value)))
  const read = () => store.db.selectFrom('records').selectAll().where('id', '=', RECORD.id).executeTakeFirstOrThrow()
  const value = async (work: ReturnType<Vault['unseal']>) => (await work).plaintext.reveal()

  it('just before a change is given out, though one that was read behind it came first', async () => {
    const before = await read()
    await put('CNRY second')
    assert.equal(await value(vault.unseal(store.db, RECORD, BOUND_TO, await read())), 'CNRY second')
    assert.equal(await value(vault.unseal(store.db, RECORD, BOUND_TO, before)), 'CNRY first')
  })

  it('is in the anchor once the store answers again, where it did not when it was to be written down', async () => {
    await vault.anchorChanges()
    const before = anchor
    await put('CNRY second')
    isDown = true
    await vault.anchorChanges()
    assert.equal(anchor, before)
    isDown = false
    await vault.anchorChanges()
    assert.notEqual(anchor, before)
  })

  it('is in the anchor by one write, however many vaults have changed', async () => {
    const vaults = Array.from({ length: 20 }, (_, at) => `vault-${at}`)
    for (const vaultId of vaults) {
      await store.transaction((tx) => vault.create(tx, vaultId))
      await store.transaction((tx) => vault.put(tx, { ...RECORD, vaultId }, BOUND_TO, new Secret('CNRY one')))
    }
    await vault.anchorChanges()
    const before = written
    await Promise.all(vaults.map((vaultId) => vault.roundtrip(vaultId)))
    await vault.anchorChanges()
    assert.equal(written - before, 1)
    for (const vaultId of vaults) assert.ok(anchor.includes(`"${vaultId}":3`), vaultId)
  })

  it('is refused where the store was given an older one', async () => {
    const before = await read()
    await put('CNRY second')
    await vault.get(store.db, RECORD, BOUND_TO)
    const { version, binding, term, sealed } = before
    await store.db.updateTable('records').set({ version, binding, term, sealed }).where('id', '=', RECORD.id).execute()
    const isOlder = { name: 'CredentialMissingError', message: /replaced by an older one/ }
    await assert.rejects(vault.get(store.db, RECORD, BOUND_TO), isOlder)
    await assert.rejects(vault.unseal(store.db, RECORD, BOUND_TO, before), isOlder)
  })
})
