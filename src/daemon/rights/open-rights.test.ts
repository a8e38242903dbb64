import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { type Db, openStore, type Store } from '../store/index.ts'
import type { Vault } from '../vault/index.ts'
import type { Evidence, Rights } from './open-rights.ts'
import { openSealing } from './rights.fixture.ts'
import { LISTS } from './sealed-rows.ts'

const NOW = '2026-11-22T09:00:00.000Z'
const PRINCIPAL = { id: 'p', role: 'user' as const, vault_id: 'v', created_at: NOW, local_owner: 0, epoch: 0 }
const AGENT = { id: 'a', handle: 'ci', did: 'did:key:zA', principal_id: 'p', created_at: NOW }

describe('rows that say who is who', () => {
  let store: Store
  let vault: Vault
  let rights: Rights
  let told: string[]
  let anchor: string | undefined

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-rights-'))
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    anchor = undefined
    told = []
    ;({ vault, rights } = await daemon())
    await store.transaction(async (tx) => {
      await tx
        .insertInto('principals')
        .values(await rights.found(tx, PRINCIPAL))
        .execute()
      await vault.create(tx, PRINCIPAL.vault_id)
      await tx
        .insertInto('identities')
        .values(await rights.enter(tx, 'p', { table: 'identities', row: AGENT }))
        .execute()
    })
  })

  /** Returns what a daemon that starts on the store now has. */
  function daemon() {
    return openSealing(store, {
      anchorFile: {
        read: () => anchor,
        write: (text) => {
          anchor = text
        },
      },
      onFinding: (what) => told.push(what),
    })
  }

  const read = async (db: Db) => {
    const identity = await db.selectFrom('identities').selectAll().where('id', '=', AGENT.id).executeTakeFirst()
    const list = await db.selectFrom('manifests').selectAll().where('vault_id', '=', `${LISTS}p`).executeTakeFirst()
    return identity && { identity, generation: list?.generation ?? null }
  }
  const evidence = ({ identity, generation }: NonNullable<Awaited<ReturnType<typeof read>>>): Evidence => ({
    principalId: identity.principal_id,
    generation,
    rows: [{ table: 'identities', row: identity }],
  })
  const rename = (handle: string) =>
    store.transaction(async (tx) => {
      const row = await rights.enter(tx, 'p', { table: 'identities', row: { ...AGENT, handle } })
      await tx.updateTable('identities').set({ handle, mac: row.mac }).where('id', '=', AGENT.id).execute()
    })
  const reads = (...first: ReturnType<typeof read>[]) => {
    const given = [...first]
    return (db: Db) => given.shift() ?? read(db)
  }

  it('are believed as they were written, and not where one column is another', async () => {
    assert.equal((await rights.believe(read, evidence))?.identity.handle, 'ci')
    const changes = {
      id: 'b',
      handle: 'root',
      did: 'did:key:zB',
      created_at: '2020-01-01T00:00:00.000Z',
      mac: null,
    } as const
    for (const change of Object.entries(changes)) {
      const row = await read(store.db)
      assert.ok(row)
      const changed = { ...row, identity: { ...row.identity, ...Object.fromEntries([change]) } }
      assert.equal(await rights.believe(async () => changed, evidence), undefined, String(change))
    }
    assert.equal((await rights.believe(read, evidence))?.identity.handle, 'ci')
  })

  it('that were read just before a change are asked for again, and nobody is taken for a thief', async () => {
    await rights.believe(read, evidence)
    const before = read(store.db)
    await before
    await rename('ci-2')
    assert.equal((await rights.believe(read, evidence))?.identity.handle, 'ci-2', 'who read behind it came first')
    assert.equal((await rights.believe(reads(before), evidence))?.identity.handle, 'ci-2')
    assert.deepEqual(told, [])
  })

  it('are refused where an older one is put back, alone or with its list', async () => {
    const [row, list] = [await read(store.db), await listRow()]
    await rename('ci-2')
    await rights.believe(read, evidence)
    const { handle, mac } = row?.identity ?? assert.fail()
    await store.db.updateTable('identities').set({ handle, mac }).execute()
    assert.equal(await rights.believe(read, evidence), undefined)
    await store.db.updateTable('manifests').set(list).where('vault_id', '=', `${LISTS}p`).execute()
    assert.equal(await rights.believe(read, evidence), undefined)
    assert.match((await rights.whyNot('p')) ?? '', /older than the last one seen here/)
    await vault.anchorChanges()
    const { rights: later } = await daemon()
    assert.equal(await later.believe(read, evidence), undefined, 'at a daemon that starts later, too')
    assert.equal(told.length, 2, 'each daemon says it once')
  })

  const listRow = () =>
    store.db.selectFrom('manifests').selectAll().where('vault_id', '=', `${LISTS}p`).executeTakeFirstOrThrow()

  it('do not change while their list is not what it should be', async () => {
    const list = await listRow()
    await rename('ci-2')
    await rights.believe(read, evidence)
    await store.db.updateTable('manifests').set(list).where('vault_id', '=', `${LISTS}p`).execute()
    await assert.rejects(rename('ci-3'), { name: 'DaemonUnavailableError', message: /older than the last one seen/ })
    await store.db.deleteFrom('manifests').where('vault_id', '=', `${LISTS}p`).execute()
    await assert.rejects(rename('ci-3'), { name: 'DaemonUnavailableError', message: /removed outside of Broker/ })
  })

  it('of a list that was lost are taken by their MACs, and a list that was kept from before is older for good', async () => {
    await rename('ci-2')
    await rename('ci-3')
    const kept = await listRow()
    await store.db.deleteFrom('manifests').where('vault_id', '=', `${LISTS}p`).execute()
    assert.deepEqual(await store.transaction((tx) => rights.restore(tx)), [
      'Taken as it was: what belongs to principal "p", with the agents ci-3.',
    ])
    assert.equal((await rights.believe(read, evidence))?.identity.handle, 'ci-3')
    await store.db.updateTable('manifests').set(kept).where('vault_id', '=', `${LISTS}p`).execute()
    assert.equal(await rights.believe(read, evidence), undefined)
  })

  it('are not taken a second time as they are, by a daemon whose anchor is new', async () => {
    await store.db.deleteFrom('manifests').where('vault_id', 'like', 'rights%').execute()
    await store.db.deleteFrom('data_keys').where('vault_id', '=', 'rights').execute()
    anchor = undefined
    await assert.rejects(daemon(), { name: 'DaemonUnavailableError', message: /removed or changed outside of Broker/ })
  })

  it('name the first account and the local owner by the list of all, whatever rows are gone', async () => {
    await store.db.deleteFrom('identities').execute()
    await store.db.deleteFrom('principals').execute()
    const known = await store.transaction((tx) => rights.principals(tx))
    assert.deepEqual(known, { localOwner: undefined, hasOthers: true })
    assert.match(
      (await rights.issues({ principalId: 'x', role: 'admin' })).join(' '),
      /principal "p" was removed outside/,
    )
  })
})
