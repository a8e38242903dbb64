import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import type { ShippedEvent } from '../../schemas/index.ts'
import { openStore, type Store } from '../store/index.ts'
import { type Audit, openAudit } from './audit-log.ts'

const ALL = { kind: 'all' } as const
const of = (principalId: string) => ({ identity: 'ci', principalId })
const batch = (length: number): ShippedEvent[] =>
  Array.from({ length }, () => ({ event: 'proxy.request', status: 'success' }))

describe('the thread that stores the log', { timeout: 60_000 }, () => {
  let store: Store
  let audit: Audit
  /** Transactions on the connection of the thread that answers. */
  let here: number
  let sent: number

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-log-thread-'))
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    here = 0
    sent = 0
    const addition: Store['addition'] = (work) => {
      here += 1
      return store.addition(work)
    }
    audit = openAudit({ ...store, addition }, { withThread: true })
    t.after(async () => {
      await audit.close()
      await store.close()
      rmSync(folder, { recursive: true })
    })
  })

  const append = async (length: number, actor = of('busy')) => {
    sent += 1
    await audit.append(actor, batch(length), `batch-${sent}`)
  }

  /** Sends full groups until none is stored here. Returns how many events that were. */
  const untilReady = async (): Promise<number> => {
    for (let events = 0; ; events += 16) {
      const before = here
      await append(16)
      if (here === before) return events + 16
    }
  }

  it('is not started for a few', async () => {
    for (let at = 0; at < 20; at++) await append(15)
    assert.equal(here, 20)
  })

  it('chains what it stores to what is stored here, and takes turns with changes', async () => {
    const first = await untilReady()
    const before = here
    const change = (event: 'provider.login' | 'provider.logout') =>
      store.transaction((tx) => audit.record(tx, of('ada'), { event, status: 'success' }))
    await Promise.all([append(500), change('provider.login'), append(500, of('other')), change('provider.logout')])
    assert.equal(here, before)
    assert.equal(await audit.head(ALL), first + 1_002)
    assert.equal(await audit.verify(5_000), undefined)
    await store.flushed()
  })

  it('leaves to the other what it cannot store, which tells of each by itself', async () => {
    await untilReady()
    const outcomes = await Promise.allSettled([
      append(20, of('one')),
      append(20, { identity: null as never, principalId: 'wrong' }),
      append(20, of('other')),
    ])
    assert.deepEqual(
      outcomes.map((one) => (one.status === 'rejected' ? (one.reason as Error).message : one.status)),
      ['fulfilled', 'NOT NULL constraint failed: audit_events.identity', 'fulfilled'],
    )
    assert.equal(await audit.verify(5_000), undefined)
  })

  it('ends with the log, which stores by itself what comes later', async () => {
    const first = await untilReady()
    await audit.close()
    const before = here
    await append(3)
    assert.equal(here, before + 1)
    assert.equal(await audit.head(ALL), first + 3)
  })
})
