import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import type { ScriptedAnswer, ScriptedRequest } from '../../../test/scripted-oauth-server.ts'
import { assertFails, definitionWith, scripted, testFlows } from './flows.fixture.ts'
import {
  AT_ISSUER,
  AT_RESOURCE,
  challenge,
  resourceDocument,
  type Site,
  said,
  serverDocument,
  site,
} from './site.fixture.ts'

const HANGS: ScriptedAnswer = { raw: () => undefined }
const TROUBLES: readonly (readonly [string, ScriptedAnswer])[] = [
  ['status 503', { status: 503, body: 'CNRY' }],
  ['status 500 with a page', { status: 500, headers: { 'content-type': 'text/html' }, body: '<html>CNRY</html>' }],
  ['a page', { headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' }],
  ['an object that is no metadata', { body: { message: 'Not found' } }],
  ['a closed connection', { raw: (response) => response.socket?.destroy() }],
  ['half an answer', { raw: halfAnAnswer }],
  ['too much', { body: ' '.repeat(300_000) }],
  ['nothing at all', HANGS],
]

function halfAnAnswer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"issuer":', () => response.socket?.destroy())
}

const mcp = (origin: string) => definitionWith({ resource: `${origin}/mcp` }, { flow: 'dcr_pkce' })
const AS = { [`${AT_ISSUER}/as`]: serverDocument('ORIGIN/as') }

/** Answers of functions too, which a site cannot have: by method and path, or by path. */
function odd(answers: Site) {
  return ({ method, path }: ScriptedRequest, origin: string): ScriptedAnswer => {
    const answer = answers[`${method} ${path}`] ?? answers[path]
    return answer?.raw ? answer : said({ [path]: answer ?? { status: 404 } }, path, { ORIGIN: origin })
  }
}

describe('the challenge of a resource', { concurrency: true }, () => {
  for (const [what, answer] of [
    ['says that it knows no such method', { status: 405 }],
    ['finds nothing', { status: 404 }],
    ['wants to be asked for a stream', { status: 406 }],
    ['shows a page', { headers: { 'content-type': 'text/html' }, body: '<html></html>' }],
    ['is in trouble', { status: 502 }],
    ['wants a password', { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }],
    ['closes the connection', { raw: (response: ServerResponse) => response.socket?.destroy() }],
    ['never answers', HANGS],
  ] as const)
    it(`is looked for by POST where GET ${what}`, async (t) => {
      const server = await scripted(
        t,
        odd({
          ...AS,
          'GET /mcp': answer,
          'POST /mcp': challenge('resource_metadata="ORIGIN/prm", scope="tools"'),
          '/prm': resourceDocument(),
        }),
      )
      const found = await testFlows().discover(mcp(server.origin))
      assert.equal(found.issuer, `${server.origin}/as`)
      assert.deepEqual(found.resourceScopes, ['tools'])
      const [, post] = server.requestsTo('/mcp')
      assert.equal(post?.headers['content-type'], 'application/json')
      assert.equal(post?.headers.authorization, undefined)
      const { jsonrpc, method, params } = JSON.parse(post?.body ?? '')
      assert.deepEqual([jsonrpc, method, typeof params.protocolVersion], ['2.0', 'initialize', 'string'])
    })

  it('is looked for once where GET has it', async (t) => {
    const server = await site(t, {
      ...AS,
      '/mcp': challenge('resource_metadata="ORIGIN/prm"'),
      '/prm': resourceDocument(),
    })
    await testFlows().discover(mcp(server.origin))
    assert.deepEqual(
      server.requestsTo('/mcp').map(({ method }) => method),
      ['GET'],
    )
  })

  it('is not missed where the resource answers nobody: the well-known place is asked all the same', async (t) => {
    const server = await scripted(t, odd({ ...AS, '/mcp': HANGS, [`${AT_RESOURCE}/mcp`]: resourceDocument() }))
    assert.equal((await testFlows().discover(mcp(server.origin))).issuer, `${server.origin}/as`)
  })
})

describe('a well-known place in trouble', { concurrency: true }, () => {
  for (const [what, trouble] of TROUBLES) {
    it(`does not stop the others of an issuer: ${what}`, async (t) => {
      const first = '/.well-known/oauth-authorization-server/tenant'
      const last = '/tenant/.well-known/openid-configuration'
      const server = await scripted(t, odd({ [first]: trouble, [last]: serverDocument('ORIGIN/tenant') }))
      const found = await testFlows().discover(definitionWith({ issuer: `${server.origin}/tenant` }))
      assert.equal(found.tokenUrl, `${server.origin}/token`)
    })

    if (what !== 'an object that is no metadata')
      it(`does not stop the others of a resource: ${what}`, async (t) => {
        const server = await scripted(
          t,
          odd({ ...AS, [`${AT_RESOURCE}/mcp`]: trouble, [AT_RESOURCE]: resourceDocument('ORIGIN') }),
        )
        assert.equal((await testFlows().discover(mcp(server.origin))).issuer, `${server.origin}/as`)
      })
  }

  it('does not hide that the resource is older than the question', async (t) => {
    const trouble = { status: 500, body: 'CNRY' }
    const server = await site(t, {
      [`${AT_RESOURCE}/mcp`]: trouble,
      [AT_RESOURCE]: trouble,
      [AT_ISSUER]: serverDocument('ORIGIN'),
    })
    assert.equal((await testFlows().discover(mcp(server.origin))).issuer, server.origin)
  })

  it('is what is told where no other has anything', async (t) => {
    const server = await site(t, { [`${AT_RESOURCE}/mcp`]: { status: 503, body: 'CNRY' } })
    await assertFails(testFlows().discover(mcp(server.origin)), 'EndpointUnreachableError', /status 503/)
  })

  it('is heard after all where it was only slow', async (t) => {
    let first: ServerResponse | undefined
    const server = await scripted(t, ({ path }, origin) => {
      if (path === AT_ISSUER) {
        return {
          raw: (response) => {
            first = response
          },
        }
      }
      const document = { issuer: origin, token_endpoint: `${origin}/late` }
      first?.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
      return undefined
    })
    const found = await testFlows().discover(definitionWith({ issuer: server.origin }))
    assert.equal(found.tokenUrl, `${server.origin}/late`)
  })

  for (const [what, path] of [
    ['below the issuer', '/tenant/.well-known/oauth-authorization-server'],
    ['at the root', '/.well-known/oauth-authorization-server'],
  ] as const)
    it(`is no reason not to look where only some have it: ${what}`, async (t) => {
      const server = await site(t, { [path]: serverDocument('ORIGIN/tenant') })
      const found = await testFlows().discover(definitionWith({ issuer: `${server.origin}/tenant` }))
      assert.equal(found.issuer, `${server.origin}/tenant`)
    })

  it('is none where the root speaks for another issuer of that origin', async (t) => {
    const server = await site(t, { [AT_ISSUER]: serverDocument('ORIGIN') })
    const work = testFlows().discover(definitionWith({ issuer: `${server.origin}/tenant` }))
    await assertFails(work, 'AuthenticationFailedError', /publishes no metadata/)
  })
})

describe('a resource that lists several authorization servers', { concurrency: true }, () => {
  const listing = (...servers: readonly unknown[]) => ({
    [`${AT_RESOURCE}/mcp`]: resourceDocument('ORIGIN/mcp', { authorization_servers: servers }),
  })
  const WITHOUT_PKCE = { code_challenge_methods_supported: ['plain'], token_endpoint: 'ORIGIN/of-the-first' }

  for (const [what, first, answers] of [
    ['publishes nothing', 'ORIGIN/first', {}],
    ['is in trouble', 'ORIGIN/first', { [`${AT_ISSUER}/first`]: { status: 503 } }],
    ['cannot be reached', 'http://127.0.0.1:9', {}],
    ['may not be asked', 'http://auth.example', {}],
    [
      'does not protect logins',
      'ORIGIN/first',
      { [`${AT_ISSUER}/first`]: serverDocument('ORIGIN/first', WITHOUT_PKCE) },
    ],
  ] as const)
    it(`is let in by the next where the first ${what}`, async (t) => {
      const server = await site(t, { ...listing(first, 'ORIGIN/as'), ...(answers as Site), ...AS })
      const found = await testFlows().discover(mcp(server.origin))
      assert.deepEqual([found.issuer, found.tokenUrl], [`${server.origin}/as`, `${server.origin}/token`])
    })

  it('is not let in by any where one of them speaks for another', async (t) => {
    const server = await site(t, {
      ...listing('ORIGIN/first', 'ORIGIN/as'),
      [`${AT_ISSUER}/first`]: serverDocument('ORIGIN/as'),
      ...AS,
    })
    await assertFails(testFlows().discover(mcp(server.origin)), 'AuthenticationFailedError', /another issuer/)
    assert.equal(server.requestsTo(`${AT_ISSUER}/as`).length, 0)
  })

  it('is told of by the first where none of them can be used', async (t) => {
    const server = await site(t, listing('ORIGIN/first', 'javascript:alert(1)', 7, 'ORIGIN/third'))
    await assertFails(testFlows().discover(mcp(server.origin)), 'AuthenticationFailedError', /publishes no metadata/)
  })

  it('is not asked about more of them than somebody would wait for', async (t) => {
    const many = Array.from({ length: 50 }, (_, at) => `ORIGIN/${at}`)
    const server = await site(t, listing(...many, 'ORIGIN/as'))
    await assertFails(testFlows().discover(mcp(server.origin)), 'AuthenticationFailedError', /publishes no metadata/)
    assert.equal(server.requests.filter(({ path }) => path.startsWith(`${AT_ISSUER}/`)).length, 3)
  })
})
