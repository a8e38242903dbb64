import assert from 'node:assert/strict'
import { before, describe, it, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { type Postgres, startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { Secret } from '../../protocol/index.ts'
import { openStore, type Store } from './open-store.ts'

describe('statements on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  let count = 0
  before(async () => {
    postgres = await startPostgres(cleanup)
  })

  async function open(t: TestContext): Promise<Store> {
    count += 1
    const url = new Secret(await postgres.newDatabase(`names_${count}`))
    const store = await openStore({ kind: 'postgres', url }, { version: '1', note: () => undefined })
    t.after(() => store.close())
    return store
  }

  const principals = (store: Store) =>
    store.db.selectFrom('principals').select('id').where('role', '=', 'user').execute()

  /** Of the connection that answers: one after the other, the pool uses the same. */
  async function prepared(store: Store): Promise<number> {
    const { rows } = await sql<{
      n: number
    }>`select count(*) as n from pg_prepared_statements where statement like '%"principals" where "role"%'`.execute(
      store.db,
    )
    return rows[0]?.n ?? 0
  }

  function addUser(store: Store, id: string): Promise<unknown> {
    const row = { id, role: 'user', vault_id: id, created_at: 'a', local_owner: 0, epoch: 0, mac: null } as const
    return store.transaction(async (tx) => {
      await tx.insertInto('principals').values(row).execute()
      await tx.selectFrom('principals').select('id').where('role', '=', 'user').execute()
    })
  }

  const idsOf = async (store: Store) => (await principals(store)).map(({ id }) => id).toSorted()

  it('are parsed once for a connection', async (t) => {
    const store = await open(t)
    await principals(store)
    await principals(store)
    assert.equal(await prepared(store), 1)
  })

  it('go on without names where a connection has lost them, alone and within a transaction', async (t) => {
    const store = await open(t)
    await addUser(store, 'one')
    await principals(store)
    // As what stands between would do that gives each transaction another connection.
    await sql`deallocate all`.execute(store.db)
    assert.deepEqual(await idsOf(store), ['one'])

    const other = await open(t)
    await addUser(other, 'one')
    await other.transaction((tx) => sql`deallocate all`.execute(tx))
    await addUser(other, 'two')
    assert.deepEqual(await idsOf(other), ['one', 'two'])
    assert.equal(await prepared(other), 0)
  })

  it('go on where the tables that they name have changed', async (t) => {
    const store = await open(t)
    const all = () => store.db.selectFrom('principals').selectAll().execute()
    await addUser(store, 'one')
    await all()
    await sql`alter table principals add column later int`.execute(store.db)
    assert.equal((await all()).length, 1)
    await addUser(store, 'two')
    assert.deepEqual(await idsOf(store), ['one', 'two'])
  })
})
