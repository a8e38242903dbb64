import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, it } from 'node:test'
import { secretInput } from '../../protocol/index.ts'
import type { AuthSession } from '../../schemas/index.ts'
import { type OpenedRooms, openRooms, temporaryFolder, tokenProvider } from '../connections/rooms.fixture.ts'
import { openFlows } from '../flows/index.ts'
import { ManualClock, stateOf } from './auth-sessions.fixture.ts'
import type { AuthSessions } from './auth-sessions.ts'
import { openAuthSessions } from './open-auth-sessions.ts'

const MINUTE = 60_000
const BASE_URL = 'http://127.0.0.1:7998'

type Reply = readonly [status: number, body: object]

describe('a login session', () => {
  let rooms: OpenedRooms
  let sessions: AuthSessions
  let clock: ManualClock
  let provider: ScriptedProvider

  beforeEach(async (t) => {
    assert.ok('after' in t)
    clock = new ManualClock()
    provider = await startProvider()
    t.after(() => provider.close())
    rooms = await openRooms({ folder: temporaryFolder(t), now: clock.now })
    t.after(() => rooms.store.close())
    define({})
    sessions = openAuthSessions({
      ...rooms,
      flows: openFlows({ hosted: false, version: '0', now: clock.now }),
      baseUrl: BASE_URL,
      clock,
    })
    t.after(() => sessions.close())
  })

  function define(oauth: object, more: object = {}): void {
    const acme = tokenProvider(provider.origin)
    const device = { device_authorization_url: `${provider.origin}/device` }
    const definition = { ...acme, ...more, oauth: { ...acme.oauth, ...device, ...oauth } }
    void rooms.providers.register(rooms.providers.validate(definition), { force: true })
  }

  const begin = (more: object = {}) => sessions.begin(rooms.actor, { provider: 'acme', ...more })
  const statusOf = async ({ id }: AuthSession) => (await sessions.get(rooms.actor, id)).status
  const comeBack = (session: AuthSession) =>
    sessions.comeBack(new URLSearchParams(`state=${stateOf(session)}&code=CNRY`))
  const granted: Reply = [
    200,
    { access_token: 'at-CNRY', token_type: 'bearer', refresh_token: 'rt-CNRY', expires_in: 60 },
  ]

  async function reasons(): Promise<readonly string[]> {
    // What is written in the background comes first.
    await rooms.store.transaction(async () => undefined)
    const { events } = await rooms.audit.page({ kind: 'all' }, {})
    return events.flatMap(({ event, reason }) => (event === 'provider.login_failed' ? [reason ?? ''] : [])).reverse()
  }

  async function connected(): Promise<readonly string[]> {
    return (await rooms.connections.list(rooms.actor)).map(({ connection }) => connection)
  }

  it('ends after ten minutes, by itself, and its browser comes back to nothing', async () => {
    const session = await begin()
    assert.equal(Date.parse(session.expires_at) - Date.parse(session.created_at), 10 * MINUTE)
    await clock.pass(10 * MINUTE - 1)
    assert.equal(await statusOf(session), 'waiting_for_user')
    await clock.pass(1)
    assert.equal(await statusOf(session), 'expired')
    assert.equal(await comeBack(session), undefined)
    assert.deepEqual(provider.asked, [])
    assert.deepEqual(await reasons(), ['expired'])
  })

  it('ends in time even where nothing woke it up, as on a machine that slept', async () => {
    const session = await begin()
    clock.sleep(11 * MINUTE)
    assert.equal(await comeBack(session), undefined)
    assert.equal(await statusOf(session), 'expired')
    assert.deepEqual(provider.asked, [])
  })

  it('ends after ten minutes also where the clock is turned back meanwhile', async () => {
    const session = await begin()
    clock.turn(-60 * MINUTE)
    await clock.pass(10 * MINUTE)
    assert.equal(await statusOf(session), 'expired')
  })

  it('gives the provider ten minutes of its own after an app had to be made', async () => {
    define({ client_id: undefined, token_auth_method: undefined })
    const session = await begin()
    assert.equal(session.next_action.type, 'form')
    await clock.pass(9 * MINUTE)
    const led = await sessions.resume(rooms.actor, session.id, secretInput({ client_id: 'mine' }))
    await clock.pass(9 * MINUTE)
    provider.answers = [granted]
    assert.deepEqual(await comeBack(led), { provider: 'acme', displayName: 'Acme', connection: 'default' })
    assert.deepEqual(await connected(), ['default'])
  })

  it('asks about a code when it may, slower when told so, and never after the end', async () => {
    const pending: Reply = [400, { error: 'authorization_pending' }]
    provider.answers = [
      [
        200,
        {
          device_code: 'dc-CNRY',
          user_code: 'WDJB-MJHT',
          verification_uri: `${provider.origin}/go`,
          expires_in: 40,
          interval: 5,
        },
      ],
      pending,
      [400, { error: 'slow_down' }],
      pending,
      pending,
      pending,
    ]
    const session = await begin({ flow: 'device_code' })
    assert.equal(Date.parse(session.expires_at) - Date.parse(session.created_at), 40_000)
    const start = clock.now()
    const asked: number[] = []
    for (let second = 1; second <= 60; second++) {
      const before = provider.asked.length
      await clock.pass(1_000)
      await sessions.resume(rooms.actor, session.id, secretInput({}))
      if (provider.asked.length > before) asked.push((clock.now() - start) / 1000)
    }
    assert.deepEqual(asked, [1, 6, 16, 26, 36])
    assert.equal(await statusOf(session), 'expired')
    assert.deepEqual(await reasons(), ['expired'])
  })

  for (const [code, status, reason] of [
    ['access_denied', 'failed', 'access_denied'],
    ['expired_token', 'expired', 'expired'],
  ] as const)
    it(`is ${status} when the provider answers ${code} to a question about its code`, async () => {
      provider.answers = [deviceAnswer(provider), [400, { error: code }]]
      const session = await begin({ flow: 'device_code' })
      await clock.pass(5_000)
      await sessions.resume(rooms.actor, session.id, secretInput({}))
      assert.equal(await statusOf(session), status)
      assert.deepEqual(await reasons(), [reason])
      await clock.pass(20 * MINUTE)
      assert.equal(provider.asked.length, 2)
    })

  it('asks no more about a code once it is cancelled, and gives back what was granted meanwhile', async () => {
    provider.answers = [deviceAnswer(provider), granted]
    provider.hold = Promise.withResolvers()
    const session = await begin({ flow: 'device_code' })
    const question = provider.next()
    await clock.pass(5_000)
    await question
    assert.equal((await sessions.cancel(rooms.actor, session.id)).status, 'cancelled')
    provider.hold.resolve()
    await sessions.resume(rooms.actor, session.id, secretInput({}))
    await clock.pass(MINUTE)
    assert.deepEqual(provider.asked, ['/device', '/token', '/revoke', '/revoke'])
    assert.deepEqual(await connected(), [])
  })

  it('gives nothing back that may end the tokens of a connection that is in use', async () => {
    provider.answers = [granted, granted]
    await comeBack(await begin())
    const session = await begin({ connection: 'other' })
    provider.hold = Promise.withResolvers()
    const question = provider.next()
    const back = comeBack(session)
    await question
    await sessions.cancel(rooms.actor, session.id)
    provider.hold.resolve()
    await assert.rejects(back, /was cancelled/)
    assert.deepEqual(provider.asked, ['/token', '/token'])
    assert.deepEqual(await connected(), ['default'])
  })

  it("keeps the user's app with the first connection, and forgets it when the provider refuses it", async () => {
    define({ client_id: undefined, token_auth_method: 'client_secret_post' })
    const first = await begin()
    const input = { client_id: 'mine', client_secret: 'cs-CNRY' }
    await assert.rejects(
      sessions.resume(rooms.actor, first.id, secretInput({ client_id: 'mine' })),
      /Cannot use this as an OAuth app/,
    )
    const led = await sessions.resume(rooms.actor, first.id, secretInput(input))
    assert.equal((await begin({ connection: 'other' })).next_action.type, 'form')
    provider.answers = [granted]
    await comeBack(led)
    assert.doesNotMatch(JSON.stringify(led), /CNRY/)

    const second = await begin({ connection: 'second' })
    assert.equal(second.next_action.type, 'open_url')
    provider.answers = [[401, { error: 'invalid_client' }]]
    await assert.rejects(comeBack(second), /Acme refuses your OAuth app, which is forgotten now/)
    const { status, error } = await sessions.get(rooms.actor, second.id)
    assert.equal(status, 'failed')
    assert.equal(error?.error, 'AuthenticationFailedError')
    assert.equal((await begin({ connection: 'third' })).next_action.type, 'form')
    assert.deepEqual(await reasons(), ['InvalidRequestError', 'invalid_client'])
  })

  it('registers once, also where the definition names the endpoints and nobody an issuer', async () => {
    const registration_url = `${provider.origin}/register`
    define({ client_id: undefined, token_auth_method: undefined, registration_url }, { flow: 'dcr_pkce' })
    const made: Reply = [201, { client_id: 'made-CNRY', redirect_uris: [`${BASE_URL}/auth/callback/oauth`] }]
    provider.answers = [made, granted, granted]
    for (const connection of ['one', 'two']) await comeBack(await begin({ connection }))
    assert.deepEqual(provider.asked, ['/register', '/token', '/token'])
  })

  it('asks again where an app that was just entered is refused, and keeps nothing of it', async () => {
    define({ client_id: undefined, token_auth_method: undefined }, { flow: 'device_code' })
    const session = await begin()
    provider.answers = [[401, { error: 'invalid_client' }]]
    await assert.rejects(
      sessions.resume(rooms.actor, session.id, secretInput({ client_id: 'wrong' })),
      /invalid_client/,
    )
    assert.equal((await sessions.get(rooms.actor, session.id)).next_action.type, 'form')
    provider.answers = [deviceAnswer(provider)]
    const led = await sessions.resume(rooms.actor, session.id, secretInput({ client_id: 'right' }))
    assert.equal(led.next_action.type, 'device_code')
  })

  it('binds the token to the API that came with it, and takes none for a host that is not the provider’s', async () => {
    define({ quirks: ['api_url_in_base_url'] }, { hosts: ['*.acme.example'] })
    const answer = (url: string): Reply => [200, { ...granted[1], base_url: url }]
    provider.answers = [answer('https://eu.acme.example/v2'), answer('https://acme.evil.example')]
    await comeBack(await begin())
    const [connection] = await rooms.connections.list(rooms.actor)
    assert.equal(connection?.base_url, 'https://eu.acme.example')
    const other = await begin({ connection: 'other' })
    await assert.rejects(comeBack(other), /did not say where its API is/)
    assert.equal(await statusOf(other), 'failed')
    assert.deepEqual(await connected(), ['default'])
  })

  it('is refused before anything is asked where the connection exists, or where there is no such flow', async () => {
    provider.answers = [granted]
    await comeBack(await begin())
    await assert.rejects(begin(), { name: 'ConnectionAlreadyExistsError' })
    await assert.rejects(begin({ connection: 'b', flow: 'api_key' }), { name: 'OperationNotAllowedError' })
    define({ device_authorization_url: undefined })
    await assert.rejects(begin({ connection: 'b', flow: 'device_code' }), { name: 'OperationNotAllowedError' })
    assert.deepEqual(provider.asked, ['/token'])
  })

  it('is with a key that signs where that is said, or where there is no other', async () => {
    define({}, { api_key: {}, signing: { type: 'aws_sigv4' } })
    const fieldsOf = ({ next_action: next }: AuthSession) =>
      next.type === 'form' ? next.fields.map(({ name }) => name) : []
    assert.deepEqual(fieldsOf(await begin({ flow: 'api_key' })), ['api_key'])
    const session = await begin({ signing: true })
    assert.deepEqual(fieldsOf(session), ['access_key_id', 'secret_access_key', 'session_token'])
    assert.equal(session.flow, 'api_key')
    await assert.rejects(
      sessions.resume(rooms.actor, session.id, secretInput({ access_key_id: 'a', secret_access_key: 'CN RY' })),
      {
        name: 'InvalidRequestError',
      },
    )
    await sessions.resume(rooms.actor, session.id, secretInput({ access_key_id: 'a', secret_access_key: 'CNRY' }))
    assert.equal((await rooms.connections.list(rooms.actor))[0]?.signing, 'aws_sigv4')

    define({}, { signing: { type: 'aws_sigv4' } })
    assert.deepEqual(fieldsOf(await begin({ connection: 'b', flow: 'api_key' })), fieldsOf(session))
    await assert.rejects(begin({ connection: 'b', flow: 'pkce', signing: true }), { name: 'OperationNotAllowedError' })
    define({})
    await assert.rejects(begin({ connection: 'b', signing: true }), { name: 'OperationNotAllowedError' })
  })

  it('asks for a code’s tokens at once for one who wants to know, but not twice within an interval', async () => {
    const pending: Reply = [400, { error: 'authorization_pending' }]
    provider.answers = [deviceAnswer(provider), pending, pending, granted]
    const { id } = await begin({ flow: 'device_code' })
    const resume = () => sessions.resume(rooms.actor, id, secretInput({}))
    await resume()
    assert.deepEqual(provider.asked, ['/device', '/token'])
    clock.sleep(4_999)
    await resume()
    assert.deepEqual(provider.asked, ['/device', '/token'])
    clock.sleep(1)
    await resume()
    assert.deepEqual(provider.asked, ['/device', '/token', '/token'])
    clock.sleep(5_000)
    assert.equal((await resume()).status, 'completed')
  })

  it('ends with the daemon, and is not asked about again', async () => {
    provider.answers = [deviceAnswer(provider), granted]
    await begin({ flow: 'device_code' })
    await sessions.close()
    await clock.pass(MINUTE)
    assert.deepEqual(provider.asked, ['/device'])
  })
})

function deviceAnswer({ origin }: ScriptedProvider): Reply {
  return [200, { device_code: 'dc-CNRY', user_code: 'WDJB-MJHT', verification_uri: `${origin}/go`, interval: 5 }]
}

interface ScriptedProvider {
  readonly origin: string
  /** Paths in the order they were asked for. */
  readonly asked: string[]
  /** One for each request, in turn; what is revoked needs none. */
  answers: readonly Reply[]
  /** Waited for before each answer. */
  hold: PromiseWithResolvers<void> | undefined
  /** Resolves with the path of the next request when it has come in. */
  next(): Promise<string>
  close(): void
}

async function startProvider(): Promise<ScriptedProvider> {
  const arrivals: ((path: string) => void)[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    request.resume()
    provider.asked.push(path)
    for (const arrived of arrivals.splice(0)) arrived(path)
    if (path === '/token') await provider.hold?.promise
    if (path === '/revoke') return response.end()
    const [[status, body] = [500, {}], ...rest] = provider.answers
    provider.answers = rest
    return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider: ScriptedProvider = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    answers: [],
    hold: undefined,
    next: () => new Promise((resolve) => arrivals.push(resolve)),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return provider
}
