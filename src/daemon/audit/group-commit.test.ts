import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, beforeEach, describe, it } from 'node:test'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { type Postgres, startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { BrokerError, Secret } from '../../protocol/index.ts'
import type { ShippedEvent } from '../../schemas/index.ts'
import { openStore, type Store } from '../store/index.ts'
import { type Audit, openAudit } from './audit-log.ts'

const ALL = { kind: 'all' } as const
const of = (principalId: string) => ({ identity: 'ci', principalId })
const login = (principalId: string) => ({
  actor: of(principalId),
  event: { event: 'provider.login', status: 'success' } as const,
})
const batch = (length: number): ShippedEvent[] =>
  Array.from({ length }, () => ({ event: 'proxy.request', status: 'success' }))

describe('events that wait for the log', () => {
  let store: Store
  let audit: Audit
  let transactions: number

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-audit-'))
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    transactions = 0
    const addition: Store['addition'] = (work) => {
      transactions += 1
      return store.addition(work)
    }
    audit = openAudit({ ...store, addition })
  })

  const principals = async () => (await audit.page(ALL, { limit: 500 })).events.map(({ principal_id }) => principal_id)

  it('share a transaction where they came in the same moment, whoever they are of', async () => {
    const names = Array.from({ length: 16 }, (_, at) => `p-${at}`)
    await Promise.all(names.map((name) => audit.recordAll([login(name)], 'written')))
    assert.equal(transactions, 1)
    await audit.recordAll(names.map(login), 'flushed')
    assert.equal(transactions, 2)
    assert.deepEqual(new Set(await principals()), new Set(names))
    assert.equal(await audit.verify(1_000), undefined)
  })

  it('wait for no more of another than fits into a transaction with them', async () => {
    const busy = Array.from({ length: 10 }, (_, at) => audit.append(of('busy'), batch(100), `busy-${at}`))
    await Promise.all([
      ...busy,
      audit.append(of('seldom'), batch(1), 'seldom'),
      audit.recordAll([login('busy')], 'written'),
    ])
    const { events } = await audit.page({ kind: 'principal', principalId: 'seldom' }, {})
    const [own] = (await audit.page(ALL, { event: 'provider.login' })).events
    assert.ok(Number(events[0]?.seq) <= 50, `after ${events[0]?.seq}`)
    assert.ok(Number(own?.seq) <= 100, `after ${own?.seq}`)
    assert.equal(await audit.head(ALL), 1_002)
    assert.equal(await audit.verify(2_000), undefined)
  })

  it('are too many of one principal beyond 10,000, and of that one alone', async () => {
    const busy = Array.from({ length: 12 }, (_, at) => audit.append(of('busy'), batch(1_000), `busy-${at}`))
    const others = [audit.append(of('seldom'), batch(1), 'seldom'), audit.recordAll([login('busy')], 'flushed')]
    const outcomes = await Promise.allSettled(busy)
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    assert.deepEqual(
      refused.map((error) => error instanceof BrokerError && [error.name, error.options.retryAfter]),
      Array.from({ length: 2 }, () => ['RateLimitedError', 2]),
    )
    await Promise.all(others)
    assert.equal(await audit.head(ALL), 10_002)
  })

  it('are stored though another of the same transaction cannot be', async () => {
    const wrong = { identity: null as never, principalId: 'wrong' }
    const outcomes = await Promise.allSettled([
      audit.append(of('one'), batch(2), 'one'),
      audit.append(wrong, batch(1), 'wrong'),
      audit.append(of('other'), batch(2), 'other'),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal(await audit.head(ALL), 4)
    assert.equal(await audit.verify(10), undefined)
  })

  it('are stored once, also where one transaction has them twice', async () => {
    await Promise.all([0, 1].map(() => audit.append(of('one'), batch(3), 'same')))
    await audit.append(of('one'), batch(3), 'same')
    assert.equal(await audit.head(ALL), 3)
  })
})

describe('events that wait for the log, on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  before(async () => {
    postgres = await startPostgres(cleanup)
  })

  it('of several daemons are one log, however many come at once', async (t) => {
    const url = new Secret(await postgres.newDatabase('groups'))
    const stores = [await openStore({ kind: 'postgres', url }), await openStore({ kind: 'postgres', url })]
    t.after(() => Promise.all(stores.map((store) => store.close())))
    const [one, other] = stores.map((store) => openAudit(store))
    assert.ok(one && other)
    const shipped = [one, other].flatMap((audit, daemon) =>
      Array.from({ length: 4 }, (_, at) => audit.append(of(`p-${daemon}-${at}`), batch(1_000), 'first')),
    )
    const single = [one, other].flatMap((audit) =>
      Array.from({ length: 30 }, (_, at) => audit.recordAll([login(`p-${at}`)], 'written')),
    )
    await Promise.all([...shipped, ...single])
    const { counts } = await one.counts(ALL, {})
    assert.equal(
      counts.reduce((sum, { count }) => sum + count, 0),
      8_060,
    )
    assert.equal(await other.verify(10_000), undefined)
  })
})
