import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { mintProof } from '../src/identity/index.ts'
import {
  type Answer,
  type Caller,
  type DaemonUnderTest,
  owner,
  send,
  startDaemon,
  suiteCleanup,
} from './daemon-under-test.ts'

interface Operation {
  readonly method: string
  readonly path: string
}

const MARKED = 'sk-CNRY-bad-input'

describe('bad input', () => {
  let daemon: DaemonUnderTest
  let ada: Caller
  let operations: Operation[]
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup, { env: { BROKER_LOG_LEVEL: 'debug' } })
    ada = await owner(daemon)
    const { body } = await send(daemon, 'GET', '/openapi.json')
    operations = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        path: path.replace('{run_id}', '00000000-0000-4000-8000-000000000000').replace(/\{\w+\}/g, 'openai'),
      })),
    )
  })

  function post(path: string, bytes: Uint8Array, type = 'application/json', method = 'POST'): Promise<Answer> {
    const proof = mintProof(ada.key, { handle: 'ada', method, url: daemon.origin + path, body: bytes })
    return send(daemon, method, path, bytes, { authorization: `PoP ${proof}`, 'content-type': type })
  }

  function assertRefusal(answer: Answer, what: string): void {
    assert.ok(answer.status >= 400 && answer.status < 500, `${what}: ${answer.status} ${answer.text}`)
    assert.equal(typeof answer.body?.error, 'string', what)
    assert.equal(typeof answer.body?.message, 'string', what)
    assert.equal(answer.body?.request_id, answer.headers['x-request-id'], what)
    assert.doesNotMatch(answer.text, /CNRY|\bat .*\.ts:|node_modules|\/broker-test/, what)
  }

  const deep = `${'[{"a":'.repeat(500)}1${'}]'.repeat(500)}`
  const bodies: readonly [string, string | Uint8Array][] = [
    ['null', 'null'],
    ['an array', '[]'],
    ['a number', '42'],
    ['text', `"${MARKED}"`],
    ['true', 'true'],
    ['an unknown field', `{"${MARKED}":1}`],
    [
      'a field of the wrong type',
      `{"provider":{"x":"${MARKED}"},"host":7,"handle":[],"did":null,"events":{},"input":[],"definition":"${MARKED}"}`,
    ],
    ['__proto__', `{"__proto__":{"admin":true},"provider":"openai"}`],
    ['constructor', `{"constructor":{"prototype":{"admin":true}}}`],
    ['a field twice', '{"provider":"openai","provider":"groq"}'],
    ['deep nesting', deep],
    ['half a JSON', '{"provider":'],
    ['a byte order mark', '\uFEFF{"provider":"openai"}'],
    ['invalid UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d)],
    ['NaN', '{"limit":NaN}'],
    ['a huge number', '{"port":1e400,"host":"x"}'],
  ]
  for (const [what, body] of bodies) {
    it(`answers ${what} with a 4xx on every route that takes a body`, async () => {
      for (const { method, path } of operations.filter((one) => one.method !== 'GET')) {
        assertRefusal(await post(path, Buffer.from(body as string), 'application/json', method), `${method} ${path}`)
      }
    })
  }

  it('answers a body over 1 MiB with 413, and an audit batch over 4 MiB', async () => {
    const large = Buffer.from(JSON.stringify({ provider: 'x'.repeat(1024 * 1024) }))
    assert.equal((await post('/api/auth/sessions', large)).status, 413)
    assert.equal((await post('/audit/events', large)).status, 422)
    const huge = Buffer.alloc(4 * 1024 * 1024 + 1, 0x20)
    assert.equal((await post('/audit/events', huge)).status, 413)
  })

  it('answers another media type with 415', async () => {
    assert.equal((await post('/api/auth/sessions', Buffer.from('{}'), 'text/plain')).status, 415)
    assert.equal(
      (await post('/api/auth/sessions', Buffer.from('a=b'), 'application/x-www-form-urlencoded')).status,
      415,
    )
  })

  it('answers what cannot be a query with 422', async () => {
    const queries = [
      'limit=0',
      'limit=-1',
      'limit=abc',
      'limit=1.5',
      'limit=',
      'limit=1&limit=2',
      'cursor=x',
      'cursor=c2VxOi0x',
      'event=no.such',
      'status=maybe',
      'since=yesterday',
      'colour=red',
      '__proto__=1',
    ]
    for (const query of queries) {
      const answer = await ada.call('GET', `/api/audit/events?${query}`)
      assert.equal(answer.status, 422, query)
      assertRefusal(answer, query)
    }
  })

  it('names the field that is wrong', async () => {
    const answer = await ada.call('POST', '/api/credentials/resolve', { host: 'api.openai.com', port: 'x', colour: 1 })
    assert.deepEqual(
      answer.body.details.map(({ path }: { path: string }) => path),
      ['port', 'colour'],
    )
  })

  it('answers names that cannot be with what is not there', async () => {
    for (const name of [
      '__proto__',
      'constructor',
      'toString',
      '..',
      'GitHub',
      `${'x'.repeat(65)}`,
      '-x',
      '%F0%9F%94%91',
    ]) {
      const answer = await ada.call('GET', `/api/providers/${name}`)
      assert.ok([400, 404].includes(answer.status), `${name}: ${answer.status}`)
    }
    assert.equal(({} as { admin?: boolean }).admin, undefined)
  })

  it('leaves the daemon alive, and nothing that came in in its log', async () => {
    const { readFileSync } = await import('node:fs')
    const { join } = await import('node:path')
    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
    const log = readFileSync(join(daemon.home, 'server/logs/daemon.log'), 'utf8')
    assert.ok(log.includes('"route":"/api/auth/sessions"'))
    // A route of its own name has the word too.
    assert.doesNotMatch(log.replaceAll('/api/admin/', '') + daemon.output(), /CNRY|eyJ|admin/)
  })
})
