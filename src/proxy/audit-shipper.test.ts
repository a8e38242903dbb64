import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerError } from '../protocol/index.ts'
import type { ShippedEvent } from '../schemas/index.ts'
import { AuditShipper } from './audit-shipper.ts'
import type { AuditEntry } from './exchange/index.ts'

const ENTRY: AuditEntry = { event: 'proxy.request', status: 'success' }
const AWAY = new BrokerError('DaemonUnavailableError', 'away')

function shipper(ship: (events: readonly ShippedEvent[]) => Promise<void>) {
  const logs: object[] = []
  return {
    logs,
    shipper: new AuditShipper({ ship: ({ events }) => ship(events), runId: 'run-1', log: (event) => logs.push(event) }),
  }
}

test('events go in batches of at most 1,000, each with its own id, the time and the run', async () => {
  const batches: (readonly ShippedEvent[])[] = []
  const { shipper: audit } = shipper(async (events) => void batches.push(events))
  for (let count = 0; count < 2_500; count += 1) audit.record(ENTRY)
  await audit.flush()
  assert.deepEqual(
    batches.map(({ length }) => length),
    [1_000, 1_000, 500],
  )
  const events = batches.flat()
  assert.equal(new Set(events.map(({ id }) => id)).size, 2_500)
  const malformed = events.filter(
    ({ id, run_id, timestamp }) =>
      !/^[A-Za-z0-9_-]{8,64}$/.test(id ?? '') || run_id !== 'run-1' || !/^\d{4}-.*\.\d{3}Z$/.test(timestamp ?? ''),
  )
  assert.deepEqual(malformed, [])
})

test('what is no hurry is sent once a second, and at once with what was refused', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: (readonly string[])[] = []
  const { shipper: audit } = shipper((events) => {
    sent.push(events.map(({ event }) => event))
    return new Promise(() => {})
  })
  audit.record(ENTRY)
  t.mock.timers.tick(999)
  assert.equal(sent.length, 0)
  t.mock.timers.tick(1)
  assert.deepEqual(sent, [['proxy.request']])

  const other = shipper((events) => {
    sent.push(events.map(({ event }) => event))
    return new Promise(() => {})
  })
  other.shipper.record(ENTRY)
  other.shipper.record({ event: 'proxy.denied', status: 'denied' })
  t.mock.timers.tick(200)
  assert.deepEqual(sent.at(-1), ['proxy.request', 'proxy.denied'])
})

test('after an outage the same events are sent again with the same ids, in order, by themselves', async () => {
  const attempts: string[][] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const { shipper: audit } = shipper(async (events) => {
    attempts.push(events.map(({ id }) => id ?? ''))
    if (attempts.length === 1) throw AWAY
    resolve()
  })
  const hold = setTimeout(() => {}, 5_000)
  audit.record(ENTRY)
  audit.record(ENTRY)
  await promise
  clearTimeout(hold)
  assert.equal(attempts.length, 2)
  assert.deepEqual(attempts[0], attempts[1])
})

test('a long outage keeps the newest 10,000 and says how many it dropped', async () => {
  let away = true
  const stored: ShippedEvent[] = []
  const { shipper: audit, logs } = shipper(async (events) => {
    if (away) throw AWAY
    stored.push(...events)
  })
  for (let count = 0; count < 12_000; count += 1) audit.record({ ...ENTRY, reason: String(count) })
  away = false
  await audit.flush()
  assert.equal(stored.at(-1)?.reason, '11999')
  assert.ok(stored.length >= 10_000 && stored.length <= 11_000)
  assert.equal(Number(stored[0]?.reason) + stored.length, 12_000)
  assert.ok(logs.some((event) => 'event' in event && event.event === 'audit_dropped'))
})

test('a flush outlasts a short outage', async () => {
  let attempts = 0
  const { shipper: audit } = shipper(async () => {
    attempts += 1
    if (attempts < 3) throw AWAY
  })
  audit.record(ENTRY)
  await audit.flush()
  assert.equal(attempts, 3)
})

test('a flush gives up on a daemon that does not answer', async () => {
  const { shipper: audit, logs } = shipper(() => new Promise(() => {}))
  audit.record(ENTRY)
  const before = performance.now()
  await audit.flush()
  assert.ok(performance.now() - before < 4_000)
  assert.deepEqual(logs, [{ event: 'audit_not_flushed', left: 1 }])
})
