import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertFails, partyOf, REDIRECT_URI, scripted, startedAt, testFlows } from './flows.fixture.ts'

describe('an authorization URL', () => {
  it('asks by PKCE with S256, and with a state and a nonce of 256 bits', async (t) => {
    const server = await scripted(t, () => undefined)
    const party = partyOf(server, {}, { issuer: server.origin })
    const [one, other] = await Promise.all([startedAt(party, testFlows(), ['openid']), startedAt(party, testFlows())])

    const { searchParams } = new URL(one.started.url)
    const verifier = one.started.verifier.reveal()
    assert.match(verifier, /^[A-Za-z0-9_-]{43}$/)
    assert.equal(searchParams.get('code_challenge_method'), 'S256')
    assert.equal(searchParams.get('code_challenge'), createHash('sha256').update(verifier).digest('base64url'))
    assert.match(searchParams.get('state') ?? '', /^[A-Za-z0-9_-]{43}$/)
    assert.match(searchParams.get('nonce') ?? '', /^[A-Za-z0-9_-]{43}$/)
    assert.equal(searchParams.get('redirect_uri'), REDIRECT_URI)
    assert.equal(searchParams.get('response_type'), 'code')
    assert.equal(other.started.nonce, undefined)
    assert.notEqual(other.started.verifier.reveal(), verifier)
    assert.notEqual(other.started.state, one.started.state)
  })

  it('keeps the query that the endpoint has, and adds what the definition adds', async () => {
    const oauth = { authorize_params: { access_type: 'offline', state: 'stolen' }, scope_separator: ',' }
    const party = partyOf({ origin: 'https://auth.example' }, oauth, {
      authorizationUrl: 'https://auth.example/go?auth_level=auto&client_id=theirs#/oauth',
      resource: 'https://api.example/mcp',
    })
    const { started } = await startedAt(party, testFlows(), ['a b', 'c'])
    const url = new URL(started.url)
    assert.equal(url.searchParams.get('auth_level'), 'auto')
    assert.equal(url.searchParams.get('access_type'), 'offline')
    assert.deepEqual(url.searchParams.getAll('client_id'), ['client-1'])
    assert.deepEqual(url.searchParams.getAll('state'), [started.state])
    assert.equal(url.searchParams.get('scope'), 'a b,c')
    assert.equal(url.searchParams.get('resource'), 'https://api.example/mcp')
    assert.equal(url.hash, '#/oauth')
    assert.match(url.search, /scope=a%20b%2Cc/)
  })

  it('has no scope where none is asked for', async () => {
    const { started } = await startedAt(partyOf({ origin: 'https://auth.example' }), testFlows(), [])
    assert.equal(new URL(started.url).searchParams.has('scope'), false)
  })

  for (const [what, challengeMethods] of [
    ['lists other PKCE methods', ['plain']],
    ['lists no PKCE method', []],
  ] as const)
    it(`is not made for a server that ${what}`, async () => {
      const party = partyOf({ origin: 'https://auth.example' }, {}, { challengeMethods })
      await assertFails(startedAt(party, testFlows()), 'AuthenticationFailedError', /PKCE/)
    })
})
