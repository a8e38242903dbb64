import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import type { OpenIdProvider } from '../../../test/openid-provider.ts'
import type { ScriptedAnswer, ScriptedServer } from '../../../test/scripted-oauth-server.ts'
import { type ErrorName, Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { clientAssertion, parseClientKey } from '../signing/index.ts'
import {
  ACCESS_TOKEN,
  assertFails,
  definitionWith,
  realProvider,
  scripted,
  TOKENS,
  testFlows,
} from './flows.fixture.ts'
import type { ClientRequest, OAuthServer } from './index.ts'

const SECRET = 'cs-CNRYbattery-staple'
const flows = testFlows()

function requestOf(server: OAuthServer, more: Partial<ClientRequest> = {}): ClientRequest {
  return {
    definition: definitionWith({ token_url: server.tokenUrl ?? '', grant: 'client_credentials' }),
    server,
    client: { id: 'service-1', auth: 'client_secret_post', secret: new Secret(SECRET) },
    scopes: [],
    parameters: {},
    ...more,
  }
}

function requestAt({ origin }: ScriptedServer, more: Partial<ClientRequest> = {}): ClientRequest {
  return requestOf({ tokenUrl: `${origin}/token`, sendsIssuer: false, takesMetadataDocument: false }, more)
}

async function at(provider: OpenIdProvider, client: ClientRequest['client']): Promise<ClientRequest> {
  const definition = definitionWith({ issuer: provider.issuer, grant: 'client_credentials' })
  const server = await flows.discover(definition)
  return { definition, server, client, scopes: ['api:read'], parameters: {} }
}

describe('a token for a client itself', () => {
  for (const auth of ['client_secret_basic', 'client_secret_post'] as const)
    it(`is granted by a certified server: ${auth}`, async (t) => {
      const provider = await realProvider(t, { settings: { accessTokenLifetime: 600 } })
      const { id, secret } = provider.clients.service
      provider.setService(secret, auth)
      const request = await at(provider, { id, auth, secret: new Secret(secret) })
      const { accessToken, expiresAt, refreshToken, scopes } = await flows.logInAsClient(request)
      assert.equal(await provider.isActive(accessToken.reveal()), true)
      assert.ok((expiresAt ?? 0) > Date.now() + 590_000)
      assert.deepEqual([refreshToken, scopes], [undefined, ['api:read']])
      assert.equal((await flows.grantToClient(request)).kind, 'refreshed')
    })

  for (const [alg, pemOf, keyId] of [
    ['RS256', (provider: OpenIdProvider) => provider.clients.signing.rsaPem, 'key-0'],
    ['ES256', (provider: OpenIdProvider) => provider.clients.signing.ecPem, undefined],
  ] as const)
    it(`is granted by a certified server to who signs with ${alg}, for its endpoint or for its name`, async (t) => {
      const provider = await realProvider(t)
      const key = parseClientKey(pemOf(provider))
      assert.equal(key?.alg, alg)
      const { id } = provider.clients.signing
      for (const audience of [`${provider.issuer}/token`, provider.issuer]) {
        const client = { id, ...(key && { key }), ...(keyId && { keyId }) } as Parameters<typeof clientAssertion>[0]
        const assertion = clientAssertion(client, audience, Date.now())
        const { accessToken } = await flows.logInAsClient(
          await at(provider, { id, auth: 'private_key_jwt', assertion }),
        )
        assert.equal(await provider.isActive(accessToken.reveal()), true)
      }
    })

  it('is refused to who shows an assertion twice', async (t) => {
    const provider = await realProvider(t)
    const { id, ecPem } = provider.clients.signing
    const key = parseClientKey(ecPem)
    assert.ok(key)
    const request = await at(provider, {
      id,
      auth: 'private_key_jwt',
      assertion: clientAssertion({ id, key }, provider.issuer, Date.now()),
    })
    assert.equal((await flows.grantToClient(request)).kind, 'refreshed')
    await assertFails(flows.logInAsClient(request), 'AuthenticationFailedError', /^Acme refuses the id or key /)
  })

  it('is refused with a wrong secret, in words that say so', async (t) => {
    const provider = await realProvider(t)
    const client = { id: provider.clients.service.id, auth: 'client_secret_basic', secret: new Secret(SECRET) } as const
    const request = await at(provider, client)
    await assertFails(
      flows.logInAsClient(request),
      'AuthenticationFailedError',
      /^Acme refuses the id or secret \(invalid_client\)$/,
    )
    assert.deepEqual(await flows.grantToClient(request), { kind: 'rejected', reason: 'invalid_client' })
  })

  it('is asked for with the scopes, the parameters and the id of the client', async (t) => {
    const server = await scripted(t, () => ({ body: TOKENS }))
    const { accessToken } = await flows.logInAsClient(
      requestAt(server, { scopes: ['a', 'b'], parameters: { audience: 'https://api.acme.example/' } }),
    )
    assert.equal(accessToken.reveal(), ACCESS_TOKEN)
    assert.deepEqual(Object.fromEntries(server.requests[0]?.form ?? []), {
      grant_type: 'client_credentials',
      audience: 'https://api.acme.example/',
      scope: 'a b',
      client_id: 'service-1',
      client_secret: SECRET,
    })
  })

  it('is asked for with an assertion in place of a secret', async (t) => {
    const server = await scripted(t, () => ({ body: TOKENS }))
    const assertion = new Secret('ey.CNRY.sig')
    await flows.logInAsClient(requestAt(server, { client: { id: 'service-1', auth: 'private_key_jwt', assertion } }))
    assert.deepEqual(Object.fromEntries(server.requests[0]?.form ?? []), {
      grant_type: 'client_credentials',
      client_id: 'service-1',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'ey.CNRY.sig',
    })
  })

  it('is asked for as JSON, under other names and in another place, where the provider has it so', async (t) => {
    const quirks: NonNullable<ProviderDefinition['oauth']>['quirks'] = [
      'json_requests',
      'account_credentials',
      'tokens_in_data',
      'client_id_as_app_id',
    ]
    const server = await scripted(t, () => ({ body: { code: 0, data: TOKENS } }))
    const request = requestAt(server)
    const definition = definitionWith({ ...request.definition.oauth, quirks })
    const { accessToken } = await flows.logInAsClient({ ...request, definition })
    assert.equal(accessToken.reveal(), ACCESS_TOKEN)
    assert.deepEqual(JSON.parse(server.requests[0]?.body ?? ''), {
      grant_type: 'account_credentials',
      app_id: 'service-1',
      secret: SECRET,
    })
  })

  type Case = readonly [what: string, answer: ScriptedAnswer, atLogin: ErrorName, later: readonly [string, string]]
  const AT_LOGIN = 'AuthenticationFailedError'
  const LATER = 'EndpointUnreachableError'
  const REDIRECT = { status: 302, headers: { location: 'https://evil.test/' } }
  const LIKE_REFUSED = { status: 500, body: { error: 'invalid_client' } }
  const CASES: readonly Case[] = [
    ['401 without words', { status: 401 }, AT_LOGIN, ['rejected', 'answer_401']],
    ['401 with words of its own', { status: 401, body: { error: 'nope' } }, AT_LOGIN, ['rejected', 'nope']],
    ['access denied', { status: 403, body: { error: 'access_denied' } }, AT_LOGIN, ['rejected', 'access_denied']],
    ['a wrong scope', { status: 400, body: { error: 'invalid_scope' } }, AT_LOGIN, ['rejected', 'invalid_scope']],
    ['403 of a gateway', { status: 403, body: '<p>no' }, AT_LOGIN, ['failed', 'answer_403']],
    ['trouble of its own', { status: 503 }, LATER, ['failed', 'answer_503']],
    ['trouble of its own that looks like a refusal', LIKE_REFUSED, LATER, ['failed', 'invalid_client']],
    ['no token', { body: { token_type: 'bearer' } }, AT_LOGIN, ['failed', 'answer_200']],
    ['a token with a line end', { body: { access_token: 'a\r\nb' } }, AT_LOGIN, ['failed', 'answer_200']],
    ['a token that needs a key', { body: { ...TOKENS, token_type: 'DPoP' } }, AT_LOGIN, ['failed', 'answer_200']],
    ['HTML', { headers: { 'content-type': 'text/html' }, body: '<p>' }, AT_LOGIN, ['failed', 'answer_200']],
    ['a redirect', REDIRECT, AT_LOGIN, ['failed', 'answer_302']],
  ]
  for (const [what, answer, name, outcome] of CASES)
    it(`is not had of an answer with ${what}`, async (t) => {
      const server = await scripted(t, () => answer)
      await assertFails(
        flows.logInAsClient(requestAt(server)),
        name,
        /^(?:Acme refuses the id or secret|Cannot log in to Acme)/,
      )
      const { kind, ...why } = await flows.grantToClient(requestAt(server))
      assert.deepEqual([kind, 'reason' in why && why.reason], [...outcome])
    })

  it('is not had of an endpoint that is gone', async (t) => {
    const server = await scripted(t, () => ({ body: TOKENS }))
    await server.close()
    await assertFails(flows.logInAsClient(requestAt(server)), 'EndpointUnreachableError', /refused the connection$/)
    assert.deepEqual(await flows.grantToClient(requestAt(server)), {
      kind: 'failed',
      reason: 'refused',
      answered: true,
    })
  })

  it('comes with nothing else to get the next one with', async (t) => {
    const server = await scripted(t, () => ({ body: TOKENS }))
    assert.equal((await flows.logInAsClient(requestAt(server))).refreshToken, undefined)
  })

  for (const [what, client, field] of [
    ['secret', requestOf({ sendsIssuer: false, takesMetadataDocument: false }).client, 'client_secret'],
    [
      'assertion',
      { id: 'service-1', auth: 'private_key_jwt', assertion: new Secret('eyCNRYhead.eyCNRYclaims.CNRYsignature') },
      'client_assertion',
    ],
  ] as const satisfies readonly (readonly [string, ClientRequest['client'], string])[])
    it(`is refused without the ${what} that the answer quotes`, async (t) => {
      for (const answer of [
        (said: string) => ({ status: 401, body: { error: said } }),
        (said: string) => ({ status: 400, body: { error: 'invalid_client', error_description: `"${said}" is wrong` } }),
        (said: string) => ({ status: 400, body: { error: said.toUpperCase(), message: said } }),
      ]) {
        const server = await scripted(t, ({ form }) => answer(form.get(field) ?? ''))
        const request = requestAt(server, { client })
        const login = await flows.logInAsClient(request).catch((error: Error) => error)
        assert.ok(login instanceof Error)
        const said = [login.message, JSON.stringify(await flows.grantToClient(request))].join()
        assert.doesNotMatch(said, /cnry|battery/i)
      }
    })

  it('has scopes that repeat no secret', async (t) => {
    const server = await scripted(t, () => ({ body: { ...TOKENS, scope: SECRET } }))
    assert.deepEqual((await flows.logInAsClient(requestAt(server, { scopes: ['a'] }))).scopes, ['a'])
  })

  it('is ended where the server can be told, with an assertion too', async (t) => {
    const provider = await realProvider(t)
    const { id, ecPem } = provider.clients.signing
    const key = parseClientKey(ecPem)
    assert.ok(key)
    const shown = async () =>
      at(provider, {
        id,
        auth: 'private_key_jwt',
        assertion: clientAssertion({ id, key }, provider.issuer, Date.now()),
      })
    const { accessToken } = await flows.logInAsClient(await shown())
    assert.equal(await flows.revoke({ ...(await shown()), accessToken }), 'revoked')
    assert.equal(await provider.isActive(accessToken.reveal()), false)
  })
})

describe('the signature of a client', () => {
  it('is one that others can verify', async (t) => {
    const { ecPem } = (await realProvider(t)).clients.signing
    const key = parseClientKey(ecPem)
    assert.ok(key)
    const [header = '', claims = '', signature = ''] = clientAssertion(
      { id: 'a', keyId: 'k', key },
      'https://b.test',
      0,
    )
      .reveal()
      .split('.')
    const publicKey = { key: createPublicKey(ecPem), dsaEncoding: 'ieee-p1363' } as const
    const isGood = verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
    assert.equal(isGood, true)
    assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'ES256', typ: 'JWT', kid: 'k' })
  })
})
