import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createRawServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type LocalApi, startLocalApi } from '../demo/local-api.ts'
import { mintProof } from '../src/identity/index.ts'
import { type BrokerHome, type CommandOptions, logIn, onboarded } from './broker-command.ts'
import { type Answer, type Caller, connect, owner, send, suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { filesBelow, markedSecret, processTraces, searchForSecrets, type Trace } from './search-for-secret.ts'

/** Planted as the vault's own, and where nothing secret belongs. */
const KEYS = {
  openai: markedSecret('sk-'),
  anthropic: markedSecret('sk-ant-'),
  serpapi: markedSecret(),
  shodan: markedSecret(),
  twilio: markedSecret(),
  acme: markedSecret('ak-'),
  replaced: markedSecret('sk-'),
  piped: markedSecret('sk-'),
  found: markedSecret('gsk_'),
  malformed: markedSecret(),
  misplaced: markedSecret('sk-'),
} as const
const SECRETS = Object.values(KEYS)

const ACME = 'api.acme-marked.example'
const SILENT = 'silent.acme-marked.example'
const CLOSED = 'closed.acme-marked.example'
const UNTRUSTED = 'untrusted.acme-marked.example'
const BUNDLED = ['api.openai.com', 'api.anthropic.com', 'serpapi.com', 'api.shodan.io', 'api.twilio.com']
const SID = `AC${'0123456789abcdef'.repeat(2)}`

const acme = {
  schema_version: 1,
  name: 'acme',
  display_name: 'Acme',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: [ACME, SILENT, CLOSED, UNTRUSTED],
  env: { ACME_API_KEY: 'credential' },
  api_key: { header_name: 'Authorization', prefix: 'Bearer', pattern: '^ak-[A-Za-z]{10,60}$' },
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly query: readonly string[]
  readonly fields: readonly string[]
}

/** What a caller chooses freely and gets back as it was: a name, or a line of its own audit event. */
const CHOSEN_TEXT: ReadonlySet<string> = new Set(['connection', 'connections', 'command', 'scopes'])

describe('no secret is seen anywhere but where it must be', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  const traces: Trace[] = []
  let api: LocalApi
  let stranger: LocalApi
  let world: BrokerHome
  let ada: Caller

  before(async () => {
    api = await startLocalApi([ACME, ...BUNDLED], KEYS.acme)
    stranger = await startLocalApi([UNTRUSTED], KEYS.acme)
    const silent = await closingServer()
    cleanup.after(() => {
      for (const server of [api, stranger, silent]) server.close()
    })
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, api.caPem)
    world = await onboarded(cleanup, {
      BROKER_LOG_LEVEL: 'debug',
      BROKER_PROXY_CA_FILE: authority,
      BROKER_PROXY_CONNECT_TO: [
        ...[ACME, ...BUNDLED].map((host) => `${host}:443:127.0.0.1:${api.port}`),
        `${SILENT}:443:127.0.0.1:${portOf(silent)}`,
        `${UNTRUSTED}:443:127.0.0.1:${stranger.port}`,
        `${CLOSED}:443:127.0.0.1:1`,
      ].join(),
    })
    ada = await owner(world.daemon)
  })

  async function succeed(args: readonly string[], options: CommandOptions = {}) {
    const ended = await broker(args, options)
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.stderr}`)
    return ended
  }

  async function broker(args: readonly string[], options: CommandOptions = {}) {
    const ended = await world.broker(args, options)
    const where = `broker ${args.join(' ')}`.slice(0, 60)
    traces.push(
      { where: `stdout of ${where}`, bytes: ended.stdout },
      { where: `stderr of ${where}`, bytes: ended.stderr },
    )
    return ended
  }

  function seen(what: string, { status, headers, text }: Answer): Answer {
    const answer = { status, headers, text, body: undefined }
    traces.push({ where: `answer to ${what}`, bytes: `${status} ${JSON.stringify(headers)}\n${text}` })
    return answer
  }

  async function call(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const answer = await ada.call(method, path, body, headers)
    seen(`${method} ${path.replace(KEYS.misplaced, '<secret>')}`, answer)
    return answer
  }

  /** Signed bytes that need not be JSON. */
  async function post(path: string, bytes: string, type: string, method = 'POST') {
    const proof = mintProof(ada.key, {
      handle: 'ada',
      method,
      url: world.daemon.origin + path,
      body: Buffer.from(bytes),
    })
    const answer = await send(world.daemon, method, path, bytes, {
      authorization: `PoP ${proof}`,
      'content-type': type,
    })
    return seen(`${method} ${path} as ${type}`, answer)
  }

  /** All that has been seen since the last search, and all that lies about now. */
  function assertUnseen(more: readonly Trace[] = []): void {
    const places = [
      ...traces.splice(0),
      ...more,
      { where: 'output of the daemon', bytes: world.daemon.output() },
      ...filesBelow(world.home),
      ...filesBelow(world.temporary),
    ]
    assert.ok(places.length > 10)
    assert.deepEqual(searchForSecrets(places, SECRETS), [])
  }

  it('logs in by the API, the form, the pipe and the environment', async () => {
    const file = join(world.folder, 'acme.json')
    writeFileSync(file, JSON.stringify(acme))
    await succeed(['provider', 'register', file, '--yes', '--verbose'])
    await connect(ada, 'openai', KEYS.openai)
    await connect(ada, 'anthropic', KEYS.anthropic)
    await connect(ada, 'serpapi', KEYS.serpapi)
    await logIn(world, 'acme', KEYS.acme, ['--verbose'])
    await succeed(['login', 'openai', '--connection', 'piped'], { input: KEYS.piped })

    const session = await call('POST', '/api/auth/sessions', { provider: 'twilio' })
    const input = { sid: SID, api_key: KEYS.twilio }
    const path = `/api/auth/sessions/${session.body.id}`
    assert.equal((await call('GET', path)).status, 200)
    assert.equal((await call('POST', `${path}/resume`, { input })).body.status, 'completed')
    await call('GET', path)
    await byForm('shodan', KEYS.shodan)

    assertUnseen()
  })

  async function byForm(provider: string, key: string): Promise<void> {
    const begun = await call('POST', '/api/auth/sessions', { provider })
    const path = `/api/auth/sessions/${begun.body.id}/input`
    const html = { accept: 'text/html' }
    const page = await send(world.daemon, 'GET', path, '', html)
    seen(`the form of ${provider}`, page)
    const csrf = /name="csrf"[^>]*value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const headers = { ...html, 'content-type': 'application/x-www-form-urlencoded', origin: world.daemon.origin }
    const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString()
    const wrong: readonly Readonly<Record<string, string>>[] = [
      { api_key: key },
      { csrf: key, api_key: key },
      { csrf, api_key: key, [KEYS.misplaced]: KEYS.misplaced },
      { csrf, wrong: key },
    ]
    for (const fields of wrong) {
      seen(`a wrong form post`, await send(world.daemon, 'POST', path, form(fields), headers))
    }
    const done = await send(world.daemon, 'POST', path, form({ csrf, api_key: key }), headers)
    assert.equal(done.status, 200, done.text)
    seen('the form', done)
  }

  it('shows the secret where it is asked for, and redacts it everywhere else', async () => {
    const revealed = await ada.call('GET', '/api/connections/openai/default?reveal=true')
    assert.equal(revealed.body.credential.api_key, KEYS.openai)
    const resolved = await ada.call('POST', '/api/credentials/resolve', { host: 'api.anthropic.com' })
    assert.equal(resolved.body.headers['x-api-key'], KEYS.anthropic)

    for (const { provider, connection } of (await call('GET', '/api/connections')).body.connections) {
      const { body } = await call('GET', `/api/connections/${provider}/${connection}`)
      assert.equal(body.credential.api_key, '[redacted]')
    }
    assertUnseen()
  })

  describe('in what comes in', () => {
    let operations: readonly Operation[]
    before(async () => {
      const all = operationsOf((await send(world.daemon, 'GET', '/openapi.json')).body)
      // Behind it nothing else would be answered.
      operations = all.filter(({ path }) => path !== '/api/vault/lock')
    })

    it('in a path, a query or a header where none belongs', async () => {
      const secret = KEYS.misplaced
      for (const { method, path, query } of operations.filter(
        ({ path: one }) => one.includes('/api/') || one.startsWith('/audit'),
      )) {
        const body = method === 'GET' ? undefined : {}
        // Nothing that is there may be taken away by the way.
        const good = filled(path, method === 'GET' ? 'openai' : 'no-such-name')
        if (path.includes('{')) await call(method, filled(path, `${secret}%20`), body)
        for (const name of [...query, secret]) await call(method, `${good}?${name}=${secret}`, body)
        for (const headers of wrongHeaders(secret)) {
          await call(method, good, body, headers)
        }
      }
      assertUnseen()
    })

    it('in a body where none belongs', async () => {
      const secret = KEYS.misplaced
      for (const { method, path, fields } of operations.filter((one) => one.method !== 'GET')) {
        const good = filled(path, 'no-such-name')
        const wrong = [secret, [secret], { [secret]: secret }, { value: [secret] }]
        const bodies = [
          ...wrong,
          ...fields
            .filter((name) => !CHOSEN_TEXT.has(name))
            .flatMap((name) => wrong.map((value) => ({ [name]: value }))),
          { definition: { ...acme, [secret]: secret } },
        ]
        for (const body of bodies) await call(method, good, body)
        for (const [type, bytes] of [
          ['application/json', `{"input": {"api_key": "${secret}"`],
          ['application/json', secret],
          ['application/json', `{"${secret}":1,"${secret}":2}`],
          ['text/plain', secret],
          ['application/x-www-form-urlencoded', `api_key=${secret}&${secret}=1`],
          [
            'multipart/form-data; boundary=x',
            `--x\r\ncontent-disposition: form-data; name="${secret}"\r\n\r\n${secret}`,
          ],
        ] as const) {
          await post(good, bytes, type, method)
        }
      }
      assertUnseen()
    })

    it('in a login with a value that its provider cannot have given', async () => {
      const session = await call('POST', '/api/auth/sessions', { provider: 'openai', connection: 'bad' })
      const path = `/api/auth/sessions/${session.body.id}`
      for (const input of [
        { api_key: `not of that shape ${KEYS.malformed}` },
        { api_key: `${KEYS.malformed} ${KEYS.malformed}` },
        { api_key: `${KEYS.openai}\n` },
        { api_key: [KEYS.openai] },
        { api_key: KEYS.openai, sid: KEYS.misplaced },
        { [KEYS.misplaced]: KEYS.openai },
        {},
      ]) {
        const answer = await call('POST', `${path}/resume`, { input })
        assert.equal(answer.status, 422, answer.text)
        seen(
          'the form by JSON',
          await send(world.daemon, 'POST', `${path}/input`, JSON.stringify(input), JSON_BOTH_WAYS),
        )
      }
      await call('POST', '/api/connections/openai/default/compare', { input: { api_key: KEYS.malformed } })
      assertUnseen()
    })

    it('in a provider definition where none belongs', async () => {
      const definitions = Object.entries(wrongDefinitions(KEYS.misplaced))
      await atOnce(definitions, async ([place, definition]) => {
        const answer = await call('POST', '/api/providers', { definition })
        assert.equal(answer.status, 422, `${place}: ${answer.text}`)
        const file = join(world.folder, `${place}.json`)
        writeFileSync(file, JSON.stringify(definition))
        const { code } = await broker(['provider', 'register', file, '--yes', '--verbose'])
        assert.notEqual(code, 0, place)
      })
      assertUnseen()
    })
  })

  it('on the command line, typed where none is taken', async () => {
    const secret = KEYS.misplaced
    const refused = [
      [secret],
      ['login', secret],
      ['login', 'openai', secret],
      ['login', 'openai', '--api-key', secret],
      ['login', 'openai', `--api-key=${secret}`],
      ['login', 'openai', `--token=${secret}`],
      ['login', 'openai', '--flow', secret],
      ['login', 'openai', '--connection', `${secret}/`],
      ['login', 'openai', '--base-url', `https://u:${secret}@example.com`],
      ['logout', secret],
      ['connections', secret],
      ['connections', 'inspect', secret],
      ['connections', 'set-default', secret, 'default'],
      ['provider', 'inspect', secret],
      ['provider', 'revoke', secret, '--yes'],
      ['provider', 'remove', secret, '--yes'],
      ['agent', 'create', secret],
      ['agent', 'use', secret],
      ['agent', 'remove', secret, '--yes'],
      ['daemon', secret],
      ['daemon', 'logs', '-n', secret],
      ['completion', secret],
      ['log', '-n', secret],
      ['log', '--event', secret],
      ['log', '--provider', secret],
      ['log', '--identity', secret],
      ['log', '--since', secret],
      ['onboard', '--base-url', `http://127.0.0.1:1/?key=${secret}`],
      ['onboard', '--base-url', `http://${secret}@127.0.0.1:1`],
      ['onboard', secret],
      ['run', `--${secret}`, '--', 'true'],
      ['run', '--only', secret, '--', 'true'],
      ['run', '--connection', secret, '--', 'true'],
      ['run', '--connection', `${secret}=default`, '--', 'true'],
      ['run', '--', `OPENAI_API_KEY=${secret}`, 'true'],
      ['--json', 'login', 'openai', secret],
      ['--json', 'daemon', secret],
      ['--json', 'run', '--', `OPENAI_API_KEY=${secret}`, 'true'],
    ]
    await atOnce(refused, async (args) => {
      const { code } = await broker(['--verbose', ...args])
      assert.notEqual(code, 0, args.join(' '))
    })
    assertUnseen()
  })

  it('in the environment, where it cannot be used', async () => {
    const secret = KEYS.misplaced
    const environments: readonly Readonly<Record<string, string>>[] = [
      { BROKER_BASE_URL: `http://user:${secret}@127.0.0.1:1` },
      { BROKER_PORT: secret },
      { BROKER_ENCRYPTION_MODE: secret },
      { BROKER_DATABASE_URL: secret },
      { BROKER_PROXY_CA_FILE: '/dev/null', HTTPS_PROXY: `http://user:${secret}@127.0.0.1:1` },
      { HTTPS_PROXY: `${secret}://user:${secret}@` },
    ]
    await atOnce(environments, async (env) => {
      const { code } = await broker(['run', '--verbose', '--', 'true'], { env })
      assert.notEqual(code, 0, Object.keys(env).join())
    })
    const env = {
      BROKER_HOME: join(world.folder, 'another'),
      BROKER_PORT: '0',
      BROKER_DATABASE_URL: `postgres://u:${secret}@127.0.0.1:1/d`,
      BROKER_MASTER_KEY: secret,
    }
    assert.notEqual((await broker(['daemon', 'serve'], { env })).code, 0)
    assertUnseen(filesBelow(join(world.folder, 'another')))
  })

  it('through the pipe, when it is refused', async () => {
    const replaced = { input: `${KEYS.replaced}\n` }
    assert.equal((await broker(['login', 'openai', '--verbose'], replaced)).code, 6)
    assert.equal((await broker(['login', 'openai', '--json'], replaced)).code, 6)
    await atOnce(
      [
        [['login', 'openai', '--force'], `${KEYS.malformed} ${KEYS.malformed}`],
        [['login', 'openai', '--force'], `${KEYS.openai}\n${KEYS.malformed}\n`],
        [['login', 'openai', '--force'], `${KEYS.openai}${'x'.repeat(70_000)}`],
        [['login', 'twilio', '--force'], KEYS.twilio],
        [['login', 'no-such-provider'], KEYS.openai],
        [['provider', 'register', '/dev/stdin'], KEYS.openai],
      ] as const,
      async ([args, input]) => {
        const { code, stdout } = await broker([...args, '--json', '--verbose'], { input })
        assert.notEqual(code, 0, args.join(' '))
        assert.deepEqual(Object.keys(JSON.parse(stdout)).slice(0, 2), ['error', 'message'])
      },
    )
    await succeed(['login', 'openai', '--force', '--json'], replaced)
    assertUnseen()
  })

  it('in .env files, good and malformed', async () => {
    writeFileSync(
      join(world.folder, '.env'),
      [
        `OPENAI_API_KEY=${KEYS.openai}`,
        `ANTHROPIC_API_KEY='${KEYS.malformed} ${KEYS.malformed}'`,
        `export SERPAPI_API_KEY="${KEYS.serpapi}`,
        `GROQ_API_KEY=${KEYS.found}`,
        `${KEYS.misplaced}`,
        `=${KEYS.misplaced}`,
        `${KEYS.misplaced}=x`,
        `MISTRAL_API_KEY=$(echo ${KEYS.misplaced})`,
        '',
      ].join('\n'),
    )
    writeFileSync(join(world.folder, '.env.local'), Buffer.from(`DEEPL_API_KEY=${KEYS.misplaced}\0`))
    const env = {
      ACME_API_KEY: `${KEYS.malformed} ${KEYS.malformed}`,
      PERPLEXITY_API_KEY: `${KEYS.misplaced}\n${KEYS.misplaced}`,
    }
    for (const flags of [['--scan-only'], [], ['--overwrite'], ['--json']]) {
      await succeed(['onboard', '--verbose', ...flags], { env })
    }
    const { stdout } = await broker(['connections', 'list', '--json'])
    assert.match(stdout, /"groq"/)
    assertUnseen()
  })

  it('in a run, its child, and while both are there', async () => {
    await connect(ada, 'openai', KEYS.openai, { force: true })
    await connect(ada, 'serpapi', KEYS.serpapi, { force: true })
    const run = await world.startAsking(['--verbose'])
    const child = JSON.stringify(run.child.env)
    const answers = []
    for (const url of [
      `https://${ACME}/v1/items`,
      'https://api.openai.com/v1/models',
      'https://api.anthropic.com/v1/models',
      'https://serpapi.com/search?q=1',
      'https://api.shodan.io/host?key=placeholder',
      'https://api.twilio.com/2010-04-01/Accounts.json',
      `https://${SILENT}/`,
      `https://${UNTRUSTED}/`,
      `https://${CLOSED}/`,
    ]) {
      answers.push(await run.get(url))
    }
    const alive = [
      ...processTraces(world.daemon.process.pid ?? 0, 'the daemon'),
      ...processTraces(run.child.pid, 'the child'),
      ...processTraces(run.process.pid ?? 0, 'broker run'),
      ...filesBelow(world.temporary),
    ]
    assert.ok(alive.length > 6 && alive.every(({ bytes }) => bytes.length > 0))
    const { stdout, stderr } = await run.end()

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 401, 401, 401, 401, 401, 502, 502, 502],
    )
    assertArrived(api)
    assertUnseen([
      ...alive,
      { where: 'environment of the child', bytes: child },
      { where: 'answers to the child', bytes: JSON.stringify(answers) },
      { where: 'output of the run', bytes: stdout + stderr },
    ])
  })

  it('in a run of curl', async () => {
    const { code, stdout } = await broker(['run', '--', 'curl', '-sSv', `https://${ACME}/v1/items`])
    assert.equal(code, 0)
    assert.match(stdout, /acme-large/)
    await broker([
      'run',
      '--',
      'curl',
      '-sSv',
      'https://serpapi.com/search',
      `https://${CLOSED}/`,
      `https://${UNTRUSTED}/`,
    ])
    assertUnseen()
  })

  it('in any other command', async () => {
    await atOnce(
      [
        ['connections'],
        ['connections', 'inspect', 'openai'],
        ['connections', 'inspect', 'twilio', '--json'],
        ['connections', 'set-default', 'openai', 'piped'],
        ['provider', 'list'],
        ['provider', 'list', '--json'],
        ['provider', 'inspect', 'acme'],
        ['log', '-n', '500'],
        ['log', '-n', '500', '--json'],
        ['log', '--raw', '-n', '100000'],
        ['log', '--raw', '--json', '-n', '100000'],
        ['daemon', 'status', '--json'],
        ['daemon', 'logs', '-n', '100000'],
        ['doctor', '--json'],
        ['doctor'],
        ['whoami', '--json'],
        ['agent', 'list', '--json'],
        ['completion', 'bash'],
        ['--help'],
      ],
      async (args) => {
        await succeed(['--verbose', ...args])
      },
    )
    await call('GET', '/api/audit/events?limit=500')
    await call('GET', '/api/proxy/routes?scope=all')
    assertUnseen()
  })

  it('after a kill, a restart, a stop, and when all is taken back', async () => {
    await world.daemon.stop('SIGKILL')
    assertUnseen()
    await succeed(['daemon', 'start', '--verbose'])
    cleanup.after(() => world.broker(['daemon', 'stop']))
    const pid = JSON.parse(readFileSync(join(world.home, 'server', 'daemon.json'), 'utf8')).pid as number
    const alive = processTraces(pid, 'the daemon in the background')
    assert.equal(alive.length, 2)
    await succeed(['daemon', 'restart'])
    assert.equal((await call('GET', '/api/connections/acme/default')).body.credential.api_key, '[redacted]')

    for (const args of [
      ['logout', 'acme'],
      ['logout', 'openai', '--connection', 'piped', '--json'],
      ['provider', 'revoke', 'openai', '--yes'],
      ['provider', 'revoke', 'twilio', '--yes', '--json'],
      ['provider', 'remove', 'acme', '--yes'],
      ['provider', 'remove', 'shodan', '--yes'],
      ['daemon', 'stop'],
    ]) {
      await succeed(args)
    }
    assertUnseen(alive)
  })
})

const JSON_BOTH_WAYS = { 'content-type': 'application/json', accept: 'application/json' }

/** Each secret in the place that its definition names: what was searched for elsewhere was really in use. */
function assertArrived({ received }: LocalApi): void {
  const lines = received.map(
    ({ line, headers }) => `${headers['host']} ${line} ${headers['authorization']} ${headers['x-api-key']}`,
  )
  for (const [host, carried] of [
    [ACME, `Bearer ${KEYS.acme}`],
    ['api.openai.com', `Bearer ${KEYS.openai}`],
    ['api.anthropic.com', KEYS.anthropic],
    ['serpapi.com', `api_key=${KEYS.serpapi}`],
    ['api.shodan.io', `key=${KEYS.shodan}`],
    ['api.twilio.com', `Basic ${btoa(`${SID}:${KEYS.twilio}`)}`],
  ] as const) {
    const line = lines.find((one) => one.startsWith(host))
    assert.ok(line?.includes(carried), `${host} received its credential`)
  }
}

function wrongHeaders(secret: string): readonly Readonly<Record<string, string>>[] {
  return [
    { authorization: `Bearer ${secret}` },
    { authorization: `PoP ${secret}` },
    { authorization: `Basic ${btoa(`${SID}:${secret}`)}` },
    { 'x-broker-bootstrap': secret, [secret]: secret, 'x-request-id': secret, cookie: `session=${secret}` },
    { host: `${secret}.example` },
    { origin: `https://${secret}.example` },
    { 'x-broker-challenge': secret, 'if-none-match': secret },
  ]
}

function wrongDefinitions(secret: string): Readonly<Record<string, unknown>> {
  const { api_key } = acme
  return {
    'as a field': { ...acme, name: 'wrong', [secret]: secret },
    'as a field of the key': { ...acme, name: 'wrong', api_key: { ...api_key, [secret]: secret, value: secret } },
    'as its name': { ...acme, name: secret },
    'as its name in lower case, with a space': { ...acme, name: `${secret.toLowerCase()} x` },
    'as a host': { ...acme, name: 'wrong', hosts: [secret, `user:${secret}@example.com`] },
    'as the path of a host': { ...acme, name: 'wrong', hosts: [`example.com/${secret}`] },
    'as a variable': { ...acme, name: 'wrong', env: { [secret]: secret } },
    'as the use of a variable': { ...acme, name: 'wrong', env: { ACME_API_KEY: secret } },
    'as the flow': { ...acme, name: 'wrong', flow: secret, auth_type: secret },
    'as the encoding': { ...acme, name: 'wrong', api_key: { ...api_key, encoding: secret } },
    'as a header': { ...acme, name: 'wrong', headers: { [`${secret}:`]: secret } },
    'as a header that carries keys': { ...acme, name: 'wrong', headers: { Authorization: `Bearer ${secret}` } },
    'as a broken pattern': { ...acme, name: 'wrong', api_key: { ...api_key, pattern: `^(${secret}` } },
    'as the address of the docs': { ...acme, name: 'wrong', docs_url: `javascript:${secret}` },
    'as the version': { ...acme, name: 'wrong', schema_version: secret },
    'in place of it all': secret,
  }
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

interface OpenApiOperation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly properties?: object } }>>
  }
}

function operationsOf({ paths }: OpenApi): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((one) => one.in === 'query' && one.name !== 'reveal').map(({ name }) => name),
      fields: Object.keys(requestBody?.content['application/json']?.schema.properties ?? {}),
    })),
  )
}

function filled(path: string, name: string): string {
  return path.replace('{run_id}', '00000000-0000-4000-8000-000000000000').replace(/\{\w+\}/g, name)
}

/** Four at a time. */
async function atOnce<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item)
  }
  await Promise.all([worker(), worker(), worker(), worker()])
}

/** Takes a connection and closes it before a word was said. */
async function closingServer(): Promise<Server> {
  const server = createRawServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return address.port
}
