import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { ScriptedAnswer } from '../../../test/scripted-oauth-server.ts'
import { Secret } from '../../protocol/index.ts'
import {
  assertFails,
  definitionWith,
  PUBLIC_CLIENT,
  REDIRECT_URI,
  realProvider,
  scripted,
  startedAt,
  testFlows,
} from './flows.fixture.ts'
import { rootFile, tlsServer, tunnelProxy } from './tls-world.fixture.ts'

const PRIVATE_TARGETS = [
  'this machine',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/',
  'https://[::ffff:7f00:1]/',
  'https://2130706433/',
] as const

/** What a server says at which path; `ORIGIN` stands for its own. */
type Site = Readonly<Record<string, ScriptedAnswer>>

async function site(t: TestContext, answers: Site) {
  return scripted(t, ({ path }, origin) => {
    const answer = answers[path]
    return answer === undefined
      ? undefined
      : (JSON.parse(JSON.stringify(answer).replaceAll('ORIGIN', origin)) as ScriptedAnswer)
  })
}

const ENDPOINTS = {
  authorization_endpoint: 'ORIGIN/authorize',
  token_endpoint: 'ORIGIN/token',
  code_challenge_methods_supported: ['S256'],
}
const metadata = (issuer: string, more: object = {}): ScriptedAnswer => ({ body: { issuer, ...ENDPOINTS, ...more } })
const AT_ISSUER = '/.well-known/oauth-authorization-server'

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
      const server = await site(t, { [path]: metadata('ORIGIN/tenant/1') })
      const found = await testFlows().discover(definitionWith({ issuer: `${server.origin}/tenant/1` }))
      assert.equal(found.issuer, `${server.origin}/tenant/1`)
      assert.equal(found.tokenUrl, `${server.origin}/token`)
      assert.equal(server.requests.at(-1)?.path, path)
    })

  it('is looked for behind pages that are shown for every path', async (t) => {
    const page = { headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' }
    const server = await site(t, { [AT_ISSUER]: page, '/.well-known/openid-configuration': metadata('ORIGIN') })
    assert.equal((await testFlows().discover(definitionWith({ issuer: server.origin }))).issuer, server.origin)
  })

  it('is completed by what the definition names, which wins', async (t) => {
    const server = await site(t, { [AT_ISSUER]: metadata('ORIGIN', { revocation_endpoint: 'ORIGIN/revoke' }) })
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
    const server = await site(t, { '/.well-known/oauth-authorization-server/base': metadata('ORIGIN/base') })
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
    ['another issuer', metadata('https://evil.example'), /another issuer/],
    ['its issuer in another case', metadata('ORIGIN/A'), /another issuer/],
    ['no issuer', { body: ENDPOINTS }, /another issuer/],
    ['an issuer that is no text', { body: { ...ENDPOINTS, issuer: ['ORIGIN/a'] } }, /another issuer/],
    ['a redirect', { status: 302, headers: { location: 'ORIGIN/moved' } }, /publishes no metadata/],
    ['a list', { body: '[]' }, /publishes no metadata/],
    ['a member twice', { body: '{"issuer":"ORIGIN/a","issuer":"ORIGIN/a"}' }, /publishes no metadata/],
  ] as const)
    it(`is not one that publishes ${what}`, async (t) => {
      const server = await site(t, {
        '/.well-known/oauth-authorization-server/a': answer,
        '/moved': metadata('ORIGIN/a'),
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
    const server = await site(t, { [AT_ISSUER]: metadata('ORIGIN', lies) })
    assert.deepEqual(await testFlows().discover(definitionWith({ issuer: server.origin })), {
      issuer: server.origin,
      sendsIssuer: false,
      takesMetadataDocument: false,
      challengeMethods: ['S256'],
      isPrivate: true,
    })
  })
})

const RESOURCE = '/.well-known/oauth-protected-resource'
const challenge = (parameters: string): ScriptedAnswer => ({
  status: 401,
  headers: { 'www-authenticate': `Bearer ${parameters}` },
})

describe('the server of a resource', () => {
  for (const [what, answers] of [
    [
      'by a quoted parameter of its 401',
      { '/mcp': challenge('realm="x", resource_metadata="ORIGIN/prm", error="y"'), '/prm': resource() },
    ],
    ['by a bare parameter of its 401', { '/mcp': challenge('resource_metadata=ORIGIN/prm'), '/prm': resource() }],
    ['at the path of the resource', { [`${RESOURCE}/mcp`]: resource() }],
    ['at the root', { [RESOURCE]: resource('ORIGIN') }],
    ['at the root, for the whole resource', { [RESOURCE]: resource() }],
    ['with a slash more', { [`${RESOURCE}/mcp`]: resource('ORIGIN/mcp/') }],
    ['at the path, where its 401 names nothing', { '/mcp': challenge('realm="x"'), [`${RESOURCE}/mcp`]: resource() }],
  ] as const)
    it(`is named ${what}`, async (t) => {
      const server = await site(t, {
        ...(answers as Site),
        '/.well-known/oauth-authorization-server/as': metadata('ORIGIN/as'),
      })
      const found = await testFlows().discover(mcp(server.origin))
      assert.equal(found.issuer, `${server.origin}/as`)
      assert.equal(found.tokenUrl, `${server.origin}/token`)
      assert.match(found.resource ?? '', new RegExp(`^${server.origin}(/mcp/?)?$`))
      assert.equal(server.requests[0]?.headers.authorization, undefined)
    })

  it('is at the origin where the resource is older than RFC 9728', async (t) => {
    const server = await site(t, { [AT_ISSUER]: metadata('ORIGIN/') })
    const found = await testFlows().discover(mcp(server.origin))
    assert.equal(found.issuer, `${server.origin}/`)
    assert.equal(found.resource, `${server.origin}/mcp`)
  })

  it('comes with the scopes that the resource asks for', async (t) => {
    const as = { '/.well-known/oauth-authorization-server/as': metadata('ORIGIN/as') }
    const asked = await site(t, {
      ...as,
      '/mcp': challenge('scope="files:read files:write"'),
      [`${RESOURCE}/mcp`]: resource(),
    })
    const listed = await site(t, {
      ...as,
      [`${RESOURCE}/mcp`]: resource('ORIGIN/mcp', { scopes_supported: ['x', 'y'] }),
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
      { [`${RESOURCE}/mcp`]: resource('https://evil.example/mcp') },
      /another resource/,
    ],
    ['the metadata of a part of it', { [`${RESOURCE}/mcp`]: resource('ORIGIN/mcp/sub') }, /another resource/],
    ['the metadata of its origin, at its path', { [`${RESOURCE}/mcp`]: resource('ORIGIN') }, /another resource/],
    ['no resource', { [`${RESOURCE}/mcp`]: { body: { authorization_servers: ['ORIGIN/as'] } } }, /another resource/],
    [
      'a server with a script for a URL',
      { [`${RESOURCE}/mcp`]: resource('ORIGIN/mcp', { authorization_servers: ['javascript:alert(1)'] }) },
      /may not be asked/,
    ],
    [
      'a server without TLS',
      { [`${RESOURCE}/mcp`]: resource('ORIGIN/mcp', { authorization_servers: ['http://auth.example'] }) },
      /may not be asked/,
    ],
    [
      'a server with a query',
      { [`${RESOURCE}/mcp`]: resource('ORIGIN/mcp', { authorization_servers: ['https://auth.example/?x'] }) },
      /may not be asked/,
    ],
    ['a server that publishes nothing', { [`${RESOURCE}/mcp`]: resource() }, /publishes no metadata/],
    [
      'a server that is another',
      {
        [`${RESOURCE}/mcp`]: resource(),
        '/.well-known/oauth-authorization-server/as': metadata('https://evil.example'),
      },
      /another issuer/,
    ],
    ['nothing', {}, /publishes no metadata/],
    [
      'a server that says nothing of PKCE',
      { [AT_ISSUER]: metadata('ORIGIN', { code_challenge_methods_supported: undefined }) },
      /does not say that it protects logins by PKCE/,
    ],
    [
      'a server with plain PKCE',
      { [AT_ISSUER]: metadata('ORIGIN', { code_challenge_methods_supported: ['plain'] }) },
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

function resource(name: string | undefined = 'ORIGIN/mcp', more: object = {}): ScriptedAnswer {
  return { body: { resource: name, authorization_servers: ['ORIGIN/as'], ...more } }
}

/** A resource on the internet, as seen through a proxy, and a server on this machine that it wants us to talk to. */
describe('a public server that names private addresses', () => {
  for (const [what, answers] of [
    ['for its metadata', { '/mcp': challenge('resource_metadata="TARGET"') }],
    [
      'for its authorization server',
      { [`${RESOURCE}/mcp`]: resource('ORIGIN/mcp', { authorization_servers: ['TARGET'] }) },
    ],
  ] as const)
    for (const target of PRIVATE_TARGETS)
      it(`is not followed to ${target} ${what}`, async (t) => {
        const { flows, inner, definition } = await worldWith(t, answers as Site, target)
        await assertFails(flows.discover(definition), 'EndpointUnreachableError', /private address|metadata service/)
        assert.equal(inner.requests.length, 0)
      })

  for (const target of PRIVATE_TARGETS)
    it(`gets no code sent to ${target}`, async (t) => {
      const { flows, inner, definition } = await worldWith(
        t,
        { [AT_ISSUER]: metadata('ORIGIN', { token_endpoint: 'TARGET', registration_endpoint: 'TARGET' }) },
        target,
      )
      const server = await flows.discover(definition)
      const { started, callback } = await startedAt({ definition, server, client: PUBLIC_CLIENT }, flows)
      const refusal = /private address|metadata service/
      await assertFails(flows.exchange(started, callback), 'EndpointUnreachableError', refusal)
      await assertFails(
        flows.register(server, { redirectUri: REDIRECT_URI, scopes: [] }),
        'EndpointUnreachableError',
        refusal,
      )
      assert.equal(server.isPrivate, undefined)
      assert.equal(inner.requests.length, 0)
    })

  async function worldWith(t: TestContext, answers: Site, target: string) {
    const inner = await scripted(t, () => ({ body: { secret: 'CNRY' } }))
    const url = target === 'this machine' ? inner.origin : target
    const outer = await tlsServer(t, 'mcp.test', ({ path }) => {
      const text = JSON.stringify(answers[path] ?? { status: 404 })
      return JSON.parse(text.replaceAll('TARGET', url).replaceAll('ORIGIN', 'https://mcp.test')) as ScriptedAnswer
    })
    const proxy = await tunnelProxy(t, outer.port)
    const flows = testFlows({ caFile: rootFile(t), proxies: { https: new Secret(proxy.url) } })
    return { flows, inner, definition: definitionWith({ resource: 'https://mcp.test/mcp' }) }
  }
})
