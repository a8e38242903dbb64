import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { scripted } from './flows.fixture.ts'
import { assertUnreachable, get, outbound } from './outbound.fixture.ts'
import { testRoot, tlsServer, tunnelProxy } from './tls-world.fixture.ts'

const toLoopback = async () => [{ address: '127.0.0.1', family: 4 }]
const secure = () => ({ body: { secure: true } })

describe('whom an outbound request trusts', () => {
  it('a server whose certificate comes from the further authority', async (t) => {
    const server = await tlsServer(t, 'auth.test', secure)
    const ask = outbound({ roots: [testRoot], lookUp: toLoopback })
    const { response, from } = await ask(get(server.origin))
    assert.deepEqual(await response.json(), { secure: true })
    assert.equal(from, 'private')
  })

  it('nobody with a certificate of an authority that nobody named', async (t) => {
    const server = await tlsServer(t, 'auth.test', secure)
    await assertUnreachable(outbound({ lookUp: toLoopback })(get(server.origin)), 'tls')
  })

  it('nobody under another name than its own', async (t) => {
    const server = await tlsServer(t, 'auth.test', secure)
    const ask = outbound({ roots: [testRoot], lookUp: toLoopback })
    await assertUnreachable(ask(get(`https://127.0.0.1:${server.port}/`)), 'tls')
  })
})

describe('the proxy of the environment', () => {
  it('carries what goes out, and not what goes to this machine', async (t) => {
    const server = await tlsServer(t, 'auth.test', secure)
    const plain = await scripted(t, () => ({ body: {} }))
    const proxy = await tunnelProxy(t, server.port)
    const never = async () => assert.fail('the proxy resolves names')
    const proxies = { https: new Secret(proxy.url) }
    const ask = outbound({ roots: [testRoot], proxies, lookUp: never })

    const { response, from } = await ask(get('https://auth.test/', { reach: 'public' }))
    await ask(get(plain.origin))
    await assertUnreachable(ask(get(`https://127.0.0.1:${server.port}/`)), 'tls')

    assert.equal(response.status, 200)
    assert.equal(from, 'public')
    assert.deepEqual(proxy.targets, ['auth.test:443'])
    assert.deepEqual(proxy.credentials, [`Basic ${Buffer.from('user:pw-CNRY').toString('base64')}`])
  })

  it('is left out for the hosts of NO_PROXY', async (t) => {
    const server = await tlsServer(t, 'auth.test', secure)
    const proxies = { https: new Secret('http://127.0.0.1:1'), no: 'auth.test' }
    const ask = outbound({ roots: [testRoot], proxies, lookUp: toLoopback })
    const { response } = await ask(get(server.origin))
    assert.equal(response.status, 200)
  })

  it('is not asked for literal addresses that are out of bounds', async () => {
    const ask = outbound({ proxies: { https: new Secret('http://127.0.0.1:1') } })
    await assertUnreachable(ask(get('https://169.254.169.254/')), 'metadata_address')
  })

  for (const setting of ['socks5://user:pw-CNRY@127.0.0.1:1', 'http://user:pw-CNRY@:99999'])
    it(`cannot be ${setting.replace(/\/\/.*@/, '//')}`, () => {
      assert.throws(
        () => outbound({ proxies: { https: new Secret(setting) } }),
        (error: Error) => error.name === 'InvalidRequestError' && !error.message.includes('CNRY'),
      )
    })

  it('may be a host and a port alone', async (t) => {
    const server = await tlsServer(t, 'auth.test', secure)
    const proxy = await tunnelProxy(t, server.port)
    const proxies = { https: new Secret(proxy.url.replace('http://', '')) }
    await outbound({ roots: [testRoot], proxies })(get('https://auth.test/'))
    assert.deepEqual(proxy.targets, ['auth.test:443'])
  })

  it('is named where it refuses, without its password', async (t) => {
    const proxy = await tunnelProxy(t, 'refuses')
    const ask = outbound({ proxies: { https: new Secret(proxy.url) } })
    await assertUnreachable(ask(get('https://auth.test/')), 'proxy')
  })

  it('is not waited for longer than for a server', async (t) => {
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    t.after(() => silent.close())
    const { port } = silent.address() as AddressInfo
    const ask = outbound({ proxies: { https: new Secret(`http://127.0.0.1:${port}`) }, timeLimitMs: 100 })
    await assertUnreachable(ask(get('https://auth.test/')), 'time_limit')
  })
})
