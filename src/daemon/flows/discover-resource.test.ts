import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertFails, definitionWith, scripted, testFlows } from './flows.fixture.ts'
import { AT_ISSUER, AT_RESOURCE, challenge, resourceDocument, type Site, serverDocument, site } from './site.fixture.ts'

describe('the server of a resource', () => {
  for (const [what, answers] of [
    [
      'by a quoted parameter of its 401',
      { '/mcp': challenge('realm="x", resource_metadata="ORIGIN/prm", error="y"'), '/prm': resourceDocument() },
    ],
    [
      'by a bare parameter of its 401',
      { '/mcp': challenge('resource_metadata=ORIGIN/prm'), '/prm': resourceDocument() },
    ],
    [
      'at the root of the origin, where its 401 points',
      { '/mcp': challenge(`resource_metadata="ORIGIN${AT_RESOURCE}"`), [AT_RESOURCE]: resourceDocument('ORIGIN') },
    ],
    ['at the path of the resource', { [`${AT_RESOURCE}/mcp`]: resourceDocument() }],
    ['at the root', { [AT_RESOURCE]: resourceDocument('ORIGIN') }],
    ['at the root, for the whole resource', { [AT_RESOURCE]: resourceDocument() }],
    ['with a slash more', { [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp/') }],
    [
      'at the path, where its 401 names nothing',
      { '/mcp': challenge('realm="x"'), [`${AT_RESOURCE}/mcp`]: resourceDocument() },
    ],
  ] as const)
    it(`is named ${what}`, async (t) => {
      const server = await site(t, {
        ...(answers as Site),
        [`${AT_ISSUER}/as`]: serverDocument('ORIGIN/as'),
      })
      const found = await testFlows().discover(mcp(server.origin))
      assert.equal(found.issuer, `${server.origin}/as`)
      assert.equal(found.tokenUrl, `${server.origin}/token`)
      assert.match(found.resource ?? '', new RegExp(`^${server.origin}(/mcp/?)?$`))
      assert.equal(server.requests[0]?.headers.authorization, undefined)
    })

  it('is at the origin where the resource is older than RFC 9728', async (t) => {
    const server = await site(t, { [AT_ISSUER]: serverDocument('ORIGIN/') })
    const found = await testFlows().discover(mcp(server.origin))
    assert.equal(found.issuer, `${server.origin}/`)
    assert.equal(found.resource, `${server.origin}/mcp`)
  })

  it('comes with the scopes that the resource asks for', async (t) => {
    const as = { [`${AT_ISSUER}/as`]: serverDocument('ORIGIN/as') }
    const asked = await site(t, {
      ...as,
      '/mcp': challenge('scope="files:read files:write"'),
      [`${AT_RESOURCE}/mcp`]: resourceDocument(),
    })
    const listed = await site(t, {
      ...as,
      [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp', { scopes_supported: ['x', 'y'] }),
    })
    assert.deepEqual((await testFlows().discover(mcp(asked.origin))).resourceScopes, ['files:read', 'files:write'])
    assert.deepEqual((await testFlows().discover(mcp(listed.origin))).resourceScopes, ['x', 'y'])
  })

  it('does not wait for a resource that begins to stream', async (t) => {
    const server = await scripted(t, ({ path }, origin) =>
      path === '/mcp'
        ? { raw: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: x\n\n') }
        : path === AT_ISSUER
          ? { body: { issuer: origin, code_challenge_methods_supported: ['S256'] } }
          : undefined,
    )
    assert.equal((await testFlows().discover(mcp(server.origin))).issuer, server.origin)
  })

  it('is not asked for where the definition names all endpoints', async () => {
    const named = { authorization_url: 'https://auth.example/a', token_url: 'https://auth.example/t' }
    const found = await testFlows().discover(definitionWith({ resource: 'https://nobody.invalid/mcp', ...named }))
    assert.equal(found.resource, 'https://nobody.invalid/mcp')
    assert.equal(found.tokenUrl, 'https://auth.example/t')
  })

  for (const [what, answers, message] of [
    [
      'the metadata of another resource',
      { [`${AT_RESOURCE}/mcp`]: resourceDocument('https://evil.example/mcp') },
      /another resource/,
    ],
    [
      'the metadata of a part of it',
      { [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp/sub') },
      /another resource/,
    ],
    [
      'the metadata of its origin, at its path',
      { [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN') },
      /another resource/,
    ],
    ['no resource', { [`${AT_RESOURCE}/mcp`]: { body: { authorization_servers: ['ORIGIN/as'] } } }, /another resource/],
    [
      'a server with a script for a URL',
      { [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp', { authorization_servers: ['javascript:alert(1)'] }) },
      /may not be asked/,
    ],
    [
      'a server without TLS',
      { [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp', { authorization_servers: ['http://auth.example'] }) },
      /may not be asked/,
    ],
    [
      'a server with a query',
      {
        [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp', { authorization_servers: ['https://auth.example/?x'] }),
      },
      /may not be asked/,
    ],
    ['a server that publishes nothing', { [`${AT_RESOURCE}/mcp`]: resourceDocument() }, /publishes no metadata/],
    [
      'a server that is another',
      {
        [`${AT_RESOURCE}/mcp`]: resourceDocument(),
        [`${AT_ISSUER}/as`]: serverDocument('https://evil.example'),
      },
      /another issuer/,
    ],
    ['nothing', {}, /publishes no metadata/],
    [
      'a server that says nothing of PKCE',
      { [AT_ISSUER]: serverDocument('ORIGIN', { code_challenge_methods_supported: undefined }) },
      /does not say that it protects logins by PKCE/,
    ],
    [
      'a server with plain PKCE',
      { [AT_ISSUER]: serverDocument('ORIGIN', { code_challenge_methods_supported: ['plain'] }) },
      /does not say that it protects logins by PKCE/,
    ],
  ] as const)
    it(`is none where it publishes ${what}`, async (t) => {
      const server = await site(t, answers as Site)
      await assertFails(testFlows().discover(mcp(server.origin)), 'AuthenticationFailedError', message)
    })

  function mcp(origin: string) {
    return definitionWith({ resource: `${origin}/mcp` }, { flow: 'dcr_pkce' })
  }
})
