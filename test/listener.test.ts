import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  type Caller,
  type DaemonUnderTest,
  owner,
  refusedDaemon,
  send,
  startDaemon,
  suiteCleanup,
  temporaryHome,
} from './daemon-under-test.ts'
import { rawRequest, statusOf } from './raw-request.ts'

describe('the listener', () => {
  let daemon: DaemonUnderTest
  let ada: Caller
  let paths: string[]
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    paths = Object.keys((await send(daemon, 'GET', '/openapi.json')).body.paths)
  })

  const get = (headers: string, target = '/api/health') =>
    rawRequest(daemon.port, `GET ${target} HTTP/1.1\r\n${headers}\r\n\r\n`)

  it('answers to its own names', async () => {
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      assert.equal(statusOf(await get(`Host: ${host}:${daemon.port}`)), 200, host)
    }
  })

  it('answers to no other name on any route, before anything is evaluated', async () => {
    const port = daemon.port
    const hosts = [
      `evil.test:${port}`,
      `127.0.0.1.evil.test:${port}`,
      `localhost.evil.test:${port}`,
      `0.0.0.0:${port}`,
      `localhost:${port + 1}`,
      `localhost`,
      `localhost.:${port}`,
      `user@localhost:${port}`,
      '',
    ]
    for (const host of hosts) {
      for (const path of paths.slice(0, 8)) {
        assert.equal(statusOf(await get(`Host: ${host}`, path)), 421, `${host} ${path}`)
      }
    }
    for (const path of paths) assert.equal(statusOf(await get(`Host: evil.test`, path)), 421, path)
  })

  it('refuses two hosts, an absolute target, and HTTP/1.0 without a host', async () => {
    const own = `127.0.0.1:${daemon.port}`
    assert.equal(statusOf(await get(`Host: ${own}\r\nHost: evil.test`)), 400)
    assert.equal(statusOf(await get(`Host: evil.test\r\nHost: ${own}`)), 400)
    assert.equal(statusOf(await get(`Host: ${own}`, 'http://evil.test/api/health')), 400)
    assert.equal(statusOf(await rawRequest(daemon.port, 'GET /api/health HTTP/1.0\r\n\r\n')), 421)
  })

  it('refuses pages of another origin, and keeps the proof they carry unused', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: 'null', 'sec-fetch-site': 'none' },
      { origin: 'http://localhost:3000' },
      { origin: `http://127.0.0.1:${daemon.port}.evil.test` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'service-worker': 'script' },
    ]
    for (const headers of foreign) {
      const answer = await ada.call('GET', '/api/whoami', undefined, headers)
      assert.equal(answer.status, 403, JSON.stringify(headers))
    }
  })

  it('lets a page of another site do one thing: have the browser go whole to where a login comes back', async () => {
    const path = '/auth/callback/oauth?state=x&code=y'
    const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    const status = async (method: string, headers: Record<string, string>) =>
      (await send(daemon, method, path, '', headers)).status
    assert.equal(await status('GET', { ...navigation, referer: 'https://provider.test/' }), 400)
    assert.equal(await status('GET', {}), 400)
    assert.equal((await fetch(daemon.origin + path)).status, 400, 'a program, which names a mode and no destination')
    const parts: Record<string, string>[] = [
      { 'sec-fetch-dest': 'iframe' },
      { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
      { origin: 'https://evil.test' },
      { 'service-worker': 'script' },
    ]
    for (const other of parts) {
      assert.equal(await status('GET', { ...navigation, ...other }), 403, JSON.stringify(other))
    }
    assert.equal(await status('HEAD', navigation), 405)
    assert.equal(await status('POST', navigation), 403)
    assert.equal(await status('POST', {}), 404)
    for (const elsewhere of ['/docs', '/api/health', '/api/auth/sessions/x/input', '/auth/callback/oauth/']) {
      assert.equal((await send(daemon, 'GET', elsewhere, '', navigation)).status, 403, elsewhere)
    }
  })

  it('never sends an Access-Control header, and answers no preflight', async () => {
    for (const path of paths) {
      const answer = await send(daemon, 'OPTIONS', path, '', {
        origin: 'https://evil.test',
        'access-control-request-method': 'POST',
        'access-control-request-private-network': 'true',
      })
      assert.equal(answer.status, 403)
      assert.deepEqual(
        Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
        [],
      )
    }
  })

  it('takes no form or text post where JSON is asked for', async () => {
    const routes = ['/api/providers', '/api/connections/x/y/logout', '/api/credentials/resolve', '/audit/events']
    for (const path of routes) {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
        const answer = await send(daemon, 'POST', path, '{"host":"api.openai.com"}', { 'content-type': type })
        assert.ok([401, 403, 415].includes(answer.status), `${path} ${type}: ${answer.status}`)
      }
    }
  })

  it('refuses every spelling of a path that could be read in two ways', async () => {
    const spellings = [
      '/api/../audit',
      '/api/./connections',
      '//api/connections',
      '/api/%2e%2e/x',
      '/api/connections/%2e%2e/default',
      '/api/connections/a%2fb/c',
      '/api/connections/a%5cb/c',
      '/api/whoami;jsessionid=1',
      '/api/connections/%c0%ae%c0%ae/x',
      '/api/connections/x%00/y',
      '/api\\connections',
      '/API/whoami',
      '/api/whoami/',
      '/api/connections/%zz/x',
    ]
    for (const target of spellings) {
      const status = statusOf(await get(`Host: 127.0.0.1:${daemon.port}`, target))
      assert.ok([400, 401, 404].includes(status), `${target}: ${status}`)
    }
  })

  it('answers without a signature on exactly these routes', async () => {
    const { body } = await send(daemon, 'GET', '/openapi.json')
    const open: string[] = []
    for (const [path, operations] of Object.entries<object>(body.paths)) {
      for (const method of Object.keys(operations).map((name) => name.toUpperCase())) {
        const { status } = await send(daemon, method, path.replace(/\{\w+\}/g, 'openai'))
        if (status !== 401) open.push(`${method} ${path}`)
      }
    }
    assert.deepEqual(open.map((line) => line.replace(/\.[0-9a-f]{16}\./, '.*.')).sort(), [
      'GET /',
      'GET /agents',
      'GET /api/auth/sessions/{session_id}/device',
      'GET /api/auth/sessions/{session_id}/input',
      'GET /api/claim/{token}',
      'GET /api/health',
      'GET /api/session/{token}',
      'GET /assets/docs.*.js',
      'GET /assets/page.*.css',
      'GET /audit',
      'GET /auth/callback/oauth',
      'GET /connections',
      'GET /dashboard/{name}',
      'GET /docs',
      'GET /docs/assets/swagger-ui-bundle.js',
      'GET /docs/assets/swagger-ui.css',
      'GET /oauth/client-metadata.json',
      'GET /openapi.json',
      'GET /providers',
      'GET /schemas/provider.json',
      'GET /settings',
      'POST /api/auth/login',
      'POST /api/auth/register',
      'POST /api/auth/sessions/{session_id}/input',
      'POST /api/session/{token}',
      'POST /api/vault/unlock',
    ])
  })

  it('describes each shape once and by its name, so that a generated client can be read', async () => {
    const { body, text } = await send(daemon, 'GET', '/openapi.json')
    const named = Object.keys(body.components.schemas)
    assert.ok(['AuthSession', 'Connection', 'Error', 'Resolution', 'Whoami'].every((name) => named.includes(name)))
    const used = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name))
    assert.deepEqual(
      [...used].filter((name) => !named.includes(String(name))),
      [],
    )
    assert.doesNotMatch(text, /\$defs/)
    const { schema } = body.paths['/api/connections'].get.responses['200'].content['application/json']
    assert.deepEqual(schema, { $ref: '#/components/schemas/ConnectionList' })
  })

  it('describes each operation by an id of its own, and how it refuses', async () => {
    const { body } = await send(daemon, 'GET', '/openapi.json')
    const operations = Object.values<object>(body.paths).flatMap((each) => Object.values(each))
    const ids = operations.map(({ operationId }) => operationId)
    assert.deepEqual([...new Set(ids)], ids)
    for (const { responses, operationId } of operations) {
      const refused = Object.keys(responses).filter((status) => status.startsWith('4'))
      assert.ok(refused.length > 0, operationId)
      for (const status of refused) assert.ok(body.components.responses[`Refused${status}`], `${operationId} ${status}`)
    }
  })

  it('is no proxy, echoes nothing and knows few methods', async () => {
    const own = `Host: 127.0.0.1:${daemon.port}`
    const ask = (line: string) => rawRequest(daemon.port, `${line} HTTP/1.1\r\n${own}\r\n\r\n`)
    assert.equal(statusOf(await ask('TRACE /api/health')), 405)
    assert.equal(statusOf(await ask('CONNECT evil.test:443')), 0)
    assert.equal(statusOf(await ask('PROPFIND /api/health')), 404)
    assert.equal(statusOf(await ask('PUT /api/providers')), 404)
  })

  it('says in health what the specification names and nothing else', async () => {
    const { body, text } = await send(daemon, 'GET', '/api/health')
    assert.deepEqual(Object.keys(body).sort(), [
      'configured_encryption_mode',
      'effective_encryption_source',
      'encryption_backend',
      'status',
      'version',
    ])
    assert.doesNotMatch(text, /\/home|\/tmp|broker-test/)
  })

  it('protects every answer against framing, sniffing, caching and leaking its address', async () => {
    for (const path of ['/api/health', '/api/whoami', '/docs', '/openapi.json', '/nothing']) {
      const { headers } = await send(daemon, 'GET', path)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
      assert.equal(headers['cache-control'], 'no-store')
      assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
      assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|\*/)
    }
  })

  it('ends a connection whose headers do not come', async () => {
    const started = Date.now()
    const answer = await rawRequest(daemon.port, `GET /api/health HTTP/1.1\r\nHost: 127.0.0.1`)
    assert.ok([0, 400, 408].includes(statusOf(answer)))
    assert.ok(Date.now() - started < 20_000)
  })
})

describe('a daemon', () => {
  it('opens no port to the network without https in front of it', async (t) => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
      const { code, output } = await refusedDaemon(temporaryHome(t), { BROKER_HOST: host })
      assert.equal(code, 2)
      assert.match(output, /BROKER_HOST/)
    }
  })

  it('is the only one of its home: a second one exits and names the first', async (t) => {
    const first = await startDaemon(t)
    const { code, output } = await refusedDaemon(first.home)
    assert.equal(code, 9)
    assert.match(output, new RegExp(`process ${first.process.pid}, port ${first.port}`))
    assert.equal((await send(first, 'GET', '/api/health')).status, 200)
  })

  it('starts again after it was killed, whatever it left behind', async (t) => {
    const first = await startDaemon(t)
    await first.stop('SIGKILL')
    const second = await startDaemon(t, { home: first.home })
    assert.equal((await send(second, 'GET', '/api/health')).status, 200)
  })

  it('says who has the port when it cannot listen', async (t) => {
    const first = await startDaemon(t)
    const { code, output } = await refusedDaemon(temporaryHome(t), { BROKER_PORT: String(first.port) })
    assert.equal(code, 9)
    assert.match(output, new RegExp(`port ${first.port}: another program listens there`))
  })

  it('finishes the request in flight when it is told to stop, and exits with 0', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    const { createConnection } = await import('node:net')
    const { mintProof } = await import('../src/identity/index.ts')
    const body = Buffer.from(JSON.stringify({ provider: 'openai' }))
    const url = `${daemon.origin}/api/auth/sessions`
    const proof = mintProof(ada.key, { handle: 'ada', method: 'POST', url, body })
    const socket = createConnection(daemon.port, '127.0.0.1')
    socket.setEncoding('utf8')
    const head = `POST /api/auth/sessions HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nAuthorization: PoP ${proof}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
    socket.write(head)
    // The interim answer says that the daemon has begun with this request.
    await new Promise((resolve) => socket.once('data', resolve))
    const exit = daemon.stop('SIGTERM')
    const answered = new Promise<string>((resolve) => socket.once('data', (text) => resolve(String(text))))
    socket.write(body)
    assert.match(await answered, /^HTTP\/1\.1 (201|503) /)
    assert.equal(await exit, 0)
  })

  it('opens no inspector when it is signalled', async (t) => {
    const daemon = await startDaemon(t)
    daemon.process.kill('SIGUSR1')
    assert.equal((await send(daemon, 'GET', '/api/health')).status, 200)
    assert.doesNotMatch(daemon.output(), /[Dd]ebugger/)
  })
})
