import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ScriptedAnswer, startScriptedServer } from '../../../test/scripted-oauth-server.ts'
import {
  flowsFor,
  loggedIn,
  partyOf,
  realProvider,
  refreshRequest,
  scripted,
  TOKENS,
  testFlows,
  tokenServer,
} from './flows.fixture.ts'

describe('a refresh', () => {
  it('spends the refresh token for new tokens, once', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const { party, tokens } = await loggedIn(provider, flows)
    const { refreshToken = assert.fail(), scopes } = tokens

    const first = await flows.refresh({ ...party, refreshToken, scopes })
    const second = await flows.refresh({ ...party, refreshToken, scopes })

    assert.ok(first.kind === 'refreshed')
    assert.notEqual(first.tokens.refreshToken?.reveal(), refreshToken.reveal())
    assert.deepEqual(first.tokens.scopes, ['api:read'])
    assert.deepEqual(second, { kind: 'rejected', reason: 'invalid_grant' })
    assert.equal(await provider.isActive(first.tokens.accessToken.reveal()), false, 'the reuse ended the grant')
    assert.equal(provider.tokenRequests('refresh_token'), 2)
  })

  it('says neither scope nor redirect, but the resource and what the definition adds', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const party = partyOf(server, { token_params: { audience: 'x' } }, { resource: 'https://api.example/' })
    await testFlows().refresh(refreshRequest(party))
    assert.deepEqual(Object.fromEntries(server.requests[0]?.form ?? []), {
      audience: 'x',
      client_id: 'client-1',
      grant_type: 'refresh_token',
      refresh_token: 'rt-CNRY-before-4471',
      resource: 'https://api.example/',
    })
  })

  it('goes to another URL where the provider has one for it', async (t) => {
    const server = await scripted(t, ({ path }) => (path === '/refresh' ? { body: TOKENS } : undefined))
    const refreshUrl = `${server.origin}/refresh`
    const outcome = await testFlows().refresh(
      refreshRequest(partyOf(server, { refresh_url: refreshUrl }, { refreshUrl })),
    )
    assert.equal(outcome.kind, 'refreshed')
  })

  for (const [what, sent, kept] of [
    ['no new one', {}, undefined],
    ['an empty one', { refresh_token: '' }, undefined],
    ['null', { refresh_token: null }, undefined],
    ['the same', { refresh_token: 'rt-CNRY-before-4471' }, 'rt-CNRY-before-4471'],
    ['another', { refresh_token: 'rt-CNRY-after-4472' }, 'rt-CNRY-after-4472'],
  ] as const)
    it(`that brings ${what} says so`, async (t) => {
      const server = await tokenServer(t, { body: { ...TOKENS, refresh_token: undefined, ...sent } })
      const outcome = await testFlows().refresh(refreshRequest(partyOf(server)))
      assert.ok(outcome.kind === 'refreshed')
      assert.equal(outcome.tokens.refreshToken?.reveal(), kept)
    })

  it('leaves an ID token alone', async (t) => {
    const server = await tokenServer(t, { body: { ...TOKENS, id_token: 'nonsense' } })
    const outcome = await testFlows().refresh(
      refreshRequest(partyOf(server, {}, { issuer: server.origin }), ['openid']),
    )
    assert.equal(outcome.kind, 'refreshed')
  })
})

const error = (status: number, code: string): ScriptedAnswer => ({ status, body: { error: code } })

describe('a refresh token that is no good any more', () => {
  for (const [answer, reason] of [
    [error(400, 'invalid_grant'), 'invalid_grant'],
    [error(401, 'invalid_client'), 'invalid_client'],
    [error(400, 'unauthorized_client'), 'unauthorized_client'],
    [error(400, 'unsupported_grant_type'), 'unsupported_grant_type'],
    [error(400, 'invalid_scope'), 'invalid_scope'],
    [error(200, 'bad_refresh_token'), 'bad_refresh_token'],
    [{ body: { ok: false, error: 'token_revoked' } }, 'token_revoked'],
    [{ body: { ok: false, error: 'invalid_refresh_token' } }, 'invalid_refresh_token'],
    [{ status: 400, body: { status: 'BAD_REFRESH_TOKEN', message: 'missing or unknown' } }, 'bad_refresh_token'],
  ] as const)
    it(`is known by ${reason}`, async (t) => {
      const server = await tokenServer(t, answer)
      assert.deepEqual(await testFlows().refresh(refreshRequest(partyOf(server))), { kind: 'rejected', reason })
      assert.equal(server.requests.length, 1)
    })
})

describe('a refresh that fails for now', () => {
  const date = { date: 'Sat, 21 Nov 2026 12:00:00 GMT' }
  for (const [what, answer, outcome] of [
    [
      '429 and seconds',
      { status: 429, headers: { 'retry-after': '17' } },
      { reason: 'answer_429', retryAfter: 17, answered: true },
    ],
    [
      '429 and a date',
      { status: 429, headers: { ...date, 'retry-after': 'Sat, 21 Nov 2026 12:01:00 GMT' } },
      { reason: 'answer_429', retryAfter: 60, answered: true },
    ],
    [
      '429 and a week',
      { status: 429, headers: { 'retry-after': '604800' } },
      { reason: 'answer_429', retryAfter: 86_400, answered: true },
    ],
    ['429 and nonsense', { status: 429, headers: { 'retry-after': 'soon' } }, { reason: 'answer_429', answered: true }],
    ['429 and invalid_grant', error(429, 'invalid_grant'), { reason: 'invalid_grant', answered: true }],
    [
      '503',
      { status: 503, headers: { 'retry-after': '5' }, body: '<html>CNRY' },
      { reason: 'answer_503', retryAfter: 5, answered: true },
    ],
    ['500 of a gateway', { status: 502, body: '<html>CNRY' }, { reason: 'answer_502', answered: false }],
    ['500 and an error', error(500, 'server_error'), { reason: 'server_error', answered: true }],
    [
      'an error that says nothing of the token',
      error(400, 'invalid_request'),
      { reason: 'invalid_request', answered: true, refused: true },
    ],
    [
      'an error in nobody’s words',
      error(400, 'at-CNRY7d1c5e0b94a8'),
      { reason: 'unknown_error', answered: true, refused: true },
    ],
    ['404', { status: 404, body: 'CNRY' }, { reason: 'answer_404', answered: true }],
    ['404 as JSON', { status: 404, body: { message: 'CNRY' } }, { reason: 'answer_404', answered: true }],
    ['a wall of HTML', { status: 403, body: '<html>CNRY' }, { reason: 'answer_403', answered: true }],
    ['403 for a limit', error(403, 'rate_limit_exceeded'), { reason: 'rate_limit_exceeded', answered: true }],
    [
      '400 for the moment',
      error(400, 'temporarily_unavailable'),
      { reason: 'temporarily_unavailable', answered: true },
    ],
    ['502 of a gateway as JSON', { status: 502, body: { message: 'CNRY' } }, { reason: 'answer_502', answered: false }],
    [
      'HTML',
      { headers: { 'content-type': 'text/html' }, body: '<html>CNRY' },
      { reason: 'answer_200', answered: false },
    ],
    [
      'JSON that breaks off',
      { headers: { 'content-type': 'application/json' }, body: '{"access_token":"CNRY' },
      { reason: 'answer_200', answered: false },
    ],
    [
      'a redirect',
      { status: 307, headers: { location: 'https://evil.example/' } },
      { reason: 'answer_307', answered: false },
    ],
    ['too much', { body: 'CNRY'.repeat(100_000) }, { reason: 'too_long', answered: false }],
    ['silence', { raw: () => {} }, { reason: 'time_limit', answered: false }],
  ] as const)
    it(`says so: ${what}`, async (t) => {
      const server = await tokenServer(t, answer as ScriptedAnswer)
      const found = await flowsFor(answer).refresh(refreshRequest(partyOf(server)))
      assert.deepEqual(found, { kind: 'failed', ...outcome })
      assert.equal(server.requests.length, 1)
    })

  for (const [answer, reason] of [
    [{ status: 401, body: { message: 'CNRY Unauthorized' } }, 'answer_401'],
    [{ status: 401, body: '<html>CNRY' }, 'answer_401'],
    [{ status: 401 }, 'answer_401'],
    [{ status: 403, body: { message: 'Forbidden' } }, 'answer_403'],
    [error(403, 'access_denied'), 'access_denied'],
    [{ status: 410, body: { detail: 'gone' } }, 'answer_410'],
    [{ status: 422, body: { errors: [{ code: 7 }] } }, 'answer_422'],
    [error(200, 'no_such_installation'), 'no_such_installation'],
  ] as const)
    it(`says that it was refused, in words that no standard has: ${reason}`, async (t) => {
      const server = await tokenServer(t, answer)
      const found = await testFlows().refresh(refreshRequest(partyOf(server)))
      assert.deepEqual(found, { kind: 'failed', reason, answered: true, refused: true })
    })

  it('says so: nobody listens', async () => {
    const server = await startScriptedServer(() => undefined)
    await server.close()
    const outcome = await testFlows().refresh(refreshRequest(partyOf(server)))
    assert.deepEqual(outcome, { kind: 'failed', reason: 'refused', answered: true })
  })

  it('says so: a public server has moved to a private address', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const party = partyOf(server, { token_url: undefined }, { issuer: 'https://auth.example' })
    const outcome = await testFlows().refresh(refreshRequest(party))
    assert.deepEqual(outcome, { kind: 'failed', reason: 'private_address', answered: true })
    assert.equal(server.requests.length, 0)
  })
})

describe('a connection that ends before an answer begins', () => {
  it('is tried once more', async (t) => {
    const server = await scripted(t, () =>
      server.requests.length === 1 ? { raw: (response) => response.socket?.resetAndDestroy() } : { body: TOKENS },
    )
    const outcome = await testFlows().refresh(refreshRequest(partyOf(server)))
    assert.equal(outcome.kind, 'refreshed')
    assert.equal(server.requests.length, 2)
  })

  it('is not tried a third time', async (t) => {
    const server = await scripted(t, () => ({ raw: (response) => response.socket?.resetAndDestroy() }))
    const outcome = await testFlows().refresh(refreshRequest(partyOf(server)))
    assert.deepEqual(outcome, { kind: 'failed', reason: 'reset', answered: false })
    assert.equal(server.requests.length, 2)
  })

  it('may have carried the token, whatever is said to the second try', async (t) => {
    const server = await scripted(t, () =>
      server.requests.length === 1
        ? { raw: (response) => response.socket?.resetAndDestroy() }
        : { status: 503, body: { error: 'temporarily_unavailable' } },
    )
    const outcome = await testFlows().refresh(refreshRequest(partyOf(server)))
    assert.deepEqual(outcome, { kind: 'failed', reason: 'temporarily_unavailable', answered: false })
  })

  it('is not tried again once a byte has come', async (t) => {
    const server = await scripted(t, () => ({
      raw: (response) => response.socket?.write('HTTP/1.1 200 O', () => response.socket?.resetAndDestroy()),
    }))
    const outcome = await testFlows().refresh(refreshRequest(partyOf(server)))
    assert.deepEqual(outcome, { kind: 'failed', reason: 'cut_off', answered: false })
    assert.equal(server.requests.length, 1)
  })
})
