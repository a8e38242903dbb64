import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type ScriptedAnswer, startScriptedServer } from '../../../test/scripted-oauth-server.ts'
import { scripted } from './flows.fixture.ts'
import { assertUnreachable, get, outbound } from './outbound.fixture.ts'

function serverSaying(t: TestContext, answer: ScriptedAnswer) {
  return scripted(t, () => answer)
}

describe('an outbound request', () => {
  it('says who asks and what it takes, and brings the answer back', async (t) => {
    const server = await serverSaying(t, { status: 201, headers: { 'retry-after': '7' }, body: { a: 1 } })

    const { response, from } = await outbound()(
      get(`${server.origin}/x?y=1`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'hello' }),
    )

    assert.equal(response.status, 201)
    assert.equal(response.headers.get('retry-after'), '7')
    assert.deepEqual(await response.json(), { a: 1 })
    assert.equal(from, 'private')
    const [request] = server.requests
    assert.equal(request?.body, 'hello')
    assert.equal(request?.headers['user-agent'], 'broker/9.9.9')
    assert.equal(request?.headers['accept'], 'application/json')
    assert.equal(request?.headers['accept-encoding'], 'identity')
  })

  for (const status of [301, 302, 303, 307, 308])
    it(`does not follow a ${status}`, async (t) => {
      const evil = await serverSaying(t, { body: {} })
      const server = await serverSaying(t, { status, headers: { location: `${evil.origin}/stolen` } })

      const { response } = await outbound()(get(server.origin, { method: 'POST', body: 'code=CNRY' }))

      assert.equal(response.status, status)
      assert.equal(evil.requests.length, 0)
    })

  it('reads no more than 256 KiB', async (t) => {
    const server = await serverSaying(t, { body: `CNRY${'x'.repeat(262_144)}` })
    await assertUnreachable(outbound()(get(server.origin)), 'too_long')
  })

  it('does not let a slow drip stretch the time limit', async (t) => {
    const server = await serverSaying(t, {
      raw: (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const drip = setInterval(() => response.write(' '), 20)
        response.once('close', () => clearInterval(drip))
      },
    })
    await assertUnreachable(outbound({ timeLimitMs: 200 })(get(server.origin)), 'time_limit')
  })

  it('waits for a silent server no longer than the time limit', async (t) => {
    const server = await serverSaying(t, { raw: () => {} })
    await assertUnreachable(outbound({ timeLimitMs: 100 })(get(server.origin)), 'time_limit')
  })

  it('waits for as long as the question says', async (t) => {
    const server = await serverSaying(t, { raw: () => {} })
    await assertUnreachable(outbound()(get(server.origin, { timeLimitMs: 100 })), 'time_limit')
  })

  it('does not wait for the end of an answer of which it wants the head alone', async (t) => {
    const server = await serverSaying(t, {
      raw: (response) => response.writeHead(401, { 'www-authenticate': 'Bearer a="b"' }).write('event: never ends\n'),
    })
    const { response } = await outbound()(get(server.origin, { wants: 'head' }))
    assert.equal(response.headers.get('www-authenticate'), 'Bearer a="b"')
  })

  it('unpacks a small answer that nobody asked to have packed', async (t) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const server = await serverSaying(t, { headers, body: gzipSync('{"a":1}') })
    const { response } = await outbound()(get(server.origin))
    assert.deepEqual(await response.json(), { a: 1 })
  })

  for (const [what, encoding, body] of [
    ['a gzip bomb', 'gzip', gzipSync(Buffer.alloc(50_000_000))],
    ['broken gzip', 'gzip', Buffer.from('CNRY')],
    ['another encoding', 'br', Buffer.from('CNRY')],
  ] as const)
    it(`refuses ${what}`, async (t) => {
      const server = await serverSaying(t, { headers: { 'content-encoding': encoding }, body })
      await assertUnreachable(outbound()(get(server.origin)), 'encoding')
    })

  for (const [what, kind, raw] of [
    ['a connection that is reset', 'reset', ''],
    ['half a head', 'cut_off', 'HTTP/1.1 200 O'],
    ['half an answer', 'cut_off', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nCNRY'],
    ['something that is not HTTP', 'not_http', 'SSH-2.0-CNRY\r\n'],
    ['a status that is none', 'not_http', 'HTTP/1.1 999 CNRY\r\ncontent-length: 0\r\n\r\n'],
  ] as const)
    it(`tells ${what} from other failures`, async (t) => {
      const server = createServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => socket.write(raw, () => (raw === '' ? socket.resetAndDestroy() : socket.end())))
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.after(() => server.close())
      const { port } = server.address() as AddressInfo
      await assertUnreachable(outbound()(get(`http://127.0.0.1:${port}/`)), kind)
    })

  it('tells a closed port and an unknown name', async () => {
    const server = await startScriptedServer(() => undefined)
    await server.close()
    await assertUnreachable(outbound()(get(server.origin)), 'refused')
    const unknown = async () => {
      throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
    }
    await assertUnreachable(outbound({ lookUp: unknown })(get('https://nobody.test/')), 'name')
  })
})

describe('where an outbound request may go', () => {
  for (const url of ['http://auth.example/', 'ftp://auth.example/', 'https://u:p@auth.example/', 'nonsense'])
    it(`not to ${url}`, async () => {
      await assertUnreachable(outbound()(get(url)), 'forbidden_url')
    })

  for (const [host, kind] of [
    ['169.254.169.254', 'metadata_address'],
    ['[fd00:ec2::254]', 'metadata_address'],
    ['[::ffff:a9fe:a9fe]', 'metadata_address'],
  ] as const)
    it(`not to ${host}, though private addresses may be asked`, async () => {
      await assertUnreachable(outbound()(get(`https://${host}/latest/meta-data`)), kind)
    })

  for (const host of ['10.0.0.1', '127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:7f00:1]', '[64:ff9b::a00:1]'])
    it(`not to ${host}, where a public server sends us`, async () => {
      await assertUnreachable(outbound()(get(`https://${host}/`, { reach: 'public' })), 'private_address')
    })

  it('not to a private address when the daemon is hosted, whoever names it', async () => {
    await assertUnreachable(outbound({ hosted: true })(get('https://10.0.0.1/')), 'private_address')
    await assertUnreachable(outbound({ hosted: true })(get('http://127.0.0.1/')), 'private_address')
  })

  it('not to a name that means a private address when it is dialled (DNS rebinding)', async () => {
    const answers = ['93.184.215.14', '10.0.0.1']
    const resolve = async () => [{ address: answers.shift() ?? '', family: 4 }]
    const ask = outbound({ lookUp: resolve, timeLimitMs: 50 })
    await resolve()
    await assertUnreachable(ask(get('https://rebind.test/', { reach: 'public' })), 'private_address')
  })

  it('not to a name of which one address of several is out of bounds', async () => {
    const addresses = [
      { address: '93.184.215.14', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ]
    await assertUnreachable(outbound({ lookUp: async () => addresses })(get('https://both.test/')), 'metadata_address')
  })
})
