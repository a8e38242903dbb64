import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { beforeEach, describe, it } from 'node:test'
import { toPlainWire } from '../../injection/index.ts'
import { Secret } from '../../protocol/index.ts'
import { type OpenedRooms, openRooms, temporaryFolder, tokenProvider } from '../connections/rooms.fixture.ts'
import { openFlows } from '../flows/index.ts'
import { type Credentials, type CredentialsOptions, openCredentials } from './open-credentials.ts'
import { sendJson, startTokenEndpoint, type TokenEndpoint } from './token-endpoint.fixture.ts'

const REQUEST = { host: 'api.acme.example', method: 'GET', path: '/' }
const HOUR = 3_600_000

describe('a token that ends', () => {
  let rooms: OpenedRooms
  let folder: string
  let endpoint: TokenEndpoint
  let credentials: Credentials
  let now: number
  const clock = () => now

  beforeEach(async (t) => {
    assert.ok('after' in t)
    now = Date.now()
    folder = temporaryFolder(t)
    endpoint = await startTokenEndpoint()
    t.after(() => endpoint.close())
    rooms = await openRooms({ folder, now: clock })
    await rooms.providers.register(tokenProvider(endpoint.origin), { force: false })
    credentials = newCredentials()
    t.after(async () => {
      await credentials.close()
      await rooms.store.close()
    })
    await logIn()
  })

  function newCredentials(more: Partial<CredentialsOptions> & { readonly timeLimitMs?: number } = {}): Credentials {
    const { timeLimitMs, ...options } = more
    const flows = openFlows({ hosted: false, version: '0', now: clock, ...(timeLimitMs && { timeLimitMs }) })
    return openCredentials({ ...rooms, flows, onFailure: () => undefined, now: clock, ...options })
  }

  async function logIn(refreshToken: string | undefined = 'CNRYrefresh-0', more: object = {}): Promise<void> {
    await rooms.connections.put(rooms.actor, {
      provider: rooms.providers.get('acme'),
      connection: 'default',
      flow: 'pkce',
      credential: {
        kind: 'oauth2',
        fields: {
          access_token: new Secret('CNRYaccess-0'),
          ...(refreshToken && { refresh_token: new Secret(refreshToken) }),
          client_id: new Secret('broker-test'),
          token_url: new Secret(`${endpoint.origin}/token`),
          revocation_url: new Secret(`${endpoint.origin}/revoke`),
        },
      },
      scopes: ['read'],
      expiresAt: now + HOUR,
      existing: 'replace',
      source: 'login',
      ...more,
    })
  }

  const resolve = (more: { rejected_version?: number } = {}) =>
    credentials.resolve(rooms.actor, { ...REQUEST, ...more }).then(toPlainWire)

  async function tokenNow(): Promise<string> {
    return (await resolve()).headers['Authorization'] ?? ''
  }

  async function status(): Promise<string | undefined> {
    return (await rooms.connections.list(rooms.actor))[0]?.status
  }

  async function reasons(): Promise<readonly string[]> {
    const { events } = await rooms.audit.page({ kind: 'all' }, {})
    return events.flatMap(({ event, reason }) => (event === 'provider.refresh_failed' ? [reason ?? ''] : [])).reverse()
  }

  const unavailable = (headers: Record<string, string> = {}) => {
    endpoint.answer = (_, response) => sendJson(response, 503, { error: 'temporarily_unavailable' }, headers)
  }

  it('is handed out as it is while it is fresh, with its end', async () => {
    const { headers, expires_at, version } = await resolve()
    assert.deepEqual(headers, { Authorization: 'Bearer CNRYaccess-0' })
    assert.equal(expires_at, new Date(now + HOUR).toISOString())
    assert.equal(typeof version, 'number')
    assert.deepEqual(endpoint.spent, [])
  })

  it('is handed out for the last time some minutes ahead, and refreshed meanwhile', async () => {
    now += HOUR - 2 * 60_000
    assert.equal(await tokenNow(), 'Bearer CNRYaccess-0')
    await credentials.close()
    assert.equal(await tokenNow(), 'Bearer CNRYaccess-1')
  })

  it('is refreshed by the app it was granted to, also where a later login brought another', async () => {
    const { oauth, ...rest } = tokenProvider(endpoint.origin)
    const { client_id: _, ...withoutClient } = oauth
    const definition = { ...rest, oauth: { ...withoutClient, token_auth_method: 'client_secret_basic' as const } }
    await rooms.providers.register(definition, { force: true })
    for (const [connection, id] of [
      ['default', 'app-1'],
      ['other', 'app-2'],
    ] as const)
      await rooms.connections.put(rooms.actor, {
        provider: rooms.providers.get('acme'),
        connection,
        flow: 'pkce',
        credential: {
          kind: 'oauth2',
          fields: {
            access_token: new Secret(`CNRY-${id}`),
            refresh_token: new Secret('CNRYrefresh-0'),
            client_id: new Secret(id),
            client_auth: new Secret('client_secret_basic'),
            token_url: new Secret(`${endpoint.origin}/token`),
          },
        },
        scopes: ['read'],
        expiresAt: now + HOUR,
        client: { kind: 'own', client: { id, secret: new Secret(`CNRY-of-${id}`), auth: 'client_secret_basic' } },
        existing: 'replace',
        source: 'login',
      })
    now += HOUR
    const shown: (string | undefined)[] = []
    endpoint.answer = ({ headers }, response) => {
      shown.push(headers.authorization)
      sendJson(response, 200, { access_token: 'CNRYaccess-1', token_type: 'bearer', expires_in: 3600 })
    }
    await tokenNow()
    assert.deepEqual(shown, [`Basic ${btoa('app-1:CNRY-of-app-1')}`])
  })

  it('is not spent for a request to another tenant than its own', async () => {
    const definition = {
      ...tokenProvider(endpoint.origin),
      hosts: ['*.acme.example'],
      base_url: 'https://{tenant}.acme.example',
    }
    await rooms.providers.register(rooms.providers.validate(definition), { force: true })
    await logIn('CNRYrefresh-0', { baseUrl: 'https://one.acme.example' })
    now += HOUR
    const resolveAt = (host: string) => credentials.resolve(rooms.actor, { host, method: 'GET', path: '/' })
    await assert.rejects(resolveAt('two.acme.example'), { name: 'ProviderNotFoundError' })
    assert.deepEqual(endpoint.spent, [])
    await resolveAt('one.acme.example')
    assert.deepEqual(endpoint.spent, ['CNRYrefresh-0'])
  })

  it('is refreshed once for a thousand requests at once, and all get the new one', async () => {
    now += HOUR
    const answers = await Promise.all(Array.from({ length: 1_000 }, tokenNow))
    assert.deepEqual(new Set(answers), new Set(['Bearer CNRYaccess-1']))
    assert.deepEqual(endpoint.spent, ['CNRYrefresh-0'])
  })

  it('is refreshed once for all processes that share a store', async (t) => {
    const ids = ['a', 'b', 'c']
    const processes = ids.map((id) => fork(new URL('./resolving-process.fixture.ts', import.meta.url), [folder, id]))
    t.after(() => {
      for (const child of processes) child.kill()
    })
    await Promise.all(processes.map((child) => once(child, 'message')))
    endpoint.hold = new Promise((resume) => setTimeout(resume, 200))
    for (const child of processes) child.send({ now: now + HOUR, count: 300 })
    const answers = await Promise.all(processes.map(async (child) => (await once(child, 'message'))[0]))
    assert.deepEqual(answers, Array(3).fill(['Bearer CNRYaccess-1']))
    assert.deepEqual(endpoint.spent, ['CNRYrefresh-0'])
  })

  it('is refreshed again and again, each time with the token of the time before', async () => {
    for (let turn = 1; turn <= 3; turn++) {
      now += HOUR
      assert.equal(await tokenNow(), `Bearer CNRYaccess-${turn}`)
    }
    assert.deepEqual(endpoint.spent, ['CNRYrefresh-0', 'CNRYrefresh-1', 'CNRYrefresh-2'])
  })

  it('keeps its refresh token where the provider sends no other', async () => {
    endpoint.answer = (_, response) => sendJson(response, 200, { access_token: 'CNRYnew', token_type: 'bearer' })
    now += HOUR
    assert.equal(await tokenNow(), 'Bearer CNRYnew')
    const { credential } = await rooms.connections.reveal(rooms.actor, 'acme', 'default')
    assert.equal(credential['refresh_token'], 'CNRYrefresh-0')
  })

  it('needs a login when the provider refuses its refresh token, and is not tried again', async () => {
    endpoint.answer = (_, response) => sendJson(response, 400, { error: 'invalid_grant' })
    now += HOUR
    await assert.rejects(resolve(), { name: 'RefreshFailedError' })
    await assert.rejects(resolve(), { name: 'TokenExpiredError' })
    assert.equal(await status(), 'needs_login')
    assert.equal(endpoint.spent.length, 1)
    assert.deepEqual(await reasons(), ['invalid_grant'])
  })

  it('needs a login, with a new registration, when the server has forgotten the client', async () => {
    const at = { issuer: endpoint.origin, redirectUri: 'http://127.0.0.1:7998/auth/callback/oauth' }
    const provider = rooms.providers.get('acme')
    const client = { id: 'broker-test', auth: 'none', ...at } as const
    await rooms.store.transaction((tx) => rooms.clients.keep(tx, rooms.actor, provider, { kind: 'registered', client }))
    assert.deepEqual(await rooms.clients.registered(rooms.actor, provider, at), client)
    endpoint.answer = (_, response) => sendJson(response, 401, { error: 'invalid_client' })
    now += HOUR
    await assert.rejects(resolve(), { name: 'RefreshFailedError' })
    assert.equal(await rooms.clients.registered(rooms.actor, provider, at), undefined)
    assert.equal(await status(), 'needs_login')
  })

  it('does not hold up a daemon that stops while another one refreshes', async () => {
    now += HOUR
    const { version } = await rooms.connections.use(rooms.actor, rooms.providers.get('acme'), undefined)
    const id = { provider: 'acme', connection: 'default' }
    assert.equal((await rooms.refreshes.begin(rooms.actor, id, version, 'due')).kind, 'leased')
    const asked = assert.rejects(resolve(), { name: 'DaemonUnavailableError' })
    while ((await rooms.refreshes.begin(rooms.actor, id, version, 'due')).kind !== 'busy');
    await Promise.all([credentials.close(), asked])
  })

  it('says so at once where it has no refresh token', async () => {
    await logIn('')
    assert.equal(await tokenNow(), 'Bearer CNRYaccess-0')
    now += HOUR
    assert.equal(await status(), 'expired')
    await assert.rejects(resolve(), { name: 'TokenExpiredError' })
  })

  it('is served to its very end while the provider is unavailable, and asked for no more than the pauses allow', async () => {
    unavailable()
    now += HOUR - 2 * 60_000
    for (let turn = 0; turn < 50; turn++) assert.equal(await tokenNow(), 'Bearer CNRYaccess-0')
    await credentials.close()
    assert.equal(endpoint.spent.length, 1)
    assert.equal(await status(), 'connected')
    assert.deepEqual(await reasons(), ['temporarily_unavailable'])
  })

  it('is served in its last seconds too, where it cannot be refreshed', async () => {
    unavailable()
    now += HOUR - 1_000
    assert.equal(await tokenNow(), 'Bearer CNRYaccess-0')
    now += 1_000
    await assert.rejects(resolve(), { name: 'RefreshFailedError' })
  })

  it('is refreshed ahead of the next request where it is in use', async () => {
    assert.equal(await tokenNow(), 'Bearer CNRYaccess-0')
    now += HOUR - 60_000
    const onFailure = (error: unknown) => assert.fail(String(error))
    credentials = newCredentials({ onFailure, lookEveryMs: 5 })
    credentials.keepFresh()
    while (endpoint.spent.length === 0) await new Promise(setImmediate)
    await credentials.close()
    assert.equal(await tokenNow(), 'Bearer CNRYaccess-1')
    const [event] = (await rooms.audit.page({ kind: 'all' }, { event: 'provider.refreshed' })).events
    assert.deepEqual([event?.identity, event?.principal_id], ['(daemon)', 'ada'])
  })

  it('is kept through trouble of the provider, and refreshed when that is over', async () => {
    unavailable({ 'retry-after': '7' })
    now += HOUR
    await assert.rejects(resolve(), (error: { name: string; options: { retryAfter?: number } }) => {
      assert.deepEqual([error.name, error.options.retryAfter], ['RefreshFailedError', 7])
      return true
    })
    await assert.rejects(resolve(), { name: 'RefreshFailedError' })
    assert.equal(endpoint.spent.length, 1)
    endpoint.answer = undefined
    now += 7_000
    credentials = newCredentials()
    assert.equal(await tokenNow(), 'Bearer CNRYaccess-1')
  })

  for (const [what, answer] of [
    ['a page of HTML with status 200', (_: unknown, response) => response.end('<!doctype html><title>Proxy</title>')],
    ['a status of 500', (_: unknown, response) => sendJson(response, 500, {})],
    ['429', (_: unknown, response) => sendJson(response, 429, { error: 'slow_down' })],
    ['no answer at all', (request) => request.socket.destroy()],
    [
      'half an answer',
      (request, response) =>
        response.writeHead(200, { 'content-length': '100' }).write('{') && request.socket.destroySoon(),
    ],
  ] as readonly (readonly [string, NonNullable<TokenEndpoint['answer']>])[])
    it(`is kept when the provider answers with ${what}`, async () => {
      endpoint.answer = answer
      now += HOUR
      await assert.rejects(resolve(), { name: 'RefreshFailedError' })
      assert.equal(await status(), 'connected')
    })

  it('is kept when the provider does not answer in time', async () => {
    credentials = newCredentials({ timeLimitMs: 100 })
    endpoint.answer = () => undefined
    now += HOUR
    await assert.rejects(resolve(), { name: 'RefreshFailedError' })
    assert.deepEqual([await status(), await reasons()], ['connected', ['time_limit']])
  })

  it('is refreshed once when its host refuses it, for all who were refused', async () => {
    const { version = 0 } = await resolve()
    const answers = await Promise.all(Array.from({ length: 50 }, () => resolve({ rejected_version: version })))
    assert.deepEqual(new Set(answers.map(({ headers }) => headers['Authorization'])), new Set(['Bearer CNRYaccess-1']))
    assert.equal(endpoint.spent.length, 1)
  })

  it('is handed out again to one who was refused, where it cannot be refreshed', async () => {
    unavailable()
    const { version = 0 } = await resolve()
    const again = await resolve({ rejected_version: version })
    assert.deepEqual([again.version, again.headers['Authorization']], [version, 'Bearer CNRYaccess-0'])
  })

  it('is not refreshed for a refusal of the one before', async () => {
    const { version = 0 } = await resolve()
    const { version: newer } = await resolve({ rejected_version: version })
    assert.equal((await resolve({ rejected_version: version })).version, newer)
    assert.equal(endpoint.spent.length, 1)
  })

  it('is stored before the daemon ends, where the provider has been asked', async () => {
    now += HOUR
    let answered = () => {}
    endpoint.hold = new Promise((resume) => {
      answered = resume
    })
    const resolved = resolve()
    while (endpoint.spent.length === 0) await new Promise(setImmediate)
    const closed = credentials.close()
    answered()
    await Promise.all([closed, resolved])
    credentials = newCredentials()
    assert.equal(await tokenNow(), 'Bearer CNRYaccess-1')
    assert.equal(endpoint.spent.length, 1)
  })

  it('is revoked by its refresh token first, after a refresh that is under way', async () => {
    now += HOUR
    const refreshed = tokenNow()
    while (endpoint.spent.length === 0) await new Promise(setImmediate)
    const revoked = await credentials.revoke(rooms.actor, 'acme')
    assert.deepEqual(revoked, { status: 'ok', provider: 'acme', removed: 1, remote: 'revoked' })
    assert.deepEqual(endpoint.revoked, ['CNRYrefresh-1', 'CNRYaccess-1'])
    await refreshed.catch(() => undefined)
  })

  it('is removed also where the provider cannot revoke it, and that is said', async () => {
    endpoint.answer = (_, response) => sendJson(response, 503, {})
    const revoked = await credentials.revoke(rooms.actor, 'acme')
    assert.deepEqual(revoked, { status: 'partial', provider: 'acme', removed: 1, remote: 'failed' })
    assert.deepEqual(await rooms.connections.list(rooms.actor), [])
    const [event] = (await rooms.audit.page({ kind: 'all' }, {})).events
    assert.deepEqual([event?.event, event?.status, event?.reason], ['provider.revoked', 'failure', 'remote_failed'])
  })
})
