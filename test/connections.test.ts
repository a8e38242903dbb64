import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  send,
  startDaemon,
  suiteCleanup,
} from './daemon-under-test.ts'

const key = (letter: string) => `sk-CNRY${letter.repeat(44)}`
const tenant = {
  schema_version: 1,
  name: 'acme',
  display_name: 'Acme',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: ['login.acme.example'],
  base_url: 'https://{tenant}.acme.example',
  api_key: { header_name: 'X-Acme-Key' },
}

describe('a login with an API key', () => {
  let daemon: DaemonUnderTest
  let ada: Caller
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
  })
  const begin = (body: object) => ada.call('POST', '/api/auth/sessions', body)
  const resume = (id: string, input: object) => ada.call('POST', `/api/auth/sessions/${id}/resume`, { input })

  it('asks for the fields of the provider, and stores what it is given', async () => {
    const { status, body } = await begin({ provider: 'openai' })
    assert.equal(status, 201)
    assert.equal(body.status, 'waiting_for_user')
    assert.equal(body.connection, 'default')
    assert.equal(body.flow, 'api_key')
    assert.equal(body.next_action.type, 'form')
    assert.equal(body.next_action.url, `${daemon.origin}/api/auth/sessions/${body.id}/input`)
    assert.equal(body.next_action.fields[0].name, 'api_key')
    assert.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 600_000)

    const done = await resume(body.id, { api_key: key('a') })
    assert.equal(done.body.status, 'completed')
    assert.deepEqual(done.body.next_action, { type: 'none' })
    assert.equal((await ada.call('GET', `/api/auth/sessions/${body.id}`)).body.status, 'completed')
    assert.equal((await resume(body.id, { api_key: key('b') })).status, 409)
  })

  it('refuses an existing connection before anything is opened, unless it is forced', async () => {
    const refused = await begin({ provider: 'openai' })
    assert.equal(refused.status, 409)
    assert.equal(refused.body.error, 'ConnectionAlreadyExistsError')
    assert.equal((await begin({ provider: 'openai', force: true })).status, 201)
  })

  it('checks the shape of the key without repeating it, and lets the person try again', async () => {
    const { body } = await begin({ provider: 'openai', connection: 'shape' })
    const wrong = await resume(body.id, { api_key: 'CNRY not a key' })
    assert.equal(wrong.status, 422)
    assert.equal(wrong.body.details[0].path, 'input.api_key')
    assert.doesNotMatch(wrong.text, /CNRY/)
    assert.equal((await resume(body.id, { api_key: `${key('a')}\r\nX: y` })).status, 422)
    assert.equal((await resume(body.id, { password: 'CNRY' })).status, 422)
    assert.equal((await resume(body.id, { api_key: key('c') })).body.status, 'completed')
  })

  it('tells a key that was found from one that was typed in', async () => {
    await connect(ada, 'groq', `gsk_CNRY${'o'.repeat(48)}`, { connection: 'found', source: 'onboard' })
    const { body } = await ada.call('GET', '/api/audit/events?limit=2')
    assert.deepEqual(
      body.events.map(({ event, connection }: Record<string, string>) => [event, connection]),
      [
        ['onboard.imported', 'found'],
        ['provider.login', 'found'],
      ],
    )
  })

  it('stays open while others begin, up to a hundred of one principal', async () => {
    const { body } = await begin({ provider: 'groq', connection: 'first' })
    for (let at = 0; at < 60; at++) await begin({ provider: 'groq', connection: `later-${at}` })
    assert.equal((await ada.call('GET', `/api/auth/sessions/${body.id}`)).body.status, 'waiting_for_user')
    for (let at = 60; at < 100; at++) await begin({ provider: 'groq', connection: `later-${at}` })
    assert.equal((await ada.call('GET', `/api/auth/sessions/${body.id}`)).status, 404)
  })

  it('says which flows this version has', async () => {
    const answer = await begin({ provider: 'openai', connection: 'x', flow: 'pkce' })
    assert.equal(answer.status, 403)
    assert.equal(answer.body.error, 'OperationNotAllowedError')
    assert.equal((await begin({ provider: 'no-such-service' })).body.error, 'ProviderNotFoundError')
  })

  it('is nobody else’s', async () => {
    const { body } = await begin({ provider: 'groq' })
    const guest = caller(daemon, 'guest')
    await guest.call('POST', '/api/identities/register', { handle: 'guest', did: guest.key.did })
    assert.equal((await guest.call('GET', `/api/auth/sessions/${body.id}`)).status, 403)
    assert.equal((await ada.call('GET', `/api/auth/sessions/${'x'.repeat(32)}`)).status, 404)
  })

  it('answers with the segment of the path that carries a key', async () => {
    await connect(ada, 'telegram', '110201543:CNRYbot4444444444444444444444444444')
    const { body } = await ada.call('POST', '/api/credentials/resolve', {
      host: 'api.telegram.org',
      path: '/bot0:x/getMe',
    })
    const key = '110201543:CNRYbot4444444444444444444444444444'
    assert.deepEqual(body.places, [{ in: 'path', name: '/bot', value: key }])
    assert.deepEqual(body.headers, {})
    const refused = await begin({ provider: 'telegram', connection: 'other' })
    assert.equal((await resume(refused.body.id, { api_key: '1:CNRY/x' })).status, 422)
  })

  it('binds the credential of a tenant to the tenant’s own host', async () => {
    assert.equal((await ada.call('POST', '/api/providers', { definition: tenant })).status, 201)
    assert.equal((await begin({ provider: 'acme' })).status, 422)
    assert.equal((await begin({ provider: 'acme', base_url: 'https://evil.test' })).status, 422)
    const { body } = await begin({ provider: 'acme', base_url: 'https://blue.acme.example' })
    await resume(body.id, { api_key: key('t') })
    const resolve = (host: string) => ada.call('POST', '/api/credentials/resolve', { host })
    assert.equal((await resolve('blue.acme.example')).body.headers['X-Acme-Key'], key('t'))
    assert.equal((await resolve('red.acme.example')).status, 404)
    assert.equal((await resolve('login.acme.example')).status, 404)
  })

  describe('by its page', () => {
    const html = { accept: 'text/html' }
    const form = { ...html, 'content-type': 'application/x-www-form-urlencoded' }
    async function opened(connection: string) {
      const { body } = await begin({ provider: 'openai', connection })
      const path = `/api/auth/sessions/${body.id}/input`
      const page = await send(daemon, 'GET', path, '', html)
      const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
      return { path, page, csrf, id: body.id as string }
    }
    const fields = (input: Record<string, string>) => new URLSearchParams(input).toString()

    it('works without a script, and shows a value to nobody', async () => {
      const { path, page, csrf, id } = await opened('paged')
      assert.equal(page.status, 200)
      assert.match(page.text, /<label[^>]*for="field-api_key"/)
      assert.match(page.text, /type="password"/)
      assert.doesNotMatch(page.text, /<script/)
      assert.match(String(page.headers['content-security-policy']), /form-action 'self'/)

      const wrong = await send(daemon, 'POST', path, fields({ csrf, api_key: 'CNRY nonsense' }), form)
      assert.equal(wrong.status, 422)
      assert.doesNotMatch(wrong.text, /CNRY/)
      assert.match(wrong.text, /aria-invalid="true"/)

      const done = await send(daemon, 'POST', path, fields({ csrf, api_key: key('p') }), {
        ...form,
        origin: daemon.origin,
        'sec-fetch-site': 'same-origin',
      })
      assert.equal(done.status, 200)
      assert.equal((await ada.call('GET', `/api/auth/sessions/${id}`)).body.status, 'completed')
    })

    it('takes no form without its token', async () => {
      const { path, csrf } = await opened('forged')
      const forged: Record<string, string>[] = [{ api_key: key('f') }, { api_key: key('f'), csrf: `${csrf}x` }]
      for (const input of forged) {
        assert.equal((await send(daemon, 'POST', path, fields(input), form)).status, 403)
      }
      assert.equal((await ada.call('GET', '/api/connections/openai/forged')).status, 404)
    })

    it('answers a finished, an unknown and a guessed session alike', async () => {
      const { path, csrf } = await opened('finished')
      await send(daemon, 'POST', path, fields({ csrf, api_key: key('g') }), form)
      const unknown = `/api/auth/sessions/${'A'.repeat(32)}/input`
      const answers = await Promise.all([
        send(daemon, 'GET', path, '', html),
        send(daemon, 'GET', unknown, '', html),
        send(daemon, 'POST', path, fields({ csrf, api_key: key('h') }), form),
      ])
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]))
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      const json = await send(daemon, 'GET', unknown, '', { accept: 'application/json' })
      assert.equal(json.status, 404)
      assert.equal(json.body.error, 'NotFoundError')
    })

    it('speaks JSON to those who ask for it', async () => {
      const { path } = await opened('json')
      const accept = { accept: 'application/json' }
      const shown = await send(daemon, 'GET', path, '', accept)
      assert.equal(shown.body.fields[0].name, 'api_key')
      const body = JSON.stringify({ input: { api_key: key('j') } })
      const done = await send(daemon, 'POST', path, body, { ...accept, 'content-type': 'application/json' })
      assert.deepEqual(done.body, { status: 'completed', provider: 'openai', connection: 'json' })
    })
  })
})

describe('connections', () => {
  let ada: Caller
  let daemon: DaemonUnderTest
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    await connect(ada, 'openai', key('a'))
    await connect(ada, 'openai', key('b'), { connection: 'work' })
    await connect(ada, 'groq', `gsk_CNRY${'c'.repeat(48)}`, { connection: 'me@example.com' })
  })
  const resolve = (body: object) => ada.call('POST', '/api/credentials/resolve', body)

  it('are listed by provider and name; the first of a provider is its default', async () => {
    const { body } = await ada.call('GET', '/api/connections')
    assert.deepEqual(
      body.connections.map((one: Record<string, unknown>) => [
        one['provider'],
        one['connection'],
        one['is_default'],
        one['status'],
      ]),
      [
        ['groq', 'me@example.com', true, 'connected'],
        ['openai', 'default', true, 'connected'],
        ['openai', 'work', false, 'connected'],
      ],
    )
  })

  it('show their secrets to nobody who does not ask, and remember who asked', async () => {
    const hidden = await ada.call('GET', '/api/connections/openai/work')
    assert.deepEqual(hidden.body.credential, { api_key: '[redacted]' })
    const shown = await ada.call('GET', '/api/connections/openai/work?reveal=true')
    assert.deepEqual(shown.body.credential, { api_key: key('b') })
    const { body } = await ada.call('GET', '/api/audit/events?event=connection.revealed')
    assert.equal(body.events.length, 1)
    assert.equal(body.events[0].connection, 'work')
  })

  it('tell whether they hold a value, and nothing more', async () => {
    const compare = (api_key: string) =>
      ada.call('POST', '/api/connections/openai/work/compare', { input: { api_key } })
    assert.deepEqual((await compare(key('b'))).body, { same: true })
    assert.deepEqual((await compare(key('a'))).body, { same: false })
  })

  it('are resolved by host: the default, or the one that is named', async () => {
    const { body } = await resolve({ host: 'API.openai.com', port: 443, method: 'GET', path: '/v1/models' })
    assert.deepEqual(body, {
      provider: 'openai',
      connection: 'default',
      headers: { Authorization: `Bearer ${key('a')}` },
    })
    assert.equal(
      (await resolve({ host: 'api.openai.com', connection: 'work' })).body.headers.Authorization,
      `Bearer ${key('b')}`,
    )
    const cases: [object, string][] = [
      [{ host: 'evil.test' }, 'ProviderNotFoundError'],
      [{ host: 'api.openai.com.evil.test' }, 'ProviderNotFoundError'],
      [{ host: 'api.openai.com', port: 8443 }, 'ProviderNotFoundError'],
      [{ host: 'api.openai.com', provider: 'groq' }, 'ProviderNotFoundError'],
      [{ host: 'api.anthropic.com' }, 'ConnectionNotFoundError'],
      [{ host: 'api.openai.com', connection: 'nope' }, 'ConnectionNotFoundError'],
    ]
    for (const [request, error] of cases) {
      const answer = await resolve(request)
      assert.equal(answer.status, 404)
      assert.equal(answer.body.error, error)
    }
  })

  it('make the routes of the proxy, with a version that serves as a tag', async () => {
    const first = await ada.call('GET', '/api/proxy/routes')
    assert.deepEqual(
      first.body.routes.map(({ host, connection }: { host: string; connection: string }) => [host, connection]),
      [
        ['api.groq.com', 'me@example.com'],
        ['api.openai.com', 'default'],
      ],
    )
    const again = await ada.call('GET', '/api/proxy/routes', undefined, {
      'if-none-match': String(first.headers['etag']),
    })
    assert.equal(again.status, 304)
    assert.equal(again.text, '')
    const all = await ada.call('GET', '/api/proxy/routes?scope=all')
    assert.ok(all.body.routes.length > 30)
    const unconnected = all.body.routes.find(({ provider }: { provider: string }) => provider === 'anthropic')
    assert.equal('connection' in unconnected, false)
  })

  it('change their default', async () => {
    const answer = await ada.call('POST', '/api/connections/openai/work/default')
    assert.deepEqual(answer.body, { status: 'ok', provider: 'openai', default_connection: 'work' })
    assert.equal((await resolve({ host: 'api.openai.com' })).body.connection, 'work')
    assert.equal((await ada.call('POST', '/api/connections/openai/none/default')).status, 404)
  })

  it('are gone after a logout, for the very next request', async () => {
    const answer = await ada.call('POST', '/api/connections/groq/me%40example.com/logout')
    assert.deepEqual(answer.body, { status: 'ok', provider: 'groq', connection: 'me@example.com' })
    assert.equal((await resolve({ host: 'api.groq.com' })).status, 404)
    const again = await ada.call('POST', '/api/connections/groq/me%40example.com/logout')
    assert.equal(again.body.error, 'ConnectionNotFoundError')
  })

  it('have the only one left as the default, when the one before was logged out', async () => {
    await ada.call('POST', '/api/connections/openai/work/logout')
    const defaults = async () =>
      (await ada.call('GET', '/api/connections')).body.connections.map(
        (one: Record<string, unknown>) => one['is_default'],
      )
    assert.deepEqual(await defaults(), [true])
    await connect(ada, 'openai', key('n'), { connection: 'new' })
    assert.deepEqual(await defaults(), [true, false])
  })

  it('are all gone after a revoke; an API key has nobody to revoke it', async () => {
    const answer = await ada.call('POST', '/api/connections/openai/revoke')
    assert.deepEqual(answer.body, { status: 'ok', provider: 'openai', removed: 2, remote: 'unsupported' })
    assert.deepEqual((await ada.call('GET', '/api/connections')).body.connections, [])
    const again = await ada.call('POST', '/api/connections/openai/revoke')
    assert.equal(again.body.error, 'ConnectionNotFoundError')
    assert.equal((await ada.call('POST', '/api/connections/nosuch/revoke')).body.error, 'ProviderNotFoundError')
    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
  })
})

describe('a changed definition', () => {
  const definition = {
    schema_version: 1,
    name: 'weather',
    display_name: 'Weather',
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: ['api.weather.example'],
    api_key: { header_name: 'X-Key' },
    headers: { 'X-Version': '2' },
  }
  const elsewhere = { ...definition, hosts: ['evil.example'] }
  const resolve = (one: Caller, host: string) => one.call('POST', '/api/credentials/resolve', { host })

  it('never receives the credential that was given to the one before', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    assert.equal((await ada.call('POST', '/api/providers', { definition })).status, 201)
    await connect(ada, 'weather', 'CNRY-weather-key')
    const before = await resolve(ada, 'api.weather.example')
    assert.deepEqual(before.body.headers, { 'X-Key': 'CNRY-weather-key', 'X-Version': '2' })
    assert.deepEqual(before.body.places, [
      { in: 'header', name: 'X-Key', value: 'CNRY-weather-key' },
      { in: 'header', name: 'X-Version', value: '2', only_if_absent: true },
    ])

    const taken = await ada.call('POST', '/api/providers', { definition: elsewhere })
    assert.equal(taken.status, 409)
    assert.equal(taken.body.error, 'ProviderAlreadyRegisteredError')
    assert.equal((await ada.call('POST', '/api/providers', { definition: elsewhere, force: true })).status, 201)

    const after = await resolve(ada, 'evil.example')
    assert.equal(after.status, 403)
    assert.doesNotMatch(after.text, /CNRY/)
    const { body } = await ada.call('GET', '/api/connections')
    assert.equal(body.connections[0].status, 'needs_approval')
    // Its requests must not pass bare: they are intercepted, and refused.
    const { body: table } = await ada.call('GET', '/api/proxy/routes')
    assert.deepEqual(
      table.routes.map(({ host }: { host: string }) => host),
      ['evil.example', 'api.weather.example'],
    )

    await connect(ada, 'weather', 'CNRY-second-key', { force: true })
    assert.equal((await resolve(ada, 'evil.example')).body.headers['X-Key'], 'CNRY-second-key')
  })

  it('is sent back as it was answered, alone or among others, and keeps nothing of where it came from', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    const { body: shown } = await ada.call('GET', '/api/providers/openai')
    assert.equal(shown.source, 'bundled')
    assert.equal((await ada.call('POST', '/api/providers', { definition: shown, force: true })).status, 201)
    assert.deepEqual((await ada.call('GET', '/api/providers/openai')).body, { ...shown, source: 'custom' })
    assert.equal(
      (await ada.call('POST', '/api/providers', { definition: { ...shown, source: 'elsewhere' } })).status,
      422,
    )
    const { body: groq } = await ada.call('GET', '/api/providers/groq')
    const many = await ada.call('POST', '/api/providers/batch', { definitions: [shown, groq], force: true })
    assert.deepEqual(
      many.body.results.map(({ provider, status }: { provider: string; status: string }) => [provider, status]),
      [
        ['openai', 'registered'],
        ['groq', 'registered'],
      ],
    )
    const { body } = await ada.call('GET', '/api/audit/events?event=provider.registered')
    assert.deepEqual(
      body.events.map(({ provider }: { provider: string }) => provider),
      ['groq', 'openai', 'openai'],
    )
  })

  it('that was removed takes its connections along: one of its name finds nothing', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    await ada.call('POST', '/api/providers', { definition })
    await connect(ada, 'weather', 'CNRY-weather-key')
    const removed = await ada.call('DELETE', '/api/providers/weather')
    assert.deepEqual(removed.body, { status: 'ok', provider: 'weather', action: 'removed', connections_removed: 1 })
    await ada.call('POST', '/api/providers', { definition: elsewhere })
    assert.equal((await resolve(ada, 'evil.example')).body.error, 'ConnectionNotFoundError')
    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
  })

  it('that claims a host of another makes both inject nothing there, and readiness warn', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    await connect(ada, 'openai', key('a'))
    const rival = { ...definition, name: 'rival', hosts: ['api.openai.com'] }
    assert.equal((await ada.call('POST', '/api/providers', { definition: rival })).status, 409)
    const forced = await ada.call('POST', '/api/providers', { definition: rival, force: true })
    assert.match(forced.body.warnings.join(' '), /openai/)
    const tied = await resolve(ada, 'api.openai.com')
    assert.equal(tied.status, 404)
    assert.match(tied.body.message, /openai, rival/)
    assert.deepEqual((await ada.call('GET', '/api/proxy/routes')).body.routes, [])
    const { body } = await ada.call('GET', '/api/ready')
    assert.equal(body.status, 'ready')
    assert.match(body.warnings.join(' '), /openai.*rival/)
  })
})
