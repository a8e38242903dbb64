import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import type { Actor } from '../../protocol/index.ts'
import { openSealing } from '../rights/rights.fixture.ts'
import { openStore, type Store } from '../store/index.ts'
import { Claims } from './claims.ts'

const BASE_URL = 'https://broker.example'
const ADA: Actor = { kind: 'daemon', identity: '(browser)', principalId: 'ada', vaultId: 'vault', role: 'admin' }

describe('the claims of two daemons on one store', () => {
  let store: Store
  let here: Claims
  let there: Claims
  let now: number

  beforeEach(async (t) => {
    assert.ok('after' in t)
    now = Date.parse('2026-11-21T12:00:00.000Z')
    const folder = mkdtempSync(join(tmpdir(), 'broker-claims-'))
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    const { audit, rights } = await openSealing(store)
    const created_at = new Date(now).toISOString()
    const ada = { id: 'ada', role: 'admin' as const, vault_id: 'vault', created_at, local_owner: 0, epoch: 0 }
    await store.transaction(async (tx) => {
      await tx
        .insertInto('principals')
        .values(await rights.found(tx, ada))
        .execute()
      const robot = { id: 'robot-id', handle: 'robot', did: 'did:key:zrobot', principal_id: null, created_at }
      await tx.insertInto('identities').values(rights.seal('identities', robot)).execute()
    })
    const claims = () => new Claims({ store, audit, rights, baseUrl: BASE_URL, now: () => now })
    here = claims()
    there = claims()
  })

  it('are all good until one of them is confirmed: what one daemon told is true at every other', async () => {
    const first = await here.open('robot-id')
    const second = await there.open('robot-id')
    assert.equal((await here.open('robot-id')).url, first.url)
    assert.equal((await there.view(first.token))?.handle, 'robot')
    assert.equal((await here.view(second.token))?.handle, 'robot')
    await there.confirm(ADA, first.token)
    await assert.rejects(here.confirm(ADA, second.token), { name: 'NotFoundError' })
    assert.deepEqual(await store.db.selectFrom('claims').selectAll().execute(), [])
  })

  it('end by wrong codes one by one, and are not told again then', async () => {
    const first = await here.open('robot-id')
    const guess = () => there.confirm(ADA, first.token, 'AAAA-AAAA')
    for (let count = 0; count < 5; count += 1) await assert.rejects(guess(), { name: 'OperationNotAllowedError' })
    assert.equal(await here.view(first.token), undefined)
    assert.notEqual((await here.open('robot-id')).url, first.url)
  })

  it('leave nothing behind when their time is over', async () => {
    await here.open('robot-id')
    await there.open('robot-id')
    now += 10 * 60_000
    await here.open('robot-id')
    assert.equal((await store.db.selectFrom('claims').selectAll().execute()).length, 1)
  })
})
