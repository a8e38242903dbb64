import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, it } from 'node:test'
import { type AuditEventRow, openStore, type Store } from '../store/index.ts'
import { type Audit, openAudit } from './audit-log.ts'
import { chainedHash } from './chain.ts'

const MINUTE = 60_000
const mac = (text: string) => createHmac('sha256', 'CNRY key of a test').update(text).digest('hex')

describe('the log, signed once a minute', () => {
  let store: Store
  let audit: Audit
  let database: DatabaseSync
  let clock: number
  let passMinute: () => Promise<void>

  beforeEach(async (t) => {
    assert.ok('after' in t && 'mock' in t)
    clock = Date.parse('2026-11-23T09:00:00.000Z')
    t.mock.timers.enable({ apis: ['setInterval'] })
    const folder = mkdtempSync(join(tmpdir(), 'broker-roots-'))
    const path = join(folder, 'broker.db')
    store = await openStore({ kind: 'sqlite', path, replayPath: join(folder, 'replay.db') }, { now: () => clock })
    audit = openAudit(store, { now: () => clock, mac, onFailure: (error) => assert.fail(String(error)) })
    const stop = audit.keepUp()
    database = new DatabaseSync(path)
    t.after(async () => {
      stop()
      database.close()
      await store.close()
      rmSync(folder, { recursive: true })
    })
    passMinute = async () => {
      clock += MINUTE
      t.mock.timers.tick(MINUTE)
      // What was begun comes first.
      await store.transaction(async () => undefined)
    }
    await record('one', 'two', 'three')
  })

  function record(...identities: string[]): Promise<void> {
    const event = { event: 'provider.login', status: 'success' } as const
    return audit.recordAll(
      identities.map((identity) => ({ actor: { identity, principalId: 'p' }, event })),
      'flushed',
    )
  }

  const numbers = () =>
    database
      .prepare('select number from audit_roots order by 1')
      .all()
      .map(({ number }) => number)

  /** As one may who can write the store, and has no key: every hash fits again. */
  function rewrite(change: (row: AuditEventRow) => AuditEventRow): void {
    database.exec('drop trigger audit_events_no_update; drop trigger audit_events_no_delete')
    const rows = database.prepare('select * from audit_events order by seq').all() as unknown as AuditEventRow[]
    let hash = ''
    for (const row of rows) {
      const { hash: _before, ...changed } = change({ ...row })
      hash = chainedHash(hash, changed)
      database
        .prepare('update audit_events set identity = ?, hash = ? where seq = ?')
        .run(changed.identity, hash, changed.seq)
    }
    database.prepare('update audit_head set hash = ?').run(hash)
  }

  const madeEve = (row: AuditEventRow): AuditEventRow => (row.seq === 1 ? { ...row, identity: 'eve' } : row)

  it('shows events that were changed, and the chain made anew with them', async () => {
    await passMinute()
    await record('four')
    assert.equal(await audit.verify(100), undefined)
    rewrite(madeEve)
    assert.match(String(await audit.verify(100)), /changed outside of Broker at event 3 or before: that was signed/)
  })

  it('is not signed again within a minute, nor where nothing has come', async () => {
    await passMinute()
    await passMinute()
    assert.deepEqual(numbers(), [1])
    await record('four')
    await passMinute()
    assert.deepEqual(numbers(), [1, 2])
    clock -= MINUTE - 1
    await record('five')
    await passMinute()
    assert.deepEqual(numbers(), [1, 2], 'another daemon did so a moment ago')
    await passMinute()
    assert.deepEqual(numbers(), [1, 2, 3])
    assert.equal(await audit.verify(100), undefined)
  })

  it('shows a signature that was made without the key', async () => {
    await passMinute()
    rewrite(madeEve)
    database.exec('drop trigger audit_roots_no_update')
    database.exec(`update audit_roots set heads = '[[1,3,"' || (select hash from audit_head) || '"]]'`)
    assert.match(String(await audit.verify(100)), /signature number 1 of the audit log was changed/)
  })

  it('shows that a signature is gone: the first, one between, and the newest that was seen', async () => {
    await passMinute()
    await record('four')
    await passMinute()
    assert.equal(await audit.verify(100), undefined)
    database.exec('drop trigger audit_roots_no_delete; create temp table kept as select * from audit_roots')
    database.exec('delete from audit_roots where number = 1')
    assert.match(String(await audit.verify(100)), /signature number 2 of the audit log was changed/)
    database.exec('delete from audit_roots; insert into audit_roots select * from kept where number = 1')
    assert.match(String(await audit.verify(100)), /newest signatures of the audit log were removed/)
  })

  it('is append-only, as the log is', () => {
    assert.throws(
      () => database.exec(`insert into audit_roots values (9, '', '', '', ''); delete from audit_roots`),
      /append-only/,
    )
    assert.throws(() => database.exec(`update audit_roots set mac = ''`), /append-only/)
  })

  it('without the key is not signed, and what is signed is held against itself', async () => {
    await passMinute()
    const sealed = openAudit(store, { now: () => clock })
    assert.equal(await sealed.verify(100), undefined)
    rewrite(madeEve)
    assert.match(String(await sealed.verify(100)), /that was signed/)
  })
})
