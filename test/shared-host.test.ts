import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { type Caller, connect, owner, startDaemon, suiteCleanup } from './daemon-under-test.ts'

const HOST = 'api.shared.example'
const definition = (name: string, host: string) => ({
  schema_version: 1,
  name,
  display_name: name,
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: [host],
  api_key: {},
})

describe('a host that two definitions share by its paths', () => {
  const cleanup = suiteCleanup()
  let ada: Caller
  before(async () => {
    ada = await owner(await startDaemon(cleanup))
    const hosts = { whole: HOST, part: `${HOST}/mcp/*`, wild: '*.shared.example' }
    for (const one of Object.entries(hosts).map(([name, host]) => definition(name, host))) {
      const registered = await ada.call('POST', '/api/providers', { definition: one, force: true })
      assert.equal(registered.status, 201, registered.text)
    }
  })

  const resolve = async (path: string, more: object = {}) => {
    const { status, body } = await ada.call('POST', '/api/credentials/resolve', { host: HOST, path, ...more })
    return [status, body.headers?.['Authorization'] ?? body.provider]
  }

  it('is refused in the name of the one that means the path, where neither is connected, but a wildcard is', async () => {
    await connect(ada, 'wild', 'CNRYwild')
    assert.deepEqual(await resolve('/mcp'), [404, 'part'])
    assert.deepEqual(await resolve('/v1'), [404, 'whole'])
    const why = await ada.call('GET', `/api/why?url=https://${HOST}/mcp`)
    assert.deepEqual([why.body.verdict, why.body.provider, why.body.fix], ['refuse', 'part', 'broker login part'])
  })

  it('gets the credential of the one that is connected, also where the other means the path', async () => {
    await connect(ada, 'whole', 'CNRYwhole')
    assert.deepEqual(await resolve('/mcp'), [200, 'CNRYwhole'])
    assert.deepEqual(await resolve('/mcp', { provider: 'part' }), [404, 'part'])
  })

  it('gets each its own, once both are', async () => {
    await connect(ada, 'part', 'CNRYpart')
    assert.deepEqual(await resolve('/mcp'), [200, 'CNRYpart'])
    assert.deepEqual(await resolve('/mcp/x'), [200, 'CNRYpart'])
    for (const path of ['/mcpx', '/v1', '/mcp/../v1', '/mcp%2fx'])
      assert.deepEqual(await resolve(path), [200, 'CNRYwhole'])
  })

  it('is not another for a connection that was named and is not there', async () => {
    await connect(ada, 'whole', 'CNRYother', { connection: 'other' })
    assert.deepEqual(await resolve('/mcp', { connection: 'other' }), [404, 'part'])
  })
})

describe('a host whose paths are resources of their own', () => {
  const cleanup = suiteCleanup()
  const host = 'mcp.shared.example'
  let ada: Caller
  before(async () => {
    ada = await owner(await startDaemon(cleanup))
    for (const [name, hosts, path] of [
      ['first', [host, `${host}/mcp/*`], '/mcp'],
      ['second', [`${host}/b/mcp/*`], '/b/mcp'],
    ] as const) {
      const oauth = { resource: `https://${host}${path}`, scopes: [] }
      const registered = await ada.call('POST', '/api/providers', {
        definition: { ...definition(name, host), hosts, oauth },
        beside: true,
      })
      assert.equal(registered.status, 201, registered.text)
    }
  })

  it('never sends the token of one to another, also where that has none', async () => {
    const resolve = async (path: string) => {
      const { status, body } = await ada.call('POST', '/api/credentials/resolve', { host, path })
      return [status, body.headers?.['Authorization'] ?? body.provider]
    }
    await connect(ada, 'first', 'CNRYfirst')
    assert.deepEqual(await resolve('/mcp'), [200, 'CNRYfirst'])
    assert.deepEqual(await resolve('/b'), [200, 'CNRYfirst'])
    assert.deepEqual(await resolve('/b/mcp'), [404, 'second'])
    const why = await ada.call('GET', `/api/why?url=https://${host}/b/mcp`)
    assert.deepEqual([why.body.verdict, why.body.fix], ['refuse', 'broker login second'])
    await connect(ada, 'second', 'CNRYsecond')
    assert.deepEqual(await resolve('/b/mcp'), [200, 'CNRYsecond'])
  })
})
