import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, it } from 'node:test'
import { openStore } from '../store/index.ts'
import { type Audit, openAudit } from './audit-log.ts'

const ALL = { kind: 'all' } as const
const HOURS = 720
const SEEN = { since: '2026-10-01T00:00:00.000Z', until: '2026-10-30T23:00:00.000Z' }

describe('counts of a month in which all was in use', () => {
  let audit: Audit

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-counts-'))
    const path = join(folder, 'broker.db')
    const store = await openStore({ kind: 'sqlite', path, replayPath: join(folder, 'replay.db') })
    const database = new DatabaseSync(path)
    t.after(async () => {
      database.close()
      await store.close()
      rmSync(folder, { recursive: true })
    })
    database.exec(`with recursive h(i) as (select 0 union all select i + 1 from h where i < ${HOURS - 1}),
        p(i) as (select 0 union all select i + 1 from p where i < 24), s(status) as (values ('success'), ('failure'), ('denied'))
      insert into audit_totals
      select strftime('%Y-%m-%dT%H', '2026-10-01', h.i || ' hours'), 1, 'proxy.request', 'provider-' || p.i, status, 2, 1, 1 from h, p, s`)
    audit = openAudit(store)
  })

  it('are a picture: of as many hours in one as that takes, which the answer says', async () => {
    const { step, counts } = await audit.counts(ALL, SEEN)
    assert.equal(step, 4)
    assert.equal(counts.length, (HOURS / 4) * 25 * 3)
    assert.deepEqual(counts[0] && { ...counts[0], provider: '', status: '' }, {
      hour: '2026-10-01T00:00:00.000Z',
      event: 'proxy.request',
      provider: '',
      status: '',
      count: 8,
    })
    assert.equal((await audit.counts(ALL, { ...SEEN, provider: 'provider-7' })).counts.length, HOURS * 3)
  })

  it('are refused by hours that were asked for', async () => {
    await assert.rejects(audit.counts(ALL, { ...SEEN, step: 1 }), /more than 50000 counts/)
    assert.equal((await audit.counts(ALL, { ...SEEN, step: 24 })).counts.length, (HOURS / 24) * 25 * 3)
  })
})
