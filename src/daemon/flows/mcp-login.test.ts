import assert from 'node:assert/strict'
import { it } from 'node:test'
import { definitionWith, REDIRECT_URI, realProvider, scripted, testFlows } from './flows.fixture.ts'

it('an MCP server that nobody defined: discovered, registered, logged in, refreshed, revoked', async (t) => {
  const provider = await realProvider(t)
  const mcp = await scripted(t, ({ path }, origin) => {
    if (path === '/.well-known/oauth-protected-resource/mcp')
      return {
        body: { resource: `${origin}/mcp`, authorization_servers: [provider.issuer], scopes_supported: ['api:read'] },
      }
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
    return { status: 401, headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` } }
  })
  const flows = testFlows()
  const definition = definitionWith({ resource: `${mcp.origin}/mcp` }, { flow: 'dcr_pkce' })

  const server = await flows.discover(definition)
  const scopes = server.resourceScopes ?? []
  const client = await flows.register({ definition, server, redirectUri: REDIRECT_URI, scopes })
  const started = await flows.authorize({ definition, server, client, redirectUri: REDIRECT_URI, scopes })
  const tokens = await flows.exchange(started, new URL(await provider.approve(started.url)).searchParams)
  const { refreshToken = assert.fail() } = tokens
  const refreshed = await flows.refresh({ definition, server, client, refreshToken, scopes: tokens.scopes })
  assert.ok(refreshed.kind === 'refreshed')
  const isActiveBefore = await provider.isActive(refreshed.tokens.accessToken.reveal())
  const revoked = await flows.revoke({ definition, server, client, ...refreshed.tokens })

  assert.equal(new URL(started.url).searchParams.get('resource'), `${mcp.origin}/mcp`)
  assert.deepEqual(tokens.scopes, ['api:read'])
  assert.equal(isActiveBefore, true)
  assert.equal(revoked, 'revoked')
  assert.equal(await provider.isActive(refreshed.tokens.accessToken.reveal()), false)
  assert.deepEqual([provider.tokenRequests('authorization_code'), provider.tokenRequests('refresh_token')], [1, 1])
})
