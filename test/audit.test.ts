import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, describe, it } from 'node:test'
import { assertFiltersFind } from './audit-filters.ts'
import {
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  startDaemon,
  suiteCleanup,
} from './daemon-under-test.ts'
import { signedIn } from './signed-in-browser.ts'

describe('the audit log', () => {
  let daemon: DaemonUnderTest
  let ada: Caller
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    await connect(ada, 'openai', `sk-CNRY${'a'.repeat(44)}`)
  })
  const ship = (events: unknown[]) => ada.call('POST', '/audit/events', { events })
  const page = async (query = '') => (await ada.call('GET', `/api/audit/events${query}`)).body

  it('tells what happened, newest first, and who did it', async () => {
    const { events } = await page()
    assert.deepEqual(
      events.map(({ event }: { event: string }) => event),
      ['provider.login', 'identity.claimed', 'identity.registered'],
    )
    for (const event of events) {
      assert.equal(event.identity, 'ada')
      assert.match(event.principal_id, /^[0-9a-f-]{36}$/)
      assert.match(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.equal(event.source, 'internal')
    }
  })

  it('takes the word of the signature for who it was, never of the body', async () => {
    const request = { method: 'GET', host: 'api.openai.com', port: 443, path: '/v1/models?key=CNRY-query', status: 200 }
    const answer = await ship([{ event: 'proxy.request', status: 'success', provider: 'openai', request }])
    assert.equal(answer.status, 202)
    assert.deepEqual(answer.body, { accepted: 1 })
    const { events } = await page('?limit=1')
    assert.equal(events[0].identity, 'ada')
    assert.equal(events[0].source, 'external')
    assert.deepEqual(events[0].request, { ...request, path: '/v1/models' })
    for (const lie of [{ identity: 'eve' }, { principal_id: 'x' }, { event: 'provider.login' }, { seq: 1 }]) {
      assert.equal((await ship([{ event: 'proxy.request', status: 'success', ...lie }])).status, 422)
    }
  })

  it('stores a batch that was sent twice once, by the ids of its events or as a whole', async () => {
    const before = (await page('?limit=1')).events[0].seq
    const named = [{ event: 'proxy.denied', status: 'denied', id: 'event-number-1' }]
    const nameless = [{ event: 'proxy.denied', status: 'denied', reason: 'policy' }]
    for (const events of [named, named, nameless, nameless]) assert.equal((await ship(events)).status, 202)
    assert.equal((await page('?limit=1')).events[0].seq, before + 2)
  })

  it('takes 1 to 1000 events at once', async () => {
    const events = Array.from({ length: 1000 }, (_, at) => ({
      event: 'proxy.request',
      status: 'success',
      id: `many-${at}-x`,
    }))
    assert.equal((await ship([])).status, 422)
    assert.equal((await ship([...events, events[0]])).status, 422)
    assert.deepEqual((await ship(events)).body, { accepted: 1000 })
  })

  it('takes a method that is a token, and no other text in its place', async () => {
    const request = { host: 'api.openai.com', port: 443, path: '/' }
    const status = async (method: string) =>
      (await ship([{ event: 'proxy.request', status: 'success', request: { ...request, method } }])).status
    for (const method of ['GET', 'M-SEARCH', 'x.!#']) assert.equal(await status(method), 202, method)
    for (const method of ['', 'GET /x', '<b>', '\u202eTEG', 'GET\u0000', 'GÉT', 'A'.repeat(33)])
      assert.equal(await status(method), 422, method)
  })

  it('holds texts that are no Unicode, in its columns and in its chain', async () => {
    const reason = 'a\ud800b\u0000c'
    const request = { method: 'GET', host: 'api.openai.com', port: 443, path: '/\udfff' }
    const event = { event: 'proxy.request', status: 'success', reason, run_id: '\ud800', request }
    assert.equal((await ship([event])).status, 202)
    const { events } = await page('?limit=1')
    assert.equal(events[0].reason, 'a\ufffdb\ufffdc')
    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
  })

  it('believes a time within reason', async () => {
    await ship([{ event: 'proxy.request', status: 'success', timestamp: '2001-01-01T00:00:00.000Z' }])
    const { events } = await page('?limit=1')
    assert.ok(Date.now() - Date.parse(events[0].timestamp) < 25 * 60 * 60 * 1000)
    await ship([{ event: 'proxy.request', status: 'success', timestamp: '2101-01-01T00:00:00.000Z' }])
    assert.ok(Date.parse((await page('?limit=1')).events[0].timestamp) <= Date.now())
  })

  it('pages without a gap or a repetition while it grows, and clamps the page', async () => {
    const seen: number[] = []
    let cursor: string | undefined
    do {
      const { events, next_cursor } = await page(`?limit=300${cursor ? `&cursor=${cursor}` : ''}`)
      seen.push(...events.map(({ seq }: { seq: number }) => seq))
      await ship([{ event: 'proxy.request', status: 'success', reason: `grows ${seen.length}` }])
      cursor = next_cursor
    } while (cursor)
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => b - a),
    )
    assert.equal(seen.at(-1), 1)
    assert.equal(seen.length, seen[0])
    assert.equal((await page('?limit=100000')).events.length, 500)
    assert.equal((await page()).events.length, 50)
  })

  it('filters by event, provider, status, identity and time', async () => {
    assert.equal((await page('?event=provider.login')).events.length, 1)
    assert.equal((await page('?provider=openai')).events.length, 2)
    assert.ok((await page('?status=denied')).events.every(({ status }: { status: string }) => status === 'denied'))
    assert.deepEqual((await page('?identity=nobody')).events, [])
    assert.deepEqual((await page('?since=2100-01-01T00:00:00Z')).events, [])
    assert.deepEqual((await page('?until=2000-01-01T00:00:00.000Z')).events, [])
  })

  it('shows a user the events of the own principal alone', async () => {
    const password = 'CNRY correct horse battery'
    await signedIn(daemon, 'register', { email: 'first@example.com', password })
    const user = await signedIn(daemon, 'register', { email: 'bob@example.com', password })
    const bob = caller(daemon, 'bob')
    const asked = await bob.call('POST', '/api/identities/register', { handle: 'bob', did: bob.key.did })
    assert.equal((await user.call('POST', `${new URL(asked.body.claim_url).pathname}/confirm`, {})).status, 200)
    const his = await bob.call('POST', '/audit/events', { events: [{ event: 'proxy.request', status: 'success' }] })
    assert.equal(his.status, 202)
    const { body } = await bob.call('GET', '/api/audit/events')
    assert.deepEqual(
      new Set(body.events.map((event: { principal_id: string }) => event.principal_id)),
      new Set([user.principalId]),
    )
    assert.deepEqual([body.events[0].identity, body.events[0].event], ['bob', 'proxy.request'])
    assert.ok((await page()).events.some(({ identity }: { identity: string }) => identity === 'bob'))
    assert.equal((await bob.call('POST', '/api/providers', { definition: {} })).status, 403)
    assert.equal((await bob.call('POST', '/api/providers/batch', { definitions: [{}] })).status, 403)
    assert.equal((await bob.call('POST', '/api/catalogue', { file: '{}' })).status, 403)
    assert.equal((await bob.call('DELETE', '/api/catalogue')).status, 403)
  })

  it('finds the same events by several filters as one would by hand, a page at a time', async (t) => {
    await assertFiltersFind(await owner(await startDaemon(t)))
  })

  it('is append-only, and shows a change that was made around it', async (t) => {
    const other = await startDaemon(t)
    const one = await owner(other)
    const path = join(other.home, 'server/broker.db')
    const database = new DatabaseSync(path)
    assert.throws(() => database.exec(`update audit_events set identity = 'eve'`), /append-only/)
    assert.throws(() => database.exec('delete from audit_events'), /append-only/)
    database.exec('drop trigger audit_events_no_update; drop trigger audit_events_no_delete')
    const issues = async () => (await one.call('GET', '/api/ready')).body.issues.join()
    assert.match(await issues(), /^spec_version: The schema of the store[^,]*$/, 'what kept it so is missed')
    database.exec(`update audit_events set identity = 'eve' where seq = 1`)
    assert.match(await issues(), /changed outside of Broker at event 1/)
    database.exec(`update audit_events set identity = 'ada' where seq = 1`)
    assert.doesNotMatch(await issues(), /at event/)
    database.exec('delete from audit_events where seq = 2')
    assert.match(await issues(), /removed or changed|changed outside/)
    database.close()
  })
})
