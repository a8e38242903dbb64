import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import {
  assertFails,
  definitionWith,
  PUBLIC_CLIENT,
  REDIRECT_URI,
  scripted,
  startedAt,
  testFlows,
} from './flows.fixture.ts'
import { AT_ISSUER, AT_RESOURCE, challenge, resourceDocument, type Site, said, serverDocument } from './site.fixture.ts'
import { testRoot, tlsServer, tunnelProxy } from './tls-world.fixture.ts'

const PRIVATE_TARGETS = [
  'this machine',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/',
  'https://[::ffff:7f00:1]/',
  'https://2130706433/',
] as const

/** A resource on the internet, as seen through a proxy, and a server on this machine that it wants us to talk to. */
describe('a public server that names private addresses', () => {
  for (const [what, answers] of [
    ['for its metadata', { '/mcp': challenge('resource_metadata="TARGET"') }],
    [
      'for its authorization server',
      { [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp', { authorization_servers: ['TARGET'] }) },
    ],
  ] as const)
    for (const target of PRIVATE_TARGETS)
      it(`is not followed to ${target} ${what}`, async (t) => {
        const { flows, inner, definition } = await worldWith(t, answers as Site, target)
        await assertFails(flows.discover(definition), 'EndpointUnreachableError', /private address|metadata service/)
        assert.equal(inner.requests.length, 0)
      })

  for (const target of PRIVATE_TARGETS)
    it(`is not followed to ${target} on the way to a server that it may name`, async (t) => {
      const listed = { authorization_servers: ['TARGET', 'ORIGIN/as'] }
      const { flows, inner, definition } = await worldWith(
        t,
        {
          [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp', listed),
          [`${AT_ISSUER}/as`]: serverDocument('ORIGIN/as'),
        },
        target,
      )
      const server = await flows.discover(definition)
      assert.deepEqual([server.issuer, server.isPrivate], ['https://mcp.test/as', undefined])
      assert.equal(inner.requests.length, 0)
    })

  for (const target of PRIVATE_TARGETS)
    it(`gets no code sent to ${target}`, async (t) => {
      const { flows, inner, definition } = await worldWith(
        t,
        { [AT_ISSUER]: serverDocument('ORIGIN', { token_endpoint: 'TARGET', registration_endpoint: 'TARGET' }) },
        target,
      )
      const server = await flows.discover(definition)
      const { started, callback } = await startedAt({ definition, server, client: PUBLIC_CLIENT }, flows)
      const refusal = /private address|metadata service/
      await assertFails(flows.exchange(started, callback), 'EndpointUnreachableError', refusal)
      await assertFails(
        flows.register({ definition, server, redirectUri: REDIRECT_URI, scopes: [] }),
        'EndpointUnreachableError',
        refusal,
      )
      assert.equal(server.isPrivate, undefined)
      assert.equal(inner.requests.length, 0)
    })

  async function worldWith(t: TestContext, answers: Site, target: string) {
    const inner = await scripted(t, () => ({ body: { secret: 'CNRY' } }))
    const url = target === 'this machine' ? inner.origin : target
    const outer = await tlsServer(t, 'mcp.test', ({ path }) =>
      said(answers, path, { TARGET: url, ORIGIN: 'https://mcp.test' }),
    )
    const proxy = await tunnelProxy(t, outer.port)
    const flows = testFlows({ roots: [testRoot], proxies: { https: new Secret(proxy.url) } })
    return { flows, inner, definition: definitionWith({ resource: 'https://mcp.test/mcp' }) }
  }
})
