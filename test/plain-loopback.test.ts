import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { before, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { type Cleanup, suiteCleanup } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const KEY = markedSecret('sk-')

async function echoServer(cleanup: Cleanup): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request, response) => {
    const { authorization = '' } = request.headers
    response.end(JSON.stringify({ authorization, path: request.url, host: request.headers.host }))
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  cleanup.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return { server, port: address.port }
}

describe('a server on this machine without TLS', { timeout: 60_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  let port: number
  let other: number
  before(async () => {
    port = (await echoServer(cleanup)).port
    other = (await echoServer(cleanup)).port
    world = await onboarded(cleanup)
    await logIn(world, 'openai', KEY, ['--base-url', `http://localhost:${port}/v1`])
  })

  const run = async (command: readonly string[], options: readonly string[] = []) => {
    const { code, stdout, stderr } = await world.broker(['run', ...options, '--', ...command])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const url = (path = '/v1/models') => `http://localhost:${port}${path}`
  const got = { authorization: `Bearer ${KEY}`, path: '/v1/models' }

  it('gets its credential from Node', async () => {
    const fetched = await run(['node', '-e', `fetch('${url()}').then((a) => a.text()).then(console.log)`])
    assert.deepEqual(fetched, { ...got, host: `localhost:${port}` })
    const requested = await run(['node', '-e', `require('http').get('${url()}', (a) => a.pipe(process.stdout))`])
    assert.deepEqual(requested, { ...got, host: `localhost:${port}` })
  })

  it('that asks for no key needs no login, as a login without one says, and is reached without', async () => {
    const ollama = `http://127.0.0.1:${other}`
    for (const input of ['', '\n']) {
      const { code, stderr } = await world.broker(['login', 'ollama', '--base-url', ollama], { input })
      assert.equal(code, 2)
      assert.match(
        stderr,
        /If your ollama asks for no key, none is needed: `broker run` reaches http:\/\/127\.0\.0\.1:\d+ without/,
      )
      assert.match(stderr, /^hint: If your ollama asks for no key/m)
    }
    const elsewhere = await world.broker(['login', 'ollama', '--base-url', 'https://ollama.acme.example'], {
      input: '',
    })
    assert.doesNotMatch(elsewhere.stderr, /no key/)
    const reached = await run([
      'node',
      '-e',
      `fetch('http://localhost:${other}/').then((a) => a.text()).then(console.log)`,
    ])
    assert.equal(reached.authorization, '')
  })

  it('gets it from curl', { skip: whyNot('curl') }, async () => {
    assert.equal((await run(['curl', '-sS', url()])).authorization, got.authorization)
    assert.equal((await run(['curl', '-sS', url()], ['--strict'])).path, '/v1/models')
  })

  it('gets it from Python', { skip: whyNot('python3') }, async () => {
    const script = `import urllib.request; print(urllib.request.urlopen('${url()}').read().decode())`
    assert.equal((await run(['python3', '-c', script])).authorization, got.authorization)
  })

  it('gets it below its own path alone, and no other port gets it', async () => {
    const asking = await world.startAsking()
    const [beside, elsewhere] = [await asking.get(url('/v2')), await asking.get(`http://localhost:${other}/v1/models`)]
    await asking.end()
    for (const { body } of [beside, elsewhere]) assert.equal(body.authorization.includes('CNRY'), false)
  })

  it('is explained', async () => {
    const plain = JSON.parse((await world.broker(['why', url(), '--json'])).stdout)
    assert.deepEqual([plain.verdict, plain.provider], ['inject', 'openai'])
    const overTls = JSON.parse((await world.broker(['why', `https://localhost:${port}/v1/models`, '--json'])).stdout)
    assert.equal(overTls.verdict, 'tunnel')
  })

  it('is audited as every other', async () => {
    const log = JSON.parse((await world.broker(['log', '-n', '50', '--json'])).stdout)
    const used = log.find(({ event }: { event: string }) => event === 'proxy.request')
    assert.deepEqual([used.provider, used.connection], ['openai', 'default'])
  })
})
