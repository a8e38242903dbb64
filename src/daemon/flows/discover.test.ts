import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertFails, definitionWith, realProvider, testFlows } from './flows.fixture.ts'
import { AT_ISSUER, ENDPOINTS, serverDocument, site } from './site.fixture.ts'

describe('the server of an issuer', () => {
  it('is what a real provider says of itself', async (t) => {
    const provider = await realProvider(t)
    const server = await testFlows().discover(definitionWith({ issuer: provider.issuer }))
    assert.equal(server.tokenUrl, `${provider.issuer}/token`)
    assert.equal(server.deviceAuthorizationUrl, `${provider.issuer}/device/auth`)
    assert.equal(server.sendsIssuer, true)
    assert.deepEqual(server.challengeMethods, ['S256'])
  })

  for (const [what, path] of [
    ['as RFC 8414 has it', '/.well-known/oauth-authorization-server/tenant/1'],
    ['as OpenID has it', '/.well-known/openid-configuration/tenant/1'],
    ['as OpenID had it', '/tenant/1/.well-known/openid-configuration'],
  ] as const)
    it(`is looked for ${what}`, async (t) => {
      const server = await site(t, { [path]: serverDocument('ORIGIN/tenant/1') })
      const found = await testFlows().discover(definitionWith({ issuer: `${server.origin}/tenant/1` }))
      assert.equal(found.issuer, `${server.origin}/tenant/1`)
      assert.equal(found.tokenUrl, `${server.origin}/token`)
      assert.equal(server.requests.at(-1)?.path, path)
    })

  it('is looked for behind pages that are shown for every path', async (t) => {
    const page = { headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' }
    const server = await site(t, { [AT_ISSUER]: page, '/.well-known/openid-configuration': serverDocument('ORIGIN') })
    assert.equal((await testFlows().discover(definitionWith({ issuer: server.origin }))).issuer, server.origin)
  })

  it('is completed by what the definition names, which wins', async (t) => {
    const server = await site(t, { [AT_ISSUER]: serverDocument('ORIGIN', { revocation_endpoint: 'ORIGIN/revoke' }) })
    const named = { token_url: 'https://tokens.example/t', refresh_url: 'https://tokens.example/r' }
    const found = await testFlows().discover(definitionWith({ issuer: server.origin, ...named }))
    assert.equal(found.tokenUrl, 'https://tokens.example/t')
    assert.equal(found.refreshUrl, 'https://tokens.example/r')
    assert.equal(found.authorizationUrl, `${server.origin}/authorize`)
    assert.equal(found.revocationUrl, `${server.origin}/revoke`)
  })

  it('is the definition’s own where it publishes nothing', async (t) => {
    const server = await site(t, {})
    const named = { authorization_url: 'https://auth.example/a', token_url: 'https://auth.example/t' }
    const found = await testFlows().discover(definitionWith({ issuer: server.origin, ...named }))
    assert.deepEqual(found, {
      issuer: server.origin,
      authorizationUrl: 'https://auth.example/a',
      tokenUrl: 'https://auth.example/t',
      sendsIssuer: false,
      takesMetadataDocument: false,
    })
  })

  it('asks nobody where there is no issuer', async () => {
    const named = { authorization_url: 'https://auth.example/a', token_url: 'https://auth.example/t' }
    assert.deepEqual(await testFlows().discover(definitionWith(named)), {
      authorizationUrl: 'https://auth.example/a',
      tokenUrl: 'https://auth.example/t',
      sendsIssuer: false,
      takesMetadataDocument: false,
    })
  })

  it('is on the tenant’s own URL where the definition says so', async (t) => {
    const server = await site(t, { '/.well-known/oauth-authorization-server/base': serverDocument('ORIGIN/base') })
    const named = { issuer: '{base_url}', device_authorization_url: '{base_url}/device' }
    const found = await testFlows().discover(definitionWith(named), `${server.origin}/base/`)
    assert.equal(found.issuer, `${server.origin}/base`)
    assert.equal(found.deviceAuthorizationUrl, `${server.origin}/base/device`)
    await assertFails(
      testFlows().discover(definitionWith(named)),
      'InvalidRequestError',
      /without the URL of your own account/,
    )
  })

  for (const [what, answer, message] of [
    ['another issuer', serverDocument('https://evil.example'), /another issuer/],
    ['its issuer in another case', serverDocument('ORIGIN/A'), /another issuer/],
    ['no issuer', { body: ENDPOINTS }, /another issuer/],
    ['an issuer that is no text', { body: { ...ENDPOINTS, issuer: ['ORIGIN/a'] } }, /another issuer/],
    [
      'a redirect',
      { ...serverDocument('ORIGIN/a'), status: 302, headers: { location: 'ORIGIN/moved' } },
      /publishes no metadata/,
    ],
    ['it with an error', { ...serverDocument('ORIGIN/a'), status: 404 }, /publishes no metadata/],
    ['a list', { body: '[]' }, /publishes no metadata/],
    ['a member twice', { body: '{"issuer":"ORIGIN/a","issuer":"ORIGIN/a"}' }, /publishes no metadata/],
  ] as const)
    it(`is not one that publishes ${what}`, async (t) => {
      const server = await site(t, {
        '/.well-known/oauth-authorization-server/a': answer,
        '/moved': serverDocument('ORIGIN/a'),
      })
      const work = testFlows().discover(definitionWith({ issuer: `${server.origin}/a` }))
      await assertFails(work, 'AuthenticationFailedError', message)
      assert.equal(server.requestsTo('/moved').length, 0)
    })

  it('is to be asked later where it is in trouble', async (t) => {
    const server = await site(t, { [AT_ISSUER]: { status: 503, body: 'CNRY' } })
    await assertFails(
      testFlows().discover(definitionWith({ issuer: server.origin })),
      'EndpointUnreachableError',
      /status 503/,
    )
  })

  it('has no endpoint that may not be asked or opened', async (t) => {
    const lies = {
      authorization_endpoint: 'javascript:alert(1)',
      token_endpoint: 'http://auth.example/token',
      registration_endpoint: 'https://u:p@auth.example/register',
      revocation_endpoint: 'data:text/html,x',
      device_authorization_endpoint: `https://auth.example/${'x'.repeat(5000)}`,
      userinfo_endpoint: ['https://auth.example/'],
      code_challenge_methods_supported: ['S256', 7, 'has space'],
    }
    const server = await site(t, { [AT_ISSUER]: serverDocument('ORIGIN', lies) })
    assert.deepEqual(await testFlows().discover(definitionWith({ issuer: server.origin })), {
      issuer: server.origin,
      sendsIssuer: false,
      takesMetadataDocument: false,
      challengeMethods: ['S256'],
      isPrivate: true,
    })
  })
})
