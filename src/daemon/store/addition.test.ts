import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { Secret } from '../../protocol/index.ts'
import type { Db } from './db.ts'
import { openStore } from './open-store.ts'

describe('an addition to the store', () => {
  const cleanup = suiteCleanup()

  it('waits for no disk on SQLite, and a change does; what was added is kept when that is asked for', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'broker-addition-'))
    const store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'r.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    const mode = async (tx: Db) =>
      (await sql<{ synchronous: number }>`pragma synchronous`.execute(tx)).rows[0]?.synchronous
    const normal = 1
    const full = 2
    assert.deepEqual(await store.addition(mode), normal)
    assert.deepEqual(await store.transaction(mode), full)
    await assert.rejects(store.addition(() => Promise.reject(new Error('no'))))
    assert.deepEqual(await store.vaultTransaction('ada', mode), full)
    await store.flushed()
    rmSync(join(folder, 'broker.db-wal'))
    await assert.rejects(store.flushed(), /the disk failed to write/)
  })

  it('waits for no disk on Postgres, and a change does; what was added is kept when that is asked for', {
    skip: whyNot('postgres'),
  }, async (t) => {
    const postgres = await startPostgres(cleanup)
    const store = await openStore({ kind: 'postgres', url: new Secret(postgres.url) })
    t.after(() => store.close())
    const mode = async (tx: Db) =>
      (await sql<{ m: string }>`select current_setting('synchronous_commit') as m`.execute(tx)).rows[0]?.m
    assert.equal(await store.addition(mode), 'off')
    assert.equal(await store.transaction(mode), 'on')
    await store.addition((tx) => sql`create table added (x int)`.execute(tx))
    const { rows: written } = await sql<{ at: string }>`select pg_current_wal_insert_lsn()::text as at`.execute(
      store.db,
    )
    await store.flushed()
    const { rows } = await sql<{ kept: boolean }>`
      select pg_current_wal_flush_lsn() >= ${written[0]?.at}::pg_lsn as kept`.execute(store.db)
    assert.deepEqual(rows, [{ kept: true }])
  })
})
