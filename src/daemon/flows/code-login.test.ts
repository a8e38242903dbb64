import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import {
  ACCESS_TOKEN,
  assertFails,
  callbackOf,
  exchangedAt,
  loggedIn,
  partyAt,
  partyOf,
  REDIRECT_URI,
  realProvider,
  scripted,
  startedAt,
  TOKENS,
  testFlows,
  tokenServer,
} from './flows.fixture.ts'
import type { OAuthServer } from './flows.ts'

describe('a login by authorization code', () => {
  it('brings tokens and the account home', async (t) => {
    const provider = await realProvider(t)
    const { tokens } = await loggedIn(provider, testFlows(), ['openid', 'email', 'api:read'])

    assert.equal(await provider.isActive(tokens.accessToken.reveal()), true)
    assert.match(tokens.refreshToken?.reveal() ?? '', /^rt-CNRY/)
    assert.deepEqual(tokens.scopes, ['openid', 'email', 'api:read'])
    assert.deepEqual(tokens.account, { id: 'user-1', label: 'ada@example.com' })
    assert.ok(Math.abs((tokens.expiresAt ?? 0) - Date.now() - 3_600_000) < 60_000)
  })

  it('works as a confidential client, by Basic and by form', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const { id, secret } = provider.clients.confidential
    const party = await partyAt(provider, flows)

    const client = { id, secret: new Secret(secret), auth: 'client_secret_basic' } as const
    const { started } = await startedAt({ ...party, client }, flows, ['api:read'])
    const tokens = await flows.exchange(started, new URL(await provider.approve(started.url)).searchParams)

    assert.equal(await provider.isActive(tokens.accessToken.reveal()), true)
  })

  it('tells a user who said no', async (t) => {
    const provider = await realProvider(t, { settings: { consent: 'declined' } })
    const flows = testFlows()
    const { started } = await startedAt(await partyAt(provider, flows), flows, ['api:read'])
    const callback = new URL(await provider.approve(started.url)).searchParams
    await assertFails(
      flows.exchange(started, callback),
      'AuthenticationFailedError',
      /^Cannot log in to Acme: the login was declined there \(access_denied: The user said no\)$/,
    )
  })

  it('cannot spend a code twice', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const { started, callback } = await loggedIn(provider, flows)
    await assertFails(flows.exchange(started, callback), 'AuthenticationFailedError', /invalid_grant/)
  })

  it('exchanges each of 50 codes with its own verifier', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const party = await partyAt(provider, flows)
    const starts = await Promise.all(Array.from({ length: 50 }, () => startedAt(party, flows, ['api:read'])))
    const tokens = await Promise.all(
      starts.map(async ({ started }) =>
        flows.exchange(started, new URL(await provider.approve(started.url)).searchParams),
      ),
    )
    assert.equal(new Set(tokens.map(({ accessToken }) => accessToken.reveal())).size, 50)
  })
})

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

const ISSUER = 'https://auth.example/Tenant'

/** RFC 9207: whose answer is it? Nothing is sent where it is another's. */
const ISSUERS: readonly (readonly [string, Partial<OAuthServer>, string | undefined, 'taken' | 'refused'])[] = [
  ['sends it and it is right', { issuer: ISSUER, sendsIssuer: true }, ISSUER, 'taken'],
  ['sends it and it is absent', { issuer: ISSUER, sendsIssuer: true }, undefined, 'refused'],
  ['does not say that it sends it, and it is right', { issuer: ISSUER }, ISSUER, 'taken'],
  ['does not say that it sends it, and it is absent', { issuer: ISSUER }, undefined, 'taken'],
  ['is another', { issuer: ISSUER }, 'https://evil.example/Tenant', 'refused'],
  ['differs by case', { issuer: ISSUER, sendsIssuer: true }, 'https://auth.example/tenant', 'refused'],
  ['differs by a slash', { issuer: ISSUER, sendsIssuer: true }, `${ISSUER}/`, 'refused'],
  ['differs by its port', { issuer: ISSUER, sendsIssuer: true }, 'https://auth.example:443/Tenant', 'refused'],
  ['differs by percent-encoding', { issuer: ISSUER }, 'https://auth.example/%54enant', 'refused'],
  ['is not known, and its origin is ours', {}, 'ORIGIN/tenant', 'taken'],
  ['is not known, and none is sent', {}, undefined, 'taken'],
  ['is not known, and its origin is another', {}, 'https://evil.example', 'refused'],
  ['is not known, and it is no URL', {}, 'nonsense', 'refused'],
]

describe('the issuer in a callback', () => {
  for (const [what, server, iss, outcome] of ISSUERS)
    it(`${outcome === 'taken' ? 'lets the login go on' : 'ends the login'} where the server ${what}`, async (t) => {
      const scriptedServer = await tokenServer(t, { body: TOKENS })
      const flows = testFlows()
      const { started } = await startedAt(partyOf(scriptedServer, {}, server), flows)
      const sent = iss?.replace('ORIGIN', scriptedServer.origin)
      const answer: Record<string, string> = sent === undefined ? {} : { iss: sent }
      const error = { error: 'access_denied', error_description: 'words of the attacker' }

      const { message } = await assertFails(
        flows.exchange(started, callbackOf(started, { ...answer, ...error })),
        'AuthenticationFailedError',
        outcome === 'taken' ? /words of the attacker/ : /another server|"iss" \(issuer\)/,
      )
      const login = await flows.exchange(started, callbackOf(started, answer)).catch((reason: Error) => reason.message)

      assert.equal(scriptedServer.requests.length, outcome === 'taken' ? 1 : 0)
      assert.equal(login === message, outcome === 'refused')
    })
})

describe('a callback', () => {
  for (const [what, more] of [
    ['another state', { state: 'x'.repeat(43) }],
    ['tokens in place of a code', { id_token: 'a.b.c' }],
    ['a response of another mode', { response: 'a.b.c' }],
  ] as const)
    it(`with ${what} is refused before anything is sent`, async (t) => {
      const server = await tokenServer(t, { body: TOKENS })
      const { started } = await startedAt(partyOf(server), testFlows())
      await assertFails(
        testFlows().exchange(started, callbackOf(started, more)),
        'AuthenticationFailedError',
        /broke the protocol/,
      )
      assert.equal(server.requests.length, 0)
    })

  it('with two codes is refused', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const { started, callback } = await startedAt(partyOf(server), testFlows())
    callback.append('code', 'another')
    await assertFails(testFlows().exchange(started, callback), 'AuthenticationFailedError', /broke the protocol/)
    assert.equal(server.requests.length, 0)
  })

  it('with an error shows its code and its description, plain and short', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const { started } = await startedAt(partyOf(server), testFlows())
    const error = {
      error: '<script>alert(1)</script>',
      error_description: `\u001b[31m<b>no</b>\r\nat-CNRY7d1c5e0b94a8 ${'far too long '.repeat(100_000)}`,
      error_uri: 'javascript:alert(1)',
    }
    const { message } = await assertFails(
      testFlows().exchange(started, callbackOf(started, error)),
      'AuthenticationFailedError',
      /\(_script_alert_1_script_: \[31m<b>no<\/b> \.\.\. far too long/,
    )
    assert.doesNotMatch(message, /javascript|[^ -~]/)
    assert.ok(message.length < 350)
  })
})

describe('a code', () => {
  it('is sent with its verifier, the resource and what the definition adds, and to nobody else', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const party = partyOf(server, { token_params: { audience: 'x' } }, { resource: 'https://api.example/' })
    const { started, callback } = await startedAt(party, testFlows())
    await testFlows().exchange(started, callback)
    assert.deepEqual(Object.fromEntries(server.requests[0]?.form ?? []), {
      audience: 'x',
      client_id: 'client-1',
      code: 'code-CNRY5e77',
      code_verifier: started.verifier.reveal(),
      grant_type: 'authorization_code',
      redirect_uri: REDIRECT_URI,
      resource: 'https://api.example/',
    })
  })

  for (const status of [302, 307, 308])
    it(`is not sent on by a token endpoint that answers ${status}`, async (t) => {
      const evil = await tokenServer(t, { body: TOKENS })
      const server = await tokenServer(t, { status, headers: { location: `${evil.origin}/token` } })
      await assertFails(exchangedAt(partyOf(server)), 'AuthenticationFailedError', /redirect, which is not followed/)
      assert.equal(evil.requests.length, 0)
    })

  it('of an honest server is not given to the attacker whose login it was (mix-up)', async (t) => {
    const honest = await realProvider(t)
    const attacker = await tokenServer(t, { body: TOKENS })
    const flows = testFlows()
    const party = partyOf(attacker, {}, { issuer: attacker.origin })
    const { started } = await startedAt(party, flows, ['api:read'])
    // The attacker's authorization endpoint sends the browser on to the honest one, under its own client id there.
    const sentOn = new URL(started.url)
    sentOn.host = new URL(honest.issuer).host
    sentOn.pathname = '/auth'
    sentOn.searchParams.set('client_id', honest.clients.public.id)
    sentOn.searchParams.set('scope', 'api:read')
    const callback = new URL(await honest.approve(sentOn.href)).searchParams
    assert.ok(callback.has('code'))

    await assertFails(flows.exchange(started, callback), 'AuthenticationFailedError', /"iss" \(issuer\)/)

    assert.equal(attacker.requests.length, 0)
  })

  it('goes by Basic with id and secret in form encoding, where only what must be is encoded', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const client = { id: 'my-app_1.x', secret: new Secret('s:CNRY~ 7'), auth: 'client_secret_basic' } as const
    await exchangedAt({ ...partyOf(server), client })
    const [request] = server.requests
    const credentials = Buffer.from(request?.headers.authorization?.slice(6) ?? '', 'base64').toString()
    assert.equal(credentials, 'my-app_1.x:s%3ACNRY%7E+7')
    assert.equal(request?.form.has('client_secret'), false)
  })

  it('goes with the secret in the form where the client authenticates by post', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const client = { id: 'app', secret: new Secret('cs-CNRY7'), auth: 'client_secret_post' } as const
    await exchangedAt({ ...partyOf(server), client })
    assert.equal(server.requests[0]?.form.get('client_secret'), 'cs-CNRY7')
    assert.equal(server.requests[0]?.headers.authorization, undefined)
  })
})

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

  it('is not looked at where the server has no name', async (t) => {
    const tokens = await loginWithIdToken(t, { header: { alg: 'none' }, claims: good, server: {} })
    assert.equal(tokens.account, undefined)
  })

  async function loginWithIdToken(
    t: Parameters<typeof scripted>[0],
    {
      header,
      claims,
      server = { issuer: 'https://auth.example' },
    }: { header: object; claims: object; server?: object },
  ) {
    let nonce: string | undefined
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const scriptedServer = await scripted(t, () => ({
      body: { ...TOKENS, id_token: `${encode(header)}.${encode({ nonce, ...claims })}.AAAA` },
    }))
    const party = partyOf(scriptedServer, {}, server)
    const { started, callback } = await startedAt(party, testFlows(), ['openid'])
    nonce = started.nonce
    return testFlows().exchange(started, callback)
  }
})
