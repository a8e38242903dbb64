import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { openStore, type Store } from '../store/index.ts'
import { type Audit, openAudit } from './audit-log.ts'
import { chainedHash } from './chain.ts'
import type { Scope } from './scope.ts'

const of = (principalId: string): Scope => ({ kind: 'principal', principalId })

describe("an event about one principal's vault by another's agent", () => {
  let store: Store
  let audit: Audit

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-audit-'))
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    audit = openAudit(store)
    const actors = [
      { identity: 'ci', principalId: 'team', agentPrincipalId: 'ada' },
      { identity: 'ci', principalId: 'ada', agentPrincipalId: 'ada' },
      { identity: 'bot', principalId: 'team' },
    ]
    await store.transaction(async (tx) => {
      for (const actor of actors) await audit.record(tx, actor, { event: 'provider.login', status: 'success' })
    })
  })

  it('is seen by both, once; the head and the counts too', async () => {
    const seqs = async (scope: Scope) => (await audit.page(scope, {})).events.map(({ seq }) => seq)
    assert.deepEqual(await seqs(of('ada')), [2, 1])
    assert.deepEqual(await seqs(of('team')), [3, 1])
    assert.deepEqual(await seqs(of('eve')), [])
    assert.deepEqual(await seqs({ kind: 'all' }), [3, 2, 1])
    assert.deepEqual(await Promise.all(['ada', 'team', 'eve'].map((id) => audit.head(of(id)))), [2, 3, 0])
    const count = async (scope: Scope) =>
      (await audit.counts(scope, {})).counts.reduce((sum, { count }) => sum + count, 0)
    assert.deepEqual(await Promise.all([count(of('ada')), count(of('team')), count({ kind: 'all' })]), [2, 2, 3])
  })

  it('is given a page at a time in the order of the log', async () => {
    const first = await audit.page(of('ada'), { limit: 1 })
    const second = await audit.page(of('ada'), { limit: 1, cursor: first.next_cursor ?? '' })
    assert.deepEqual([first.events[0]?.seq, second.events[0]?.seq, second.next_cursor], [2, 1, undefined])
  })

  it('is hashed with it; where it is the same, the hash is that of before the column', async () => {
    assert.equal(await audit.verify(10), undefined)
    const rows = await store.db.selectFrom('audit_events').selectAll().orderBy('seq').execute()
    assert.deepEqual(
      rows.map(({ agent_principal_id }) => agent_principal_id),
      ['ada', null, null],
    )
    const [first, second] = rows
    assert.ok(first && second)
    const { hash: _hash, agent_principal_id: _none, ...row } = second
    const { seq, id, timestamp, event, source, provider, connection, identity, principal_id } = row
    const columns = [seq, id, timestamp, event, source, provider, connection, identity, principal_id]
    const before = [first.hash, ...columns, row.status, row.reason, row.run_id, row.request]
    assert.equal(second.hash, hash('sha256', JSON.stringify(before)))
    assert.notEqual(chainedHash('', { ...first, agent_principal_id: null }), first.hash)
  })
})
