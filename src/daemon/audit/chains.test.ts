import assert from 'node:assert/strict'
import { before, describe, it, type TestContext } from 'node:test'
import pg from 'pg'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { type Postgres, startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { Secret } from '../../protocol/index.ts'
import { type AuditEventRow, migrationsFor, openStore, type Store } from '../store/index.ts'
import { openAudit } from './audit-log.ts'
import { chainedHash } from './chain.ts'
import { chainOf } from './chain-of.ts'

const ALL = { kind: 'all' } as const
const LOGIN = { event: 'provider.login', status: 'success' } as const
const of = (principalId: string) => ({ identity: 'ci', principalId })

/** Of as many chains. */
function principalsOf(count: number): readonly string[] {
  const found = new Map<number, string>()
  for (let at = 0; found.size < count; at += 1) found.set(chainOf('postgres', `p-${at}`), `p-${at}`)
  return [...found.values()]
}

const [ADA = '', EVE = '', BOB = ''] = principalsOf(3)

describe('the chains of the log, on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  let count = 0
  before(async () => {
    postgres = await startPostgres(cleanup)
  })

  async function database(t: TestContext) {
    count += 1
    const url = await postgres.newDatabase(`chains_${count}`)
    const client = new pg.Client(url)
    await client.connect()
    t.after(() => client.end())
    const ask = async (query: string) => (await client.query(query)).rows
    const open = async (): Promise<Store> => {
      const store = await openStore({ kind: 'postgres', url: new Secret(url) })
      t.after(() => store.close())
      return store
    }
    return { ask, open }
  }

  it('of two principals are written beside each other, by acts and alone', async (t) => {
    const { open } = await database(t)
    const store = await open()
    const audit = openAudit(store)
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const ada = store.vaultTransaction('ada', async (tx) => {
      await audit.record(tx, of(ADA), LOGIN)
      begun.resolve()
      await end.promise
    })
    await begun.promise
    await store.vaultTransaction('eve', (tx) => audit.record(tx, of(EVE), LOGIN))
    await audit.recordAll([{ actor: of(BOB), event: LOGIN }], 'flushed')
    end.resolve()
    await ada
    const { events } = await audit.page(ALL, {})
    assert.deepEqual(new Set(events.map(({ principal_id }) => principal_id)), new Set([ADA, EVE, BOB]))
    assert.equal(await audit.verify(100), undefined)
  })

  for (const [title, change] of [
    ['one in the middle', `delete from audit_events where identity = '1'`],
    [
      'the last of one chain',
      `delete from audit_events where seq = (select max(seq) from audit_events where chain = (select max(chain) from audit_events))`,
    ],
    [
      'one that is in another chain now',
      `update audit_events set chain = (select min(chain) from audit_events) where identity = '1'`,
    ],
    ['one that is in no chain that there is', `update audit_events set chain = 99 where identity = '1'`],
    ['one with another number', `update audit_events set seq = 1000 + seq where identity = '1'`],
  ] as const) {
    it(`show ${title}`, async (t) => {
      const { ask, open } = await database(t)
      const audit = openAudit(await open())
      for (const identity of ['0', '1', '2']) {
        await audit.recordAll(
          [ADA, EVE].map((principalId) => ({ actor: { identity, principalId }, event: LOGIN })),
          'flushed',
        )
      }
      assert.equal(await audit.verify(100), undefined)
      await ask('drop trigger audit_events_append_only on audit_events')
      await ask(change)
      assert.match(String(await audit.verify(100)), /outside of Broker/)
    })
  }

  it('are held by their newest events alone, where that is asked for', async (t) => {
    const { ask, open } = await database(t)
    const audit = openAudit(await open())
    for (let at = 0; at < 10; at += 1) {
      await audit.recordAll(
        [ADA, EVE, BOB].map((principalId) => ({ actor: of(principalId), event: LOGIN })),
        'flushed',
      )
    }
    for (const rows of [1, 2, 7, 29, 30, 31]) assert.equal(await audit.verify(rows), undefined, `${rows}`)
    await ask('drop trigger audit_events_append_only on audit_events')
    await ask(`update audit_events set identity = 'eve' where seq = 2`)
    assert.equal(await audit.verify(20), undefined)
    assert.match(String(await audit.verify(30)), /at event 2/)
  })

  it('go on from a log that has one, which verifies as before', async (t) => {
    const { ask, open } = await database(t)
    const earlier = migrationsFor('postgres').slice(0, -1)
    for (const { statements } of earlier) for (const statement of statements) await ask(statement)
    await ask('create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)')
    for (const [at, { name }] of earlier.entries()) {
      await ask(`insert into kysely_migration values ('${name}', '2026-11-21T09:00:0${at}.000Z')`)
    }
    let hash = ''
    for (let seq = 1; seq <= 5; seq += 1) {
      hash = chainedHash(hash, eventOfBefore(seq))
      await ask(`insert into audit_events (seq, id, timestamp, event, source, identity, principal_id, status, hash)
        values (${seq}, 'e-${seq}', '2026-11-21T09:10:00.000Z', 'provider.login', 'internal', 'ci', '${ADA}', 'success', '${hash}')`)
    }
    await ask(`update audit_head set seq = 5, hash = '${hash}'`)
    await ask(
      `insert into audit_hours values ('2026-11-21T09', '${ADA}', '', 'provider.login', '', 'success', 5, 1, 5)`,
    )

    const audit = openAudit(await open())
    assert.equal(await audit.verify(100), undefined)
    assert.equal(await audit.head(ALL), 5)
    await audit.recordAll(
      [ADA, EVE, BOB].map((principalId) => ({ actor: of(principalId), event: LOGIN })),
      'flushed',
    )
    assert.equal(await audit.verify(100), undefined)
    assert.deepEqual(
      (await audit.page(ALL, {})).events.map(({ seq }) => seq),
      [8, 7, 6, 5, 4, 3, 2, 1],
    )
    const { counts } = await audit.counts(ALL, {})
    assert.deepEqual(
      counts.map((one) => one.count),
      [5, 3],
    )
  })

  it('are counted together, each hour in one row once it is over', async (t) => {
    const { ask, open } = await database(t)
    const store = await open()
    const hour = 60 * 60_000
    for (const ago of [3 * hour, 0]) {
      const audit = openAudit(store, { now: () => Date.now() - ago })
      await audit.recordAll(
        [ADA, EVE, BOB].map((principalId) => ({ actor: of(principalId), event: LOGIN })),
        'flushed',
      )
    }
    t.mock.timers.enable({ apis: ['setInterval'] })
    const audit = openAudit(store, { onFailure: (error) => assert.fail(String(error)) })
    const countsOf = async () => (await audit.counts(ALL, {})).counts
    const before = await countsOf()
    const stop = audit.keepUp()
    t.after(stop)
    t.mock.timers.tick(60_000)
    while ((await ask('select 1 from audit_totals')).length > 4);
    assert.deepEqual(await countsOf(), before)
    assert.deepEqual(await ask('select chain, count from audit_totals where chain = 0'), [{ chain: 0, count: '3' }])
    assert.deepEqual(
      (await audit.page(ALL, { since: new Date(Date.now() - 4 * hour).toISOString(), status: 'success' })).events
        .length,
      6,
    )
  })
})

function eventOfBefore(seq: number): Omit<AuditEventRow, 'hash'> {
  const none = { provider: null, connection: null, agent_principal_id: null, reason: null, run_id: null, request: null }
  const event = { event: 'provider.login', source: 'internal', identity: 'ci', principal_id: ADA, status: 'success' }
  return { seq, id: `e-${seq}`, timestamp: '2026-11-21T09:10:00.000Z', ...event, ...none, details: null, chain: null }
}
