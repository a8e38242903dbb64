import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { ScriptedAnswer } from '../../../test/scripted-oauth-server.ts'
import {
  assertFails,
  definitionWith,
  partyAt,
  REDIRECT_URI,
  realProvider,
  scripted,
  testFlows,
} from './flows.fixture.ts'
import { clientMetadataDocument, type OAuthServer } from './index.ts'

const WANTED = { definition: definitionWith({}), redirectUri: REDIRECT_URI, scopes: ['a', 'b'] }

async function registrationServer(t: TestContext, answer: ScriptedAnswer, more: Partial<OAuthServer> = {}) {
  const server = await scripted(t, () => answer)
  const said: OAuthServer = {
    issuer: server.origin,
    registrationUrl: `${server.origin}/register`,
    sendsIssuer: false,
    takesMetadataDocument: false,
    isPrivate: true,
    ...more,
  }
  return { server, said }
}

const MADE = { status: 201, body: { client_id: 'made-1' } }

describe('a registration', () => {
  it('makes a client that can log in', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const party = await partyAt(provider, flows)
    const client = await flows.register({ ...party, redirectUri: REDIRECT_URI, scopes: ['openid'] })

    const started = await flows.authorize({ ...party, client, redirectUri: REDIRECT_URI, scopes: ['openid'] })
    const tokens = await flows.exchange(started, new URL(await provider.approve(started.url)).searchParams)

    assert.deepEqual(client, { id: client.id, auth: 'none', issuer: provider.issuer, redirectUri: REDIRECT_URI })
    assert.equal(await provider.isActive(tokens.accessToken.reveal()), true)
    assert.ok(tokens.refreshToken)
  })

  it('asks for exactly one redirect URI, and for nothing that the server does not list', async (t) => {
    const listed = { grantTypes: ['authorization_code'], clientAuth: ['client_secret_basic', 'private_key_jwt'] }
    const { server, said } = await registrationServer(t, MADE, listed)
    await testFlows().register({ ...WANTED, server: said })
    assert.deepEqual(JSON.parse(server.requests[0]?.body ?? ''), {
      client_name: 'Broker',
      application_type: 'native',
      redirect_uris: [REDIRECT_URI],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'a b',
    })
  })

  for (const [what, listed, method] of [
    ['nothing', undefined, 'none'],
    ['none and others', ['client_secret_basic', 'none'], 'none'],
    ['post and Basic', ['client_secret_basic', 'client_secret_post'], 'client_secret_post'],
  ] as const)
    it(`asks to authenticate by ${method} where the server lists ${what}`, async (t) => {
      const { server, said } = await registrationServer(t, MADE, listed && { clientAuth: listed })
      await testFlows().register({ ...WANTED, server: said })
      const { token_endpoint_auth_method, grant_types } = JSON.parse(server.requests[0]?.body ?? '')
      assert.equal(token_endpoint_auth_method, method)
      assert.deepEqual(grant_types, ['authorization_code', 'refresh_token'])
    })

  it('keeps the secret that the server made, how to use it, and when it ends', async (t) => {
    const { said } = await registrationServer(t, {
      body: {
        client_id: 'made-1',
        client_secret: 'cs-CNRY55aa',
        client_secret_expires_at: 1_800_000_000,
        token_endpoint_auth_method: 'client_secret_basic',
        redirect_uris: [REDIRECT_URI],
        registration_access_token: 'rat-CNRY',
      },
    })
    const { secret, ...client } = await testFlows().register({ ...WANTED, server: said })
    assert.equal(secret?.reveal(), 'cs-CNRY55aa')
    assert.deepEqual(client, {
      id: 'made-1',
      auth: 'client_secret_basic',
      secretExpiresAt: 1_800_000_000_000,
      issuer: said.issuer,
      redirectUri: REDIRECT_URI,
    })
  })

  for (const [what, more, auth] of [
    ['a secret that nobody asked for', { client_secret: 'cs-CNRY' }, 'client_secret_post'],
    ['a secret that is not to be used', { client_secret: 'cs-CNRY', token_endpoint_auth_method: 'none' }, 'none'],
    ['a secret that never ends', { client_secret: 'cs-CNRY', client_secret_expires_at: 0 }, 'client_secret_post'],
    ['no secret', { client_secret: null }, 'none'],
  ] as const)
    it(`understands ${what}`, async (t) => {
      const { said } = await registrationServer(t, { status: 201, body: { ...MADE.body, ...more } })
      const client = await testFlows().register({ ...WANTED, server: said })
      assert.equal(client.auth, auth)
      assert.equal(client.secretExpiresAt, undefined)
      assert.equal(client.secret !== undefined, auth !== 'none')
    })

  for (const [what, more, message] of [
    ['another redirect URI', { redirect_uris: ['https://evil.example/'] }, /another redirect URI/],
    ['one redirect URI more', { redirect_uris: [REDIRECT_URI, 'https://evil.example/'] }, /another redirect URI/],
    ['a client id of 100 KB', { client_id: 'x'.repeat(100_000) }, /id cannot be one/],
    ['a client id with a line end', { client_id: 'a\r\nb' }, /id cannot be one/],
    ['no client id', { client_id: undefined }, /id cannot be one/],
    ['a secret with a line end', { client_secret: 'CNRY\n' }, /secret cannot be one/],
    [
      'an authentication that we do not know',
      { token_endpoint_auth_method: 'private_key_jwt' },
      /in a way we do not know/,
    ],
  ] as const)
    it(`is refused: ${what}`, async (t) => {
      const { said } = await registrationServer(t, { status: 201, body: { ...MADE.body, ...more } })
      await assertFails(testFlows().register({ ...WANTED, server: said }), 'AuthenticationFailedError', message)
    })

  it('tells what the server says against it', async (t) => {
    const body = { error: 'invalid_redirect_uri', error_description: 'Only https' }
    const { said } = await registrationServer(t, { status: 400, body })
    const { options } = await assertFails(
      testFlows().register({ ...WANTED, server: said }),
      'AuthenticationFailedError',
      /^Cannot register at http:\S+: it refused \(invalid_redirect_uri: Only https\)$/,
    )
    assert.equal(options.provider, undefined)
  })

  for (const [what, answer, hasEndpoint] of [
    ['has no registration', {}, false],
    ['wants to know who registers', { status: 401, body: { error: 'invalid_token' } }, true],
    ['takes no strangers', { status: 403, body: '<html>' }, true],
  ] as const)
    it(`has another way to offer where the server ${what}`, async (t) => {
      const { said } = await registrationServer(t, answer)
      const { registrationUrl: _url, ...without } = said
      const { options } = await assertFails(
        testFlows().register({ ...WANTED, server: hasEndpoint ? said : without }),
        'OperationNotAllowedError',
        /Cannot register/,
      )
      assert.match(options.hint ?? '', /--flow pkce/)
    })

  it('goes to no private address that a public server names', async (t) => {
    const { server, said } = await registrationServer(t, MADE, { isPrivate: false })
    await assertFails(testFlows().register({ ...WANTED, server: said }), 'EndpointUnreachableError', /private address/)
    assert.equal(server.requests.length, 0)
  })

  it('goes to a private address that the definition names', async (t) => {
    const { server, said } = await registrationServer(t, MADE, { isPrivate: false })
    const definition = definitionWith({ registration_url: `${server.origin}/register` })
    assert.equal((await testFlows().register({ ...WANTED, server: said, definition })).id, 'made-1')
  })
})

describe('a client metadata document', () => {
  const publicUrl = 'https://broker.example'
  const redirectUri = `${publicUrl}/auth/callback/oauth`

  it('stands for a registration where the server reads such', async (t) => {
    const { server, said } = await registrationServer(t, MADE, { takesMetadataDocument: true })
    const client = await testFlows({ publicUrl }).register({ ...WANTED, server: said, redirectUri })
    assert.deepEqual(client, {
      id: 'https://broker.example/oauth/client-metadata.json',
      auth: 'none',
      issuer: said.issuer,
      redirectUri,
    })
    assert.equal(server.requests.length, 0)
  })

  for (const [what, options, uri, takes] of [
    ['nobody can read ours', {}, redirectUri, true],
    ['the server reads none', { publicUrl }, redirectUri, false],
    ['it says nothing of our redirect URI', { publicUrl }, REDIRECT_URI, true],
  ] as const)
    it(`does not stand for one where ${what}`, async (t) => {
      const { said } = await registrationServer(t, MADE, { takesMetadataDocument: takes })
      const { id } = await testFlows(options).register({ ...WANTED, server: said, redirectUri: uri })
      assert.equal(id, 'made-1')
    })

  it('says who we are, and is its own client id', () => {
    assert.deepEqual(clientMetadataDocument(publicUrl), {
      client_id: 'https://broker.example/oauth/client-metadata.json',
      client_name: 'Broker',
      client_uri: publicUrl,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
  })
})
