import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  ACCESS_TOKEN,
  assertFails,
  exchangedAt,
  partyOf,
  scripted,
  startedAt,
  TOKENS,
  testFlows,
} from './flows.fixture.ts'
import type { OAuthServer } from './flows.ts'

describe('the account of a login', () => {
  for (const [what, user, account] of [
    ['of OpenID', { sub: 'u-1', email: 'ada@example.com', name: 'Ada' }, { id: 'u-1', label: 'ada@example.com' }],
    ['of GitHub', { id: 42, login: 'ada', name: null }, { id: '42', label: 'ada' }],
    ['without a name', { sub: 'u-1' }, { id: 'u-1', label: 'u-1' }],
    [
      'with a name made to deceive',
      { sub: 'u', name: `\u202eA\u0000da${'a'.repeat(500)}` },
      { id: 'u', label: `A da${'a'.repeat(96)}` },
    ],
  ] as const)
    it(`comes from a userinfo answer ${what}`, async (t) => {
      const server = await scripted(t, ({ path, headers }) => {
        if (path === '/token') return { body: TOKENS }
        return headers.authorization === `Bearer ${ACCESS_TOKEN}` ? { body: user } : undefined
      })
      const userinfo = `${server.origin}/me`
      const { account: found } = await exchangedAt(
        partyOf(server, { userinfo_url: userinfo }, { userinfoUrl: userinfo }),
      )
      assert.deepEqual(found, account)
    })

  for (const [what, answer] of [
    ['fails', { status: 500, body: 'CNRY' }],
    ['answers nonsense', { body: '<html>CNRY' }],
    ['names nobody', { body: {} }],
    ['breaks off', { raw: (response: { destroy(): void }) => response.destroy() }],
  ] as const)
    it(`is left out where the userinfo endpoint ${what}`, async (t) => {
      const server = await scripted(t, ({ path }) => (path === '/token' ? { body: TOKENS } : answer))
      const tokens = await exchangedAt(partyOf(server, {}, { userinfoUrl: `${server.origin}/me` }))
      assert.equal(tokens.account, undefined)
      assert.equal(tokens.accessToken.reveal(), ACCESS_TOKEN)
    })

  it('is not asked for at a private address that a server named', async (t) => {
    const server = await scripted(t, ({ path }) => (path === '/token' ? { body: TOKENS } : { body: { sub: 'u' } }))
    const party = partyOf(server, {}, { userinfoUrl: `${server.origin}/me` })
    assert.equal(party.definition.oauth?.userinfo_url, undefined)
    await exchangedAt(party)
    assert.equal(server.requestsTo('/me').length, 0)
  })
})

describe('an ID token', () => {
  const now = Math.floor(Date.now() / 1000)
  const good = {
    iss: 'https://auth.example',
    sub: 'u-1',
    aud: 'client-1',
    exp: now + 600,
    iat: now,
    email: 'ada@example.com',
  }
  const es256 = { alg: 'ES256' }

  for (const [what, header, claims] of [
    ['signed by nobody', { alg: 'none' }, good],
    ['signed with a shared secret', { alg: 'HS256' }, good],
    ['of another issuer', es256, { ...good, iss: 'https://evil.example' }],
    ['for another client', es256, { ...good, aud: 'other' }],
    ['for others too, and not made for us', es256, { ...good, aud: ['client-1', 'other'], azp: 'other' }],
    ['with another nonce', es256, { ...good, nonce: 'other' }],
    ['without a nonce', es256, { ...good, nonce: undefined }],
    ['that is over', es256, { ...good, exp: now - 120 }],
    ['from the future', es256, { ...good, iat: now + 600 }],
    ['without a subject', es256, { ...good, sub: undefined }],
    ['with a critical extension', { alg: 'ES256', crit: ['x'] }, good],
  ] as const)
    it(`${what} ends the login`, async (t) => {
      await assertFails(loginWithIdToken(t, { header, claims }), 'AuthenticationFailedError', /./)
    })

  it('that is right says whose login it is', async (t) => {
    const tokens = await loginWithIdToken(t, { header: es256, claims: good })
    assert.deepEqual(tokens.account, { id: 'u-1', label: 'ada@example.com' })
  })

  for (const [what, sub, label] of [
    ['the same subject', 'u-1', 'ada'],
    ['another subject', 'u-2', 'u-1'],
  ] as const)
    it(`without a name is completed by the userinfo endpoint, unless that is of another: ${what}`, async (t) => {
      const claims = { ...good, email: undefined }
      const tokens = await loginWithIdToken(t, { header: es256, claims, user: { sub, preferred_username: 'ada' } })
      assert.deepEqual(tokens.account, { id: 'u-1', label })
    })

  it('is not looked at where the server has no name', async (t) => {
    const tokens = await loginWithIdToken(t, { header: { alg: 'none' }, claims: good, server: {} })
    assert.equal(tokens.account, undefined)
  })

  interface SaidOfUser {
    readonly header: object
    readonly claims: object
    readonly server?: Partial<OAuthServer>
    readonly user?: object
  }

  async function loginWithIdToken(
    t: TestContext,
    { header, claims, user, server = { issuer: 'https://auth.example' } }: SaidOfUser,
  ) {
    let nonce: string | undefined
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const provider = await scripted(t, ({ path }) => {
      if (path === '/me') return user && { body: user }
      return { body: { ...TOKENS, id_token: `${encode(header)}.${encode({ nonce, ...claims })}.AAAA` } }
    })
    const url = `${provider.origin}/me`
    const party = partyOf(provider, { userinfo_url: url }, { userinfoUrl: url, ...server })
    const { started, callback } = await startedAt(party, testFlows(), ['openid'])
    nonce = started.nonce
    return testFlows().exchange(started, callback)
  }
})
