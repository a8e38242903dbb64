import assert from 'node:assert/strict'
import type { Caller } from './daemon-under-test.ts'

/** Holds that what the log finds by each of several filters, a page at a time, is what one finds in all of it by hand. */
export async function assertFiltersFind(one: Caller): Promise<void> {
  const daysBack = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
  const [providers, statuses] = [
    ['a', 'b', 'c'],
    ['success', 'failure', 'denied'],
  ]
  const events = Array.from({ length: 300 }, (_, index) => ({
    event: index % 5 === 0 ? 'proxy.denied' : 'proxy.request',
    provider: providers[index % 3],
    status: statuses[index % 4] ?? 'success',
    timestamp: daysBack((index * 7) % 23),
  }))
  assert.equal((await one.call('POST', '/audit/events', { events })).status, 202)
  const all = (await one.call('GET', '/api/audit/events?limit=500')).body.events
  const [since, until] = [daysBack(12.5), daysBack(3.5)]
  const queries: readonly Readonly<Record<string, string>>[] = [
    { provider: 'a', status: 'denied' },
    { provider: 'b', event: 'proxy.denied', status: 'failure' },
    { event: 'identity.claimed', provider: 'a' },
    { since },
    { until },
    { since, until, provider: 'c' },
    { since: '2999-01-01T00:00:00.000Z' },
  ]
  for (const { since = '', until = '~', ...wanted } of queries) {
    const expected = all.filter(
      (event: Record<string, string>) =>
        Object.entries(wanted).every(([name, value]) => event[name] === value) &&
        (event['timestamp'] ?? '') >= since &&
        (event['timestamp'] ?? '') <= until,
    )
    const query = { ...wanted, ...(since !== '' && { since }), ...(until !== '~' && { until }) }
    const found: unknown[] = []
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      const more = new URLSearchParams({ ...query, limit: '20', ...(cursor && { cursor }) })
      const { body } = await one.call('GET', `/api/audit/events?${more}`)
      found.push(...body.events)
      cursor = body.next_cursor
    }
    assert.deepEqual(found, expected, JSON.stringify(query))
  }
  assert.equal((await one.call('GET', '/api/audit/events?provider=z&status=denied&cursor=x')).status, 422)
  const { counts } = (await one.call('GET', '/api/audit/counts?step=24')).body
  assert.ok(counts.every(({ hour }: { hour: string }) => hour.endsWith('T00:00:00.000Z')))
  assert.equal(
    counts.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
    all.length,
  )
  assert.equal((await one.call('GET', '/api/audit/counts?step=5')).status, 422)
  await assertCountsFollowFilters(one, all)
}

/** The counts are those of the events that the list finds by the same filters, one agent's among them. */
async function assertCountsFollowFilters(one: Caller, all: readonly Record<string, string>[]): Promise<void> {
  const identity = all[0]?.['identity'] ?? ''
  const hour = new Date(Date.now() - 5 * 3_600_000).toISOString().slice(0, 13)
  const queries: readonly Readonly<Record<string, string>>[] = [
    { identity },
    { identity, provider: 'a' },
    { identity, event: 'proxy.denied', status: 'failure' },
    { identity: 'nobody' },
  ]
  for (const wanted of queries) {
    const fits = (event: Record<string, string>) =>
      Object.entries(wanted).every(([name, value]) => event[name] === value)
    const expected = all.filter(fits)
    assert.equal(await sumOf(one, wanted), expected.length, JSON.stringify(wanted))
    const after = expected.filter(({ timestamp = '' }) => timestamp >= hour).length
    assert.equal(await sumOf(one, { ...wanted, since: `${hour}:30:00.000Z` }), after)
    const before = expected.filter(({ timestamp = '' }) => timestamp.slice(0, 13) <= hour).length
    assert.equal(await sumOf(one, { ...wanted, until: `${hour}:30:00.000Z`, step: '4' }), before)
  }
}

async function sumOf(one: Caller, query: Readonly<Record<string, string>>): Promise<number> {
  const { body, text } = await one.call('GET', `/api/audit/counts?${new URLSearchParams(query)}`)
  assert.ok(body.counts, text)
  return body.counts.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
}
