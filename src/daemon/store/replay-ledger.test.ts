import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, beforeEach, describe, it } from 'node:test'
import pg from 'pg'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { type Postgres, startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { Secret } from '../../protocol/index.ts'
import { requestsOn } from './open-postgres.ts'
import { postgresReplayLedger, type ReplayLedger, sqliteReplayLedger, type UsedProof } from './replay-ledger.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const A_CLEANING_MS = 61_000

/** As the command line makes them: they live for a minute, and may be half a minute off. */
function proof(key: string, issuedAt: number): UsedProof {
  return { key, issuedAt, deadUntil: issuedAt + 60 + 30 }
}

describe('the ledger of used proofs, in a file', () => {
  let path: string
  let clock: number
  let clean: () => void

  beforeEach((t) => {
    assert.ok('mock' in t && 'after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-ledger-'))
    t.after(() => rmSync(folder, { recursive: true }))
    path = join(folder, 'replay.db')
    clock = Math.floor(Date.now() / 1000)
    t.mock.timers.enable({ apis: ['setInterval'] })
    clean = () => t.mock.timers.tick(A_CLEANING_MS)
  })

  const open = (isNew = false) => sqliteReplayLedger(new DatabaseSync(path), { isNew, now: () => clock * 1000 })
  const edit = (statement: string) => {
    const database = new DatabaseSync(path)
    database.exec(statement)
    database.close()
  }
  const count = () => {
    const database = new DatabaseSync(path)
    const row = database.prepare('select count(*) as count from used_proofs').get()
    database.close()
    return row?.['count']
  }

  it('accepts a proof once, before and after it is opened anew', async () => {
    const used = proof('one', clock)
    const first = await open(true)
    assert.deepEqual([await first.claim(used), await first.claim(used)], [true, false])
    first.close()
    const second = await open()
    assert.deepEqual([await second.claim(used), await second.claim(proof('two', clock))], [false, true])
    second.close()
  })

  for (const ahead of [200, 2 * HOUR, 3 * DAY, 400 * DAY]) {
    it(`refuses a used proof after the clock was ${ahead} s ahead and came back; others it accepts`, async () => {
      const ledger = await open(true)
      const [before, within] = [proof('before', clock), proof('within', clock + ahead)]
      assert.equal(await ledger.claim(before), true)
      clock += ahead
      assert.equal(await ledger.claim(within), true)
      clean()
      clock += 60 - ahead
      clean()
      assert.equal(await ledger.claim(before), false)
      assert.equal(await ledger.claim(proof('after', clock)), true)
      ledger.close()
      clock += ahead - 30
      const later = await open()
      assert.equal(await later.claim(within), false)
      assert.equal(await later.claim(proof('later', clock)), true)
      later.close()
    })
  }

  it('accepts nothing that ends before what it has forgotten', async () => {
    const ledger = await open(true)
    const used = proof('one', clock)
    await ledger.claim(used)
    clock += 2 * DAY
    clean()
    clock -= 2 * DAY
    assert.equal(await ledger.claim(used), false)
    ledger.close()
    assert.equal(count(), 0)
    const again = await open()
    assert.equal(await again.claim(used), false)
    again.close()
  })

  it('keeps what it was used for no longer than a day, and of many what a wrong clock brings back', async () => {
    const ledger = await open(true)
    await ledger.claim(proof('old', clock - HOUR))
    await ledger.claim(proof('new', clock))
    ledger.close()
    edit(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
      insert into used_proofs select 'many ' || i, ${clock - HOUR} from n`)
    const busy = await open()
    clean()
    busy.close()
    assert.equal(count(), 1)
  })

  const losses: Readonly<Record<string, () => void>> = {
    'its file is gone': () => rmSync(path),
    'its file is an empty database': () => {
      rmSync(path)
      new DatabaseSync(path).close()
    },
    'it was emptied': () => edit('delete from used_proofs'),
    'it lost a row': () => edit(`delete from used_proofs where key = 'one'`),
    'it lost what it knows of itself': () => edit('delete from proof_ledger; delete from used_proofs'),
  }
  for (const [loss, lose] of Object.entries(losses)) {
    it(`accepts nothing of before where ${loss}, and everything from then on, also once it is opened again`, async () => {
      const used = [proof('one', clock), proof('two', clock)]
      const first = await open(true)
      for (const one of used) assert.equal(await first.claim(one), true)
      first.close()
      lose()
      clock += 1
      for (const wasRestarted of [false, true]) {
        const ledger = await open()
        for (const one of used) assert.equal(await ledger.claim(one), false)
        clock += 1
        assert.equal(await ledger.claim(proof(`after ${wasRestarted}`, clock)), true)
        ledger.close()
      }
    })
  }
})

describe('the ledger of used proofs, on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  let url: string
  let databases = 0
  before(async () => {
    postgres = await startPostgres(cleanup)
  })
  beforeEach(async () => {
    databases += 1
    url = await postgres.newDatabase(`ledger_${databases}`)
  })

  const seconds = () => Math.floor(Date.now() / 1000)
  const edit = async (statement: string) => {
    const client = new pg.Client(url)
    await client.connect()
    const { rows } = await client.query(statement)
    await client.end()
    return rows
  }
  async function withLedgers<Result>(
    isNew: boolean,
    work: (one: ReplayLedger, other: ReplayLedger) => Promise<Result>,
  ) {
    const pools = [await requestsOn(new Secret(url)), await requestsOn(new Secret(url))] as const
    const [one, other] = [
      await postgresReplayLedger(pools[0].requests, isNew),
      await postgresReplayLedger(pools[1].requests, isNew),
    ]
    try {
      return await work(one, other)
    } finally {
      for (const ledger of [one, other]) ledger.close()
      for (const pool of pools) await pool.close()
    }
  }

  it('is one for all daemons, whatever their clocks say: its own decides what is forgotten', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    await withLedgers(true, async (one, other) => {
      const [used, old] = [proof('one', seconds()), proof('long ago', seconds() - 2 * DAY)]
      assert.deepEqual([await one.claim(used), await one.claim(old)], [true, true])
      t.mock.timers.tick(A_CLEANING_MS)
      // A cleaning holds its lock until it is done.
      while ((await edit(`select 1 from used_proofs where key = 'long ago'`)).length > 0);
      assert.equal(await other.claim(used), false)
      assert.equal(await one.claim(old), false)
      assert.equal(await other.claim(proof('two', seconds())), true)
    })
  })

  const losses: Readonly<Record<string, string>> = {
    'it was emptied': 'truncate used_proofs',
    'it lost what it knows of itself': 'delete from proof_ledger',
    'all of it was emptied': 'truncate used_proofs; truncate proof_ledger',
  }
  for (const [loss, statement] of Object.entries(losses)) {
    it(`accepts nothing of before where ${loss}, in service and at a start`, async () => {
      const used = [proof('one', seconds()), proof('two', seconds())]
      await withLedgers(true, async (one, other) => {
        for (const proof of used) assert.equal(await one.claim(proof), true)
        await edit(statement)
        for (const proof of used) assert.equal(await one.claim(proof), false)
        for (const proof of used) assert.equal(await other.claim(proof), false)
        assert.equal(await other.claim(proof('later', seconds() + 2)), true)
      })
      await edit(statement)
      await withLedgers(false, async (one) => {
        for (const proof of used) assert.equal(await one.claim(proof), false)
        assert.equal(await one.claim(proof('after', seconds())), true)
      })
    })
  }

  it('goes on after a day without a request, in which all was forgotten', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    await withLedgers(true, async (one) => {
      await one.claim(proof('long ago', seconds() - 2 * DAY))
      t.mock.timers.tick(A_CLEANING_MS)
      while ((await edit('select 1 from used_proofs')).length > 0);
      assert.equal(await one.claim(proof('now', seconds() - 1)), true)
    })
  })
})
