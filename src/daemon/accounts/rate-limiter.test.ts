import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { BrokerError } from '../../protocol/index.ts'
import { openStore, type Store } from '../store/index.ts'
import { RateLimiter, type Subject } from './rate-limiter.ts'

const SECOND = 1000

describe('tries that are counted', () => {
  let store: Store
  let limiter: RateLimiter
  let now: number

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-limiter-'))
    now = Date.parse('2026-11-21T12:00:00.000Z')
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    limiter = new RateLimiter(store, () => now)
  })

  const tryOf = (account: string, source: string): readonly Subject[] => [
    { kind: 'pair', account, source },
    { kind: 'source', value: source },
    { kind: 'account', value: account },
  ]

  /** Returns whether it may be made. */
  async function admitted(account: string, source: string): Promise<boolean> {
    try {
      await limiter.admit(tryOf(account, source))
      return true
    } catch (error) {
      assert.ok(error instanceof BrokerError && error.name === 'RateLimitedError')
      assert.ok(Number(error.options.retryAfter) <= 30)
      return false
    }
  }

  it('on one account from one source are few, and not the business of another source', async () => {
    const outcomes: boolean[] = []
    for (let count = 0; count < 7; count += 1) outcomes.push(await admitted('ada', '192.0.2.1'))
    assert.deepEqual(outcomes, [true, true, true, true, true, false, false])
    assert.ok(await admitted('ada', '192.0.2.2'))
    assert.ok(await admitted('eve', '192.0.2.1'))
  })

  it('on many accounts from one source are twenty, and one more each minute', async () => {
    let made = 0
    while (made < 100 && (await admitted(`person${made}`, '192.0.2.1'))) made += 1
    assert.equal(made, 20)
    now += 5 * 60 * SECOND
    for (let count = 0; count < 5; count += 1) assert.ok(await admitted(`other${count}`, '192.0.2.1'))
    assert.ok(!(await admitted('last', '192.0.2.1')))
  })

  it('on one account from a hundred sources are a hundred: then all who are strange wait', async () => {
    for (let count = 0; count < 100; count += 1) assert.ok(await admitted('ada', `198.51.100.${count}`))
    assert.ok(!(await admitted('ada', '192.0.2.9')))
    assert.ok(await admitted('eve', '192.0.2.9'))
    now += 2 * SECOND
    assert.ok(await admitted('ada', '192.0.2.9'))
  })

  it('from one source for hours never keep another one out', async () => {
    for (let second = 0; second < 2 * 3600; second += 10) {
      now += 10 * SECOND
      await admitted('ada', '192.0.2.1')
      if (second % 600 === 0) {
        assert.ok(await admitted('ada', '192.0.2.2'), `after ${second} s`)
        await limiter.credit(tryOf('ada', '192.0.2.2'))
      }
    }
  })

  it('that were right are not counted, and do not wash away those of others', async () => {
    for (let count = 0; count < 5; count += 1) await admitted('ada', '192.0.2.1')
    for (let count = 0; count < 30; count += 1) {
      assert.ok(await admitted('ada', '192.0.2.2'))
      await limiter.credit(tryOf('ada', '192.0.2.2'))
    }
    assert.ok(!(await admitted('ada', '192.0.2.1')))
  })

  it('on one account are forgotten when its password is reset, those on others not', async () => {
    for (let count = 0; count < 5; count += 1) await admitted('ada', '192.0.2.1')
    for (let count = 0; count < 5; count += 1) await admitted('eve', '192.0.2.1')
    await store.transaction((tx) => limiter.forget(tx, 'ada'))
    assert.ok(await admitted('ada', '192.0.2.1'))
    assert.ok(!(await admitted('eve', '192.0.2.1')))
  })

  it('wait from the end of the last one', async () => {
    for (let count = 0; count < 5; count += 1) await admitted('ada', '192.0.2.1')
    now += 3 * SECOND
    await limiter.failed(store.db, tryOf('ada', '192.0.2.1'))
    assert.ok(!(await admitted('ada', '192.0.2.1')))
  })

  it('must wait as long when the store is not asked', async () => {
    const mine = tryOf('ada', '192.0.2.1')
    for (let count = 0; count < 5; count += 1) await limiter.admit(mine)
    limiter.refuseWaiting(mine)
    await assert.rejects(limiter.admit(mine), { name: 'RateLimitedError' })
    assert.throws(() => limiter.refuseWaiting(mine), { name: 'RateLimitedError' })
    limiter.refuseWaiting(tryOf('ada', '192.0.2.2'))
    now -= 60 * SECOND
    limiter.refuseWaiting(mine)
    now += 62 * SECOND
    limiter.refuseWaiting(mine)
  })

  it('name nobody in the store', async () => {
    await admitted('ada@example.com', '192.0.2.1')
    const rows = await store.db.selectFrom('sign_in_attempts').selectAll().execute()
    assert.doesNotMatch(JSON.stringify(rows), /ada|192\.0/)
  })
})
