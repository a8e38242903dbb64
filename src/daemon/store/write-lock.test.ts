import assert from 'node:assert/strict'
import { before, describe, it, type TestContext } from 'node:test'
import pg from 'pg'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { type Postgres, startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { Secret } from '../../protocol/index.ts'
import { openStore, type Store } from './open-store.ts'

const WRITE_LOCK = 7998

describe('changes on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  let count = 0
  before(async () => {
    postgres = await startPostgres(cleanup)
  })

  async function daemons(t: TestContext, pools = { requests: 2, writes: 3 }): Promise<{ url: string; open: Open }> {
    count += 1
    const url = await postgres.newDatabase(`locks_${count}`)
    const open = async () => {
      const store = await openStore({ kind: 'postgres', url: new Secret(url), pools })
      t.after(() => store.close())
      return store
    }
    return { url, open }
  }
  type Open = () => Promise<Store>

  async function session(t: TestContext, url: string): Promise<pg.Client> {
    const client = new pg.Client(url)
    await client.connect()
    t.after(() => client.end())
    return client
  }

  async function untilWaiting(watcher: pg.Client): Promise<void> {
    const query = `select 1 from pg_locks where locktype = 'advisory' and not granted`
    while ((await watcher.query(query)).rowCount === 0);
  }

  /** A change that goes on until it is told to end. */
  function held(change: (work: () => Promise<void>) => Promise<void>) {
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const done = change(async () => {
      begun.resolve()
      await end.promise
    })
    return { begun: begun.promise, end: end.resolve, done }
  }

  it('of two vaults go on beside each other, in one daemon and in two', async (t) => {
    const { open } = await daemons(t)
    const [one, other] = [await open(), await open()]
    for (const second of [one, other]) {
      const ada = held((work) => one.vaultTransaction('ada', work))
      await ada.begun
      assert.equal(await second.vaultTransaction('eve', async () => 'done'), 'done')
      ada.end()
      await ada.done
    }
  })

  it('of one vault go on one after the other, in one daemon and in two', async (t) => {
    const { url, open } = await daemons(t)
    const [one, other] = [await open(), await open()]
    const watcher = await session(t, url)
    const order: string[] = []
    const first = held((work) => one.vaultTransaction('ada', work))
    await first.begun
    const here = one.vaultTransaction('ada', async () => void order.push('next'))
    const there = other.vaultTransaction('ada', async () => void order.push('next'))
    await untilWaiting(watcher)
    order.push('first')
    first.end()
    await Promise.all([first.done, here, there])
    assert.deepEqual(order, ['first', 'next', 'next'])
  })

  it('of everything wait for those of a vault, and keep them waiting', async (t) => {
    const { url, open } = await daemons(t)
    const [one, other] = [await open(), await open()]
    const watcher = await session(t, url)
    const order: string[] = []
    const ada = held((work) => one.vaultTransaction('ada', work))
    await ada.begun
    const all = other.transaction(async () => void order.push('all'))
    await untilWaiting(watcher)
    const eve = one.vaultTransaction('eve', async () => void order.push('eve'))
    order.push('ada')
    ada.end()
    await Promise.all([ada.done, all, eve])
    assert.deepEqual(order, ['ada', 'all', 'eve'])
  })

  it('that wait hold no connection that a question needs', async (t) => {
    const { url, open } = await daemons(t, { requests: 1, writes: 2 })
    const store = await open()
    const other = await session(t, url)
    await other.query(`select pg_advisory_lock(${WRITE_LOCK})`)
    const changes = Array.from({ length: 20 }, (_, at) => store.vaultTransaction(`vault ${at}`, async () => at))
    await untilWaiting(other)
    await store.probe()
    await other.query(`select pg_advisory_unlock(${WRITE_LOCK})`)
    assert.equal((await Promise.all(changes)).length, 20)
  })

  it('of one vault, however many wait, hold up no other', async (t) => {
    const { open } = await daemons(t, { requests: 1, writes: 2 })
    const store = await open()
    const first = held((work) => store.vaultTransaction('ada', work))
    await first.begun
    const more = Array.from({ length: 20 }, () => store.vaultTransaction('ada', async () => undefined))
    assert.equal(await store.vaultTransaction('eve', async () => 'done'), 'done')
    first.end()
    await Promise.all([first.done, ...more])
  })
})
