import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { Secret } from '../../protocol/index.ts'
import { type AuditEventRow, openStore, type Store } from '../store/index.ts'
import { type Audit, openAudit } from './audit-log.ts'
import { chainedHash } from './chain.ts'

const of = (principalId: string) => ({ identity: 'ci', principalId })
const login = (principalId: string) => ({
  actor: of(principalId),
  event: { event: 'provider.login', status: 'success', provider: 'openai' } as const,
})
const mac = (text: string) => `mac of ${text}`

describe('a log that is looked through', () => {
  let store: Store
  let audit: Audit
  /** The same file, as somebody else opens it. */
  let file: DatabaseSync

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-examine-'))
    const path = join(folder, 'broker.db')
    store = await openStore({ kind: 'sqlite', path, replayPath: join(folder, 'replay.db') })
    audit = openAudit(store, { mac })
    for (let at = 0; at < 10; at += 1) await audit.recordAll([login('ada'), login('bob')], 'written')
    file = new DatabaseSync(path)
    for (const trigger of [
      'audit_events_no_update',
      'audit_events_no_delete',
      'audit_roots_no_delete',
      'audit_roots_no_update',
    ]) {
      file.exec(`drop trigger ${trigger}`)
    }
    t.after(async () => {
      file.close()
      await store.close()
      rmSync(folder, { recursive: true })
    })
  })

  const examined = async (since?: string) => {
    const { status, findings, ...rest } = await audit.examine(since === undefined ? {} : { since })
    assert.equal(status, findings.length === 0 ? 'ok' : 'failed')
    return { ...rest, findings: findings.map(({ kind, seq }) => `${kind} ${seq}`) }
  }

  const rows = () => file.prepare('select * from audit_events order by seq').all() as unknown as AuditEventRow[]

  /** Hashes all anew from a number on, as somebody would who knows how but has no key. */
  const rehash = (from: number) => {
    let before = from === 1 ? '' : (rows().find(({ seq }) => seq === from - 1)?.hash ?? '')
    for (const { hash: _, ...row } of rows().filter(({ seq }) => seq >= from)) {
      before = chainedHash(before, row)
      file.prepare('update audit_events set hash = ? where seq = ?').run(before, row.seq)
    }
    file.prepare('update audit_head set hash = ?').run(before)
  }

  it('is whole', async () => {
    assert.deepEqual(await examined(), { events: 20, first: 1, last: 20, findings: [] })
  })

  it('tells of an event that was edited', async () => {
    file.exec(`update audit_events set provider = 'github' where seq = 7`)
    assert.deepEqual((await examined()).findings, ['edited 7', 'index 7'])
  })

  it('tells of one that was deleted, at the beginning, in the middle and at the end', async () => {
    for (const [seq, found] of [
      [12, ['deleted 12']],
      [1, ['deleted 1', 'deleted 12']],
      [20, ['deleted 1', 'deleted 12', 'truncated 20']],
    ] as const) {
      file.exec(`delete from audit_events where seq = ${seq}`)
      assert.deepEqual((await examined()).findings, found)
    }
  })

  it('tells of one that was put behind the others, and of one that was put among them', async () => {
    const [first] = rows()
    assert.ok(first)
    const put = (seq: number, before: string) => {
      const { hash: _, ...row } = { ...first, seq, id: `put-${seq}` }
      const values = { ...row, hash: chainedHash(before, row) }
      const names = Object.keys(values)
      file
        .prepare(`insert into audit_events (${names.join()}) values (${names.map(() => '?').join()})`)
        .run(...(Object.values(values) as string[]))
    }
    put(21, rows().at(-1)?.hash ?? '')
    assert.deepEqual((await examined()).findings, ['index 1', 'inserted 21'])
    file.exec('delete from audit_events where seq = 21')
    file.exec('delete from audit_events where seq = 10')
    put(10, rows().find(({ seq }) => seq === 9)?.hash ?? '')
    // Whoever hashes one anew leaves the next without the one before it.
    assert.deepEqual((await examined()).findings, ['index 1', 'edited 11'])
  })

  it('tells of events that stand in each other’s place', async () => {
    file.exec('update audit_events set seq = 1000 where seq = 5')
    file.exec('update audit_events set seq = 5 where seq = 6')
    file.exec('update audit_events set seq = 6 where seq = 1000')
    assert.deepEqual((await examined()).findings, ['reordered 5', 'reordered 6'])
  })

  it('tells of an end that was cut off, with its head and with its signatures', async () => {
    await signed()
    file.exec('delete from audit_events where seq > 15')
    file.prepare('update audit_head set seq = 15, hash = ?').run(rows().at(-1)?.hash ?? '')
    assert.deepEqual((await examined()).findings, ['truncated 16'])
  })

  it('tells of a log that was hashed anew, from where no signature vouches for it', async () => {
    await signed()
    await audit.recordAll([login('ada')], 'written')
    file.exec(`update audit_events set identity = 'eve' where seq = 3`)
    rehash(3)
    const { findings, checkpoint } = await examined()
    assert.deepEqual(findings, ['edited 1'])
    assert.equal(checkpoint?.number, 1)
  })

  it('tells of signatures that were changed', async () => {
    await signed()
    file.exec(`update audit_roots set mac = 'another'`)
    assert.deepEqual((await examined()).findings, ['edited 20'])
  })

  it('tells of events that filters do not find', async () => {
    file.exec(`delete from audit_hours where principal_id = 'bob'`)
    assert.deepEqual((await examined()).findings, ['index 2'])
  })

  it('is looked through since a time, which says nothing of before', async () => {
    file.exec(`update audit_events set reason = 'edited' where seq = 7`)
    assert.deepEqual(await examined(new Date(Date.now() + 3 * 60 * 60_000).toISOString()), { events: 0, findings: [] })
    assert.deepEqual((await examined(new Date().toISOString())).findings, ['edited 7'])
  })

  /** At the end the log is signed. */
  const signed = () => audit.close()
})

describe('a log of several chains that is looked through', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()

  it('tells of an event that was edited, and of one that was deleted, each in its chain', async (t) => {
    const postgres = await startPostgres(cleanup)
    const store = await openStore({ kind: 'postgres', url: new Secret(postgres.url) })
    t.after(() => store.close())
    const audit = openAudit(store, { mac })
    const names = ['ada', 'bob', 'cy', 'dee']
    for (let at = 0; at < 5; at += 1) await audit.recordAll(names.map(login), 'written')
    const { status, events, findings } = await audit.examine({})
    assert.deepEqual([status, events, findings], ['ok', 20, []])
    const { events: page } = await audit.page({ kind: 'principal', principalId: 'bob' }, {})
    const [edited, deleted] = [page[1]?.seq, page[3]?.seq]
    await sql`drop trigger audit_events_append_only on audit_events`.execute(store.db)
    await sql`update audit_events set reason = 'edited' where seq = ${edited}`.execute(store.db)
    await sql`delete from audit_events where seq = ${deleted}`.execute(store.db)
    assert.deepEqual((await audit.examine({})).findings, [
      { kind: 'deleted', seq: deleted },
      { kind: 'edited', seq: edited },
    ])
  })
})
