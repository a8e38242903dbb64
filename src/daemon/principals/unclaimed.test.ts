import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { openSealing } from '../rights/rights.fixture.ts'
import { openStore, type Store } from '../store/index.ts'
import { Claims } from './claims.ts'
import { attach, type RegisteredBy, Registrations } from './registrations.ts'

const MINUTE = 60_000

describe('identities that nobody claimed', () => {
  let store: Store
  let registrations: Registrations
  let claims: Claims
  /** Has a principal claim it. */
  let attachTo: (handle: string) => Promise<void>
  let now: number

  beforeEach(async (t) => {
    assert.ok('after' in t)
    now = Date.parse('2026-11-21T12:00:00.000Z')
    const folder = mkdtempSync(join(tmpdir(), 'broker-unclaimed-'))
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    const clock = () => now
    const { audit, rights } = await openSealing(store, { now: clock })
    registrations = new Registrations({ audit, rights, now: clock, owner: async () => assert.fail() })
    claims = new Claims({ store, audit, rights, baseUrl: 'https://broker.example', now: clock })
    attachTo = async (handle) => {
      const created_at = new Date(now).toISOString()
      const ada = { id: 'ada', role: 'admin' as const, vault_id: 'vault', created_at, local_owner: 0, epoch: 0 }
      await store.transaction(async (tx) => {
        await tx
          .insertInto('principals')
          .values(await rights.found(tx, ada))
          .execute()
        const identity = await tx
          .selectFrom('identities')
          .selectAll()
          .where('handle', '=', handle)
          .executeTakeFirstOrThrow()
        await attach(tx, rights, identity, ada.id)
      })
    }
  })

  const add = (handle: string, source: string | RegisteredBy) =>
    store.transaction((tx) =>
      registrations.add(
        tx,
        { handle, did: `did:key:z${handle}` },
        source === 'owner' || typeof source !== 'string' ? source : { source },
      ),
    )
  const handles = async () =>
    (await store.db.selectFrom('identities').select('handle').orderBy('handle').execute()).map(({ handle }) => handle)
  const idOf = async (handle: string) =>
    (await store.db.selectFrom('identities').select('id').where('handle', '=', handle).executeTakeFirstOrThrow()).id

  it('are so many of one source, and of another as many', async () => {
    for (let at = 0; at < 50; at += 1) await add(`a${at}`, '192.0.2.1')
    await assert.rejects(add('a50', '192.0.2.1'), { name: 'RateLimitedError' })
    for (let at = 0; at < 50; at += 1) await add(`b${at}`, '192.0.2.2')
  })

  it('count no more once they are claimed, or were there before', async () => {
    for (let at = 0; at < 50; at += 1) await add(`a${at}`, '192.0.2.1')
    assert.equal(await add('a7', '192.0.2.1'), false)
    await attachTo('a7')
    await add('a50', '192.0.2.1')
    await assert.rejects(add('a51', '192.0.2.1'), { name: 'RateLimitedError' })
  })

  it('go when their claim has ended, and after an hour whoever asks for another', async () => {
    await add('left', '192.0.2.1')
    await add('waits', '192.0.2.1')
    await claims.open(await idOf('left'))
    for (let minute = 0; minute < 60; minute += 5) {
      await claims.open(await idOf('waits'))
      now += 5 * MINUTE
    }
    await claims.open(await idOf('waits'))
    await add('new', '192.0.2.2')
    assert.deepEqual(await handles(), ['new', 'waits'])
    now += MINUTE
    await add('newer', '192.0.2.2')
    assert.deepEqual(await handles(), ['new', 'newer'])
  })

  it('leave no note of where they came from', async () => {
    await add('left', '192.0.2.1')
    now += 61 * MINUTE
    await add('new', '192.0.2.2')
    const notes = await store.db.selectFrom('sign_in_attempts').selectAll().execute()
    assert.equal(notes.length, 1)
    assert.doesNotMatch(JSON.stringify(notes), /192\.0/)
  })

  it('give way, the oldest of the source that has most, where the store holds no more', async () => {
    const created_at = new Date(now - MINUTE).toISOString()
    const before = (handle: string) => ({
      id: handle,
      handle,
      did: `did:key:z${handle}`,
      principal_id: null,
      created_at,
      last_used_at: null,
      label: null,
    })
    await add('honest', '192.0.2.9')
    for (let at = 0; at < 50; at += 1) {
      now += 1
      await add(`crowd${at}`, '192.0.2.1')
    }
    // One for each source, as of a network of machines.
    for (let at = 0; at < 1949; at += 1) {
      const note = { subject: `unclaimed s${at} did:key:zmany${at}`, attempts: 1, last_at: now }
      await store.db
        .insertInto('identities')
        .values(before(`many${at}`))
        .execute()
      await store.db.insertInto('sign_in_attempts').values(note).execute()
    }
    await add('late', '192.0.2.10')
    const left = await handles()
    assert.equal(left.length, 2000)
    assert.ok(left.includes('honest') && left.includes('late') && !left.includes('crowd0') && left.includes('crowd1'))
  })
})
