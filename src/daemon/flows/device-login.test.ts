import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { ScriptedAnswer } from '../../../test/scripted-oauth-server.ts'
import { assertFails, flowsFor, partyAt, partyOf, realProvider, scripted, TOKENS, testFlows } from './flows.fixture.ts'
import type { DeviceRequest } from './index.ts'

const CODES = {
  device_code: 'dc-CNRY61f0a7',
  user_code: 'WDJB-MJHT',
  verification_uri: 'https://auth.example/device',
  expires_in: 600,
}

/** A server that hands out these codes, and answers each poll with the next of these, or the last. */
async function deviceServer(t: TestContext, codes: object, polls: readonly ScriptedAnswer[] = [{ body: TOKENS }]) {
  const left = [...polls]
  const server = await scripted(t, ({ path }) => {
    if (path === '/device') return { body: codes }
    return left.length > 1 ? left.shift() : left[0]
  })
  const url = `${server.origin}/device`
  const party = partyOf(server, { device_authorization_url: url }, { deviceAuthorizationUrl: url })
  return { server, request: { ...party, scopes: ['a'] } satisfies DeviceRequest }
}

const error = (code: string, status = 400): ScriptedAnswer => ({ status, body: { error: code } })

describe('a login by device code', () => {
  it('waits for the user, then brings tokens home', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const started = await flows.startDevice({ ...(await partyAt(provider, flows)), scopes: ['openid', 'email'] })

    const before = await flows.pollDevice(started, started.interval)
    await provider.approveDevice(started.userCode)
    const after = await flows.pollDevice(started, started.interval)

    assert.deepEqual(before, { kind: 'pending', interval: 5 })
    assert.ok(after.kind === 'granted')
    assert.equal(await provider.isActive(after.tokens.accessToken.reveal()), true)
    assert.deepEqual(after.tokens.account, { id: 'user-1', label: 'ada@example.com' })
    assert.equal(started.verificationUri, `${provider.issuer}/device`)
    assert.equal(started.verificationUriComplete, `${provider.issuer}/device?user_code=${started.userCode}`)
  })

  it('ends where the user says no', async (t) => {
    const provider = await realProvider(t, { settings: { consent: 'declined' } })
    const flows = testFlows()
    const started = await flows.startDevice({ ...(await partyAt(provider, flows)), scopes: ['openid'] })
    await provider.approveDevice(started.userCode)
    await assertFails(flows.pollDevice(started, 5), 'AuthenticationFailedError', /the login was declined there/)
  })

  it('asks with its code and nothing else that is secret', async (t) => {
    const { server, request } = await deviceServer(t, CODES)
    await testFlows().pollDevice(await testFlows().startDevice(request), 5)
    assert.deepEqual(
      server.requests.map(({ form }) => Object.fromEntries(form)),
      [
        { client_id: 'client-1', scope: 'a' },
        {
          client_id: 'client-1',
          device_code: 'dc-CNRY61f0a7',
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        },
      ],
    )
  })

  for (const [sent, interval] of [
    [undefined, 5],
    [null, 5],
    ['x', 5],
    ['7', 7],
    [2, 2],
    [1.2, 2],
    [0, 1],
    [-3, 1],
    [1e9, 60],
  ] as const)
    it(`polls every ${interval} s where the server says ${sent}`, async (t) => {
      const { request } = await deviceServer(t, { ...CODES, interval: sent })
      assert.equal((await testFlows().startDevice(request)).interval, interval)
    })

  for (const [sent, seconds] of [
    [60, 60],
    ['60', 60],
    [1e9, 1800],
    [undefined, 600],
    [-5, 1],
  ] as const)
    it(`is over after ${seconds} s where the server says ${sent}, and then asks no more`, async (t) => {
      let now = 1_000_000
      const flows = testFlows({ now: () => now })
      const { server, request } = await deviceServer(t, { ...CODES, expires_in: sent })
      const started = await flows.startDevice(request)
      assert.equal(started.expiresAt, now + seconds * 1000)
      now += seconds * 1000
      await assertFails(flows.pollDevice(started, 5), 'AuthenticationFailedError', /not finished there in time/)
      assert.equal(server.requestsTo('/token').length, 0)
    })

  it('keeps the timeline that the server asks for', async (t) => {
    const polls = [
      error('authorization_pending'),
      error('slow_down'),
      error('slow_down'),
      error('authorization_pending', 200),
      { raw: () => {} },
      error('temporarily_unavailable', 503),
      { status: 429, headers: { 'retry-after': '59' } },
      { raw: (response) => response.socket?.resetAndDestroy() },
      { body: TOKENS },
    ] satisfies ScriptedAnswer[]
    const { request } = await deviceServer(t, CODES, polls)
    const started = await testFlows().startDevice(request)
    const intervals: number[] = []
    for (const answer of polls.slice(0, -1)) {
      const poll = await flowsFor(answer).pollDevice(started, intervals.at(-1) ?? started.interval)
      intervals.push(poll.kind === 'pending' ? poll.interval : 0)
    }
    assert.deepEqual(intervals, [5, 10, 15, 15, 30, 60, 60, 60])
    assert.equal((await testFlows().pollDevice(started, 60)).kind, 'granted')
  })

  for (const [code, message] of [
    ['access_denied', /the login was declined there \(access_denied\)$/],
    ['expired_token', /the login was not finished there in time \(expired_token\)$/],
    ['invalid_grant', /it refused \(invalid_grant\)$/],
  ] as const)
    it(`ends with ${code}`, async (t) => {
      const { request } = await deviceServer(t, CODES, [error(code)])
      const started = await testFlows().startDevice(request)
      await assertFails(testFlows().pollDevice(started, 5), 'AuthenticationFailedError', message)
    })

  for (const [what, codes, message] of [
    ['a page with a script for a URL', { verification_uri: 'javascript:alert(1)' }, /no page that may be opened/],
    ['a page without TLS', { verification_uri: 'http://auth.example/device' }, /no page that may be opened/],
    ['no page', { verification_uri: undefined }, /no page that may be opened/],
    ['a device code with a line end', { device_code: 'CNRY\r\n' }, /no device code/],
    ['no device code', { device_code: undefined }, /no device code/],
    ['a user code with a line end', { user_code: 'A\nB' }, /no device code/],
    ['a user code of a page', { user_code: 'x'.repeat(5000) }, /no device code/],
  ] as const)
    it(`does not begin with ${what}`, async (t) => {
      const { request } = await deviceServer(t, { ...CODES, ...codes })
      await assertFails(testFlows().startDevice(request), 'AuthenticationFailedError', message)
    })

  for (const complete of [
    'javascript:alert(1)',
    'data:text/html,x',
    'http://auth.example/',
    'https://u:p@auth.example/',
  ])
    it(`leaves out the complete page ${complete}`, async (t) => {
      const { request } = await deviceServer(t, { ...CODES, verification_uri_complete: complete })
      assert.equal((await testFlows().startDevice(request)).verificationUriComplete, undefined)
    })

  it('takes the older name of the page', async (t) => {
    const { request } = await deviceServer(t, {
      ...CODES,
      verification_uri: undefined,
      verification_url: 'https://a.example/go',
    })
    assert.equal((await testFlows().startDevice(request)).verificationUri, 'https://a.example/go')
  })
})
