import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AuditEvent } from '../schemas/index.ts'
import { exporterFor } from './exporter.ts'

const EVENT: AuditEvent = {
  id: 'e-1',
  seq: 7,
  timestamp: '2026-11-23T09:00:00.123Z',
  event: 'proxy.request',
  source: 'external',
  provider: 'acme',
  connection: 'default',
  identity: 'ci',
  principal_id: 'p-1',
  status: 'failure',
  reason: 'a | b = c\\d \u202e, "quoted"\nnext',
  run_id: 'r-1',
  request: { method: 'POST', host: 'api.acme.test', port: 443, path: '/a|b=c', status: 502, bytes_in: 5, bytes_out: 9 },
  release: 3,
}
const LOGIN: AuditEvent = {
  id: 'e-2',
  seq: 8,
  timestamp: '2026-11-23T09:00:01.000Z',
  event: 'account.login',
  source: 'internal',
  identity: '(browser)',
  principal_id: 'p-1',
  status: 'success',
}

const lines = (format: Parameters<typeof exporterFor>[0], ...events: AuditEvent[]) =>
  exporterFor(format, '1.2.3').text(events).trimEnd().split('\n')

suite('the log for other programs', () => {
  test('is the events themselves in lines of JSON, without what reorders text on a terminal', () => {
    const [line = '', second = '', ...more] = lines('jsonl', EVENT, LOGIN)
    assert.deepEqual([JSON.parse(line), JSON.parse(second), more], [EVENT, LOGIN, []])
    assert.doesNotMatch(line, /\u202e/)
  })

  test('has one head and a row for each in a spreadsheet', () => {
    const { head, text } = exporterFor('csv', '1.2.3')
    assert.match(head, /^timestamp,event,status,provider,/)
    assert.equal(text([LOGIN]).split(',').length, head.split(',').length)
  })

  test('is one line for each in CEF, with what divides it escaped', () => {
    const [line = '', second = '', ...more] = lines('cef', EVENT, LOGIN)
    assert.deepEqual(more, [])
    assert.ok(
      line.startsWith('CEF:0|Broker|broker|1.2.3|proxy.request|proxy request: POST api.acme.test|7|rt=1795424400123 '),
      line,
    )
    for (const part of [
      String.raw` request=/a|b\=c `,
      String.raw` reason=a | b \= c\\d \\u202e, "quoted"\nnext `,
      ' requestMethod=POST ',
      ' cn1=7 cn1Label=seq ',
      ' cn2=502 cn2Label=status ',
      ' cs1=acme cs1Label=provider ',
    ])
      assert.ok(line.includes(part), `${part} in ${line}`)
    assert.match(second, /\|account login\|3\|/)
  })

  test('is an event of OCSF for each: activity of an API, or a sign-in', () => {
    const [request, login] = lines('ocsf', EVENT, LOGIN).map((line) => JSON.parse(line))
    assert.deepEqual(
      [request.class_uid, request.category_uid, request.activity_id, request.type_uid, request.time, request.status_id],
      [6003, 6, 1, 600_301, Date.parse(EVENT.timestamp), 2],
    )
    assert.deepEqual(request.dst_endpoint, { hostname: 'api.acme.test', port: 443 })
    assert.deepEqual(request.http_response, { code: 502, length: 5 })
    assert.deepEqual(request.metadata.product, { name: 'Broker', vendor_name: 'Broker', version: '1.2.3' })
    assert.equal(request.unmapped.release, 3)
    assert.deepEqual([login.type_uid, login.user, login.severity_id], [300_201, { name: '(browser)', uid: 'p-1' }, 1])
  })

  test('is one request of OpenTelemetry’s log service for each part, and none for nothing', () => {
    const [line = '', ...more] = lines('otlp', EVENT, LOGIN)
    assert.deepEqual(more, [])
    const [{ resource, scopeLogs }] = JSON.parse(line).resourceLogs
    assert.deepEqual(resource.attributes[0], { key: 'service.name', value: { stringValue: 'broker' } })
    const [request, login] = scopeLogs[0].logRecords
    assert.equal(request.timeUnixNano, '1795424400123000000')
    assert.deepEqual([request.severityText, login.severityText], ['ERROR', 'INFO'])
    assert.equal(request.eventName, 'broker.proxy.request')
    const attributes = Object.fromEntries(request.attributes.map(({ key, value }: never) => [key, value]))
    assert.deepEqual(attributes['http.response.status_code'], { intValue: '502' })
    assert.deepEqual(attributes['broker.seq'], { intValue: '7' })
    assert.equal(exporterFor('otlp', '1').text([]), '')
  })
})
