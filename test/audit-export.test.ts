import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { onboarded } from './broker-command.ts'
import { connect, owner, send, startDaemon } from './daemon-under-test.ts'
import { signedIn } from './signed-in-browser.ts'

const ADA = { email: 'ada@example.com', password: 'CNRY correct horse battery' }

describe('the audit log as a file', () => {
  it('has every event, in pages that nobody sees, as JSON Lines and for a spreadsheet', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    const path = '/v1/"quoted",=1'
    const request = { method: 'GET', host: 'api.openai.com', port: 443, path, status: 200, bytes_in: 0 }
    const events = Array.from({ length: 1000 }, (_, index) => ({
      id: `event-${1000 + index}`,
      event: 'proxy.request',
      provider: 'openai',
      status: 'success',
      reason: '=HYPERLINK("http://evil.test")',
      request,
    }))
    assert.equal((await ada.call('POST', '/audit/events', { events })).status, 202)
    const lines = (await ada.call('GET', '/api/audit/export?format=jsonl&event=proxy.request')).text.trim().split('\n')
    assert.equal(lines.length, 1000)
    assert.deepEqual(JSON.parse(lines[0] ?? '').request, request)

    const answer = await ada.call('GET', '/api/audit/export?format=csv&event=proxy.request')
    assert.match(String(answer.headers['content-disposition']), /filename="broker-audit\.csv"/)
    const [head = '', first = '', ...rest] = answer.text.trimEnd().split('\r\n')
    assert.equal(rest.length, 999)
    assert.match(head, /^timestamp,event,status,provider/)
    assert.ok(first.includes(`"'=HYPERLINK(""http://evil.test"")"`), first)
    assert.ok(first.includes(`"/v1/""quoted"",=1"`), first)
    assert.ok(first.endsWith(',200,,0,'), first)
    assert.match(
      (await ada.call('GET', '/api/audit/export?format=csv&event=identity.claimed')).text,
      /,success(?:,[^,]*){5},{9}\r\n$/,
    )
  })

  it('spells out in a spreadsheet what reorders or hides text, and keeps it exact in JSON', async (t) => {
    const ada = await owner(await startDaemon(t))
    const reason = 'a\u202egnp.exe\u200b\u001b[2J'
    const event = { event: 'proxy.denied', status: 'denied', reason }
    assert.equal((await ada.call('POST', '/audit/events', { events: [event] })).status, 202)
    const file = async (format: string) =>
      (await ada.call('GET', `/api/audit/export?format=${format}&event=proxy.denied`)).text
    assert.equal(JSON.parse(await file('jsonl')).reason, reason)
    const csv = await file('csv')
    assert.ok(csv.includes(String.raw`,a\u202egnp.exe\u200b\u001b[2J,`), csv)
    assert.doesNotMatch(csv, /[\u202e\u200b\u001b]/)
  })

  it('is each user’s own', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await signedIn(daemon, 'register', ADA)
    const eve = await signedIn(daemon, 'register', { ...ADA, email: 'eve@example.com' })
    const ids = async (one: typeof ada) =>
      (await one.call('GET', '/api/audit/export?format=jsonl')).text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).principal_id)
    assert.deepEqual(new Set(await ids(eve)), new Set([eve.principalId]))
    assert.deepEqual(new Set(await ids(ada)), new Set([ada.principalId, eve.principalId]))
    assert.equal((await send(daemon, 'GET', '/api/audit/export?format=csv')).status, 401)
    assert.equal((await ada.call('GET', '/api/audit/export?format=pdf')).status, 422)
  })
})

describe('the audit log on the command line', () => {
  it('is written for other programs, oldest first, and followed', async (t) => {
    const world = await onboarded(t)
    const { stdout } = await world.broker(['log', 'export'])
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, at) => at + 1),
    )
    for (const [format, pattern] of [
      ['csv', /^timestamp,event.*\r\n.*identity\.registered/],
      ['cef', /^CEF:0\|Broker\|/],
      ['ocsf', /"class_uid":3001/],
      ['otlp', /^\{"resourceLogs":/],
    ] as const)
      assert.match((await world.broker(['log', 'export', '--format', format])).stdout, pattern)
    assert.equal((await world.broker(['log', 'export', '--format', 'pdf'])).code, 2)

    const following = world.start(['log', 'export', '--follow', '--after', String(events.at(-1)?.seq)])
    const lines = createInterface({ input: following.process.stdout ?? Readable.from([]) })[Symbol.asyncIterator]()
    const next = lines.next()
    assert.equal((await world.broker(['run', '--', 'true'])).code, 0)
    assert.equal(JSON.parse((await next).value ?? '{}').event, 'run.started')
    assert.equal(JSON.parse((await lines.next()).value ?? '{}').event, 'run.ended')
    following.process.kill('SIGINT')
    assert.equal((await following.ended).code, 0)
  })

  it('is looked through for what was changed outside of Broker, by its admins', async (t) => {
    const world = await onboarded(t)
    const whole = await world.broker(['log', 'verify', '--json'])
    assert.equal(whole.code, 0, whole.stdout)
    const { status, events, first, last, findings } = JSON.parse(whole.stdout)
    assert.deepEqual([status, first, last, findings], ['ok', 1, events, []])

    const database = new DatabaseSync(join(world.home, 'server/broker.db'))
    t.after(() => database.close())
    database.exec('drop trigger audit_events_no_update')
    database.exec(`update audit_events set identity = 'eve' where seq = 1`)
    const changed = await world.broker(['log', 'verify', '--json'])
    assert.equal(changed.code, 1)
    assert.deepEqual(JSON.parse(changed.stdout).findings, [{ kind: 'edited', seq: 1 }])
    const shown = await world.broker(['log', 'verify'])
    assert.match(shown.stdout, /1 +is not as it was written/)
    assert.equal((await world.broker(['log', 'verify', '--since', '1h'])).code, 1)
  })
})

describe('an agent’s label', () => {
  it('is what its owner calls it, and changes nothing else', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    await connect(ada, 'openai', 'sk-CNRYlabellabellabellabel')
    assert.equal((await ada.call('POST', '/api/identities/ada/label', { label: 'Laptop' })).status, 200)
    assert.equal((await ada.call('GET', '/api/identities/ada')).body.label, 'Laptop')
    await ada.call('POST', '/api/identities/ada/label', { label: '' })
    assert.equal((await ada.call('GET', '/api/identities/ada')).body.label, undefined)
    assert.equal((await ada.call('POST', '/api/identities/bob/label', { label: 'x' })).status, 404)
    assert.equal((await ada.call('POST', '/api/identities/ada/label', { label: 'a\u202eb' })).status, 422)
  })
})
