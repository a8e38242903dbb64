import assert from 'node:assert/strict'
import { beforeEach, describe, it, type TestContext } from 'node:test'
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  type ScriptedServer,
  startScriptedServer,
} from '../../../test/scripted-oauth-server.ts'
import { BrokerError, secretInput } from '../../protocol/index.ts'
import type { AuthSession } from '../../schemas/index.ts'
import { type OpenedRooms, openRooms, temporaryFolder } from '../connections/rooms.fixture.ts'
import { openFlows } from '../flows/index.ts'
import { ManualClock, stateOf } from './auth-sessions.fixture.ts'
import type { AuthSessions } from './auth-sessions.ts'
import { openAuthSessions } from './open-auth-sessions.ts'

const MINUTE = 60_000
const BASE_URL = 'http://127.0.0.1:7998'
const TOKENS = { access_token: 'at-CNRY', token_type: 'bearer', refresh_token: 'rt-CNRY', expires_in: 3600 }
const GRANTED: ScriptedAnswer = { body: TOKENS }
const FORGOTTEN: ScriptedAnswer = { status: 401, body: { error: 'invalid_client' } }

describe('a login at a server that behaves in its own way', () => {
  let rooms: OpenedRooms
  let sessions: AuthSessions
  let clock: ManualClock
  let server: ScriptedServer
  let metadata: object
  let resource: object
  let token: ScriptedAnswer
  let registered: (count: number) => ScriptedAnswer
  let device: ScriptedAnswer

  beforeEach(async (t) => {
    assert.ok('after' in t)
    metadata = {}
    resource = {}
    token = GRANTED
    registered = (count) => ({ status: 201, body: { client_id: `client-${count}` } })
    device = { status: 404 }
    server = await startScriptedServer(script)
    t.after(() => server.close())
    clock = new ManualClock()
    rooms = await openRooms({ folder: temporaryFolder(t), now: clock.now })
    openSessions(t)
    t.after(() => rooms.store.close())
    define()
  })

  function openSessions(t: TestContext): void {
    const flows = openFlows({ hosted: false, version: '0', now: clock.now })
    sessions = openAuthSessions({ ...rooms, flows, baseUrl: BASE_URL, clock })
    t.after(() => sessions.close())
  }

  function script({ path }: ScriptedRequest, origin: string): ScriptedAnswer | undefined {
    switch (path) {
      case '/.well-known/oauth-protected-resource/mcp':
        return { body: { resource: `${origin}/mcp`, authorization_servers: [origin], ...resource } }
      case '/.well-known/oauth-authorization-server':
        return {
          body: {
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            device_authorization_endpoint: `${origin}/device`,
            code_challenge_methods_supported: ['S256'],
            ...metadata,
          },
        }
      case '/register':
        return registered(server.requestsTo('/register').length)
      case '/token':
        return token
      case '/device':
        return device
      default:
        return undefined
    }
  }

  function define(oauth: object = {}, more: object = {}): void {
    const definition = {
      schema_version: 1,
      name: 'acme',
      display_name: 'Acme',
      auth_type: 'oauth2',
      flow: 'dcr_pkce',
      hosts: ['api.acme.example'],
      ...more,
      oauth: { resource: `${server.origin}/mcp`, scopes: [], ...oauth },
    }
    void rooms.providers.register(rooms.providers.validate(definition), { force: true })
  }

  const begin = (more: object = {}) => sessions.begin(rooms.actor, { provider: 'acme', ...more })
  const resume = ({ id }: AuthSession, input: Record<string, string>) =>
    sessions.resume(rooms.actor, id, secretInput(input))
  const comeBack = (session: AuthSession, more = 'code=CNRY') =>
    sessions.comeBack(new URLSearchParams(`state=${stateOf(session)}&iss=${server.origin}&${more}`))
  const asked = (session: AuthSession, name: string) => {
    assert.equal(session.next_action.type, 'open_url')
    return new URL(session.next_action.url).searchParams.get(name)
  }
  const clientOf = (session: AuthSession) => asked(session, 'client_id')

  async function refusal(work: Promise<unknown>): Promise<BrokerError> {
    const error = await work.then(
      () => assert.fail('it did not fail'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof BrokerError, String(error))
    assert.doesNotMatch(JSON.stringify([error.message, error.options.hint]), /CNRY/)
    return error
  }

  describe('that has forgotten our registration', () => {
    beforeEach(async () => {
      await comeBack(await begin())
    })

    it('uses the one it has, for as long as that works', async () => {
      assert.equal(clientOf(await begin({ connection: 'b' })), 'client-1')
    })

    it('registers anew with --force', async () => {
      const session = await begin({ force: true })
      assert.equal(clientOf(session), 'client-2')
      await comeBack(session)
      assert.equal(clientOf(await begin({ connection: 'b' })), 'client-2')
    })

    it('registers anew after it has said so', async () => {
      const session = await begin({ connection: 'b' })
      token = FORGOTTEN
      const error = await refusal(comeBack(session))
      assert.match(error.message, /refuses the client it had registered, which is forgotten now/)
      assert.equal(clientOf(await begin({ connection: 'b' })), 'client-2')
    })

    for (const [what, leave] of [
      ['was given up', async (session: AuthSession) => void (await sessions.cancel(rooms.actor, session.id))],
      ['ended without a word', async () => clock.pass(10 * MINUTE)],
      [
        'was over when the machine woke up',
        async (session: AuthSession) => {
          clock.sleep(11 * MINUTE)
          await sessions.get(rooms.actor, session.id)
        },
      ],
      ['ended with the daemon', async () => sessions.close()],
      [
        'came back with an error',
        async (session: AuthSession) => void (await comeBack(session, 'error=invalid_request').catch(() => undefined)),
      ],
    ] as const)
      it(`registers anew after a login that ${what}, also after the daemon was started again`, async (t) => {
        const session = await begin({ connection: 'b' })
        assert.equal(clientOf(session), 'client-1')
        await leave(session)
        await rooms.store.transaction(async () => undefined)
        await sessions.close()
        openSessions(t)
        assert.equal(clientOf(await begin({ connection: 'b' })), 'client-2')
        await sessions.close()
      })

    it('says that a server registers no clients where it asks for one', async () => {
      registered = () => ({ status: 403, body: { error: 'access_denied' } })
      const { next_action: next } = await begin({ force: true })
      assert.ok(next.type === 'form')
      assert.match(next.fields[0]?.help ?? '', /^the server registers no clients by itself: of an OAuth app with/)
    })

    it('keeps the registration where it was the user who said no', async () => {
      await comeBack(await begin({ connection: 'b' }), 'error=access_denied').catch(() => undefined)
      assert.equal(clientOf(await begin({ connection: 'b' })), 'client-1')
    })

    it('leaves the connections of before as they are, with the client they were made with', async () => {
      await sessions.cancel(rooms.actor, (await begin({ connection: 'b' })).id)
      await comeBack(await begin({ connection: 'b' }))
      const clients = await Promise.all(
        ['default', 'b'].map(async (name) => (await rooms.connections.reveal(rooms.actor, 'acme', name)).credential),
      )
      assert.deepEqual(
        clients.map((credential) => credential?.['client_id']),
        ['client-1', 'client-2'],
      )
    })
  })

  describe('with an app of the user', () => {
    const APP = { client_id: 'app-1', client_secret: 'secret-CNRY' }
    beforeEach(() => define({ token_auth_method: 'client_secret_post' }, { flow: 'pkce' }))

    for (const [who, answer] of [
      ['RFC 6749', FORGOTTEN],
      ['Google', { status: 401, body: { error: 'invalid_client', error_description: 'Unauthorized' } }],
      ['GitHub', { body: { error: 'incorrect_client_credentials', error_description: 'They are incorrect.' } }],
      ['Slack, of the secret', { body: { ok: false, error: 'bad_client_secret' } }],
      ['Slack, of the id', { body: { ok: false, error: 'invalid_client_id' } }],
      [
        'Microsoft, of the secret',
        {
          status: 401,
          body: { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' },
        },
      ],
      [
        'Microsoft, of the id',
        {
          status: 400,
          body: {
            error: 'unauthorized_client',
            error_description: "AADSTS700016: Application with identifier 'x' was not found.",
          },
        },
      ],
      ['one that says little', { status: 401, body: { error: 'unauthorized' } }],
      [
        'one that says it in HTML',
        { status: 401, headers: { 'content-type': 'text/html' }, body: '<html>CNRY</html>' },
      ],
    ] as const)
      it(`says that its id or secret is wrong, and keeps nothing, as ${who} has it`, async () => {
        const session = await resume(await begin(), APP)
        token = answer
        const error = await refusal(comeBack(session))
        assert.equal(error.name, 'AuthenticationFailedError')
        assert.match(error.message, /^Acme refuses the id or secret of your OAuth app/)
        assert.match(error.options.hint ?? '', /enter them again: broker login acme$/)
        assert.equal((await begin()).next_action.type, 'form')
      })

    for (const [what, answer] of [
      ['the code', { status: 400, body: { error: 'invalid_grant' } }],
      ['the code, with a 401', { status: 401, body: { error: 'invalid_grant' } }],
      ['the code, as GitHub has it', { body: { error: 'bad_verification_code' } }],
      ['everybody for now', { status: 503 }],
    ] as const)
      it(`does not say so where the server refuses ${what}`, async () => {
        const session = await resume(await begin(), APP)
        token = answer
        const { message } = await refusal(comeBack(session))
        assert.doesNotMatch(message, /id or secret/)
      })

    it('says so at a device login, where it can be entered again at once', async () => {
      define({}, { flow: 'device_code' })
      const session = await begin()
      device = { status: 401, body: { error: 'invalid_client' } }
      const { message } = await refusal(resume(session, { client_id: 'wrong' }))
      assert.match(message, /^Acme refuses the id or secret of your OAuth app/)
      assert.equal((await sessions.get(rooms.actor, session.id)).next_action.type, 'form')
    })

    it('does not forget a kept one for what the server may have meant otherwise', async () => {
      await comeBack(await resume(await begin(), APP))
      const session = await begin({ connection: 'b' })
      token = { status: 400, body: { error: 'unauthorized_client' } }
      const { options } = await refusal(comeBack(session))
      assert.match(options.hint ?? '', /broker login acme --new-client/)
      assert.equal(clientOf(await begin({ connection: 'b' })), 'app-1')
    })

    it('asks for another with --new-client, and leaves the first in its place until that has worked', async () => {
      await comeBack(await resume(await begin(), APP))
      const session = await begin({ connection: 'b', new_client: true })
      assert.equal(session.next_action.type, 'form')
      await sessions.cancel(rooms.actor, session.id)
      assert.equal(clientOf(await begin({ connection: 'b' })), 'app-1')
      await comeBack(await resume(await begin({ connection: 'b', new_client: true }), { ...APP, client_id: 'app-2' }))
      assert.equal(clientOf(await begin({ connection: 'c' })), 'app-2')
    })

    it('keeps the first for the connections that were made with it', async () => {
      await comeBack(await resume(await begin(), APP))
      const other = { client_id: 'app-2', client_secret: 'another-CNRY' }
      await comeBack(await resume(await begin({ connection: 'b', new_client: true }), other))
      const provider = rooms.providers.get('acme')
      const secretOf = async (id: string) => (await rooms.clients.ownById(rooms.actor, provider, id))?.secret?.reveal()
      assert.deepEqual([await secretOf('app-1'), await secretOf('app-2')], ['secret-CNRY', 'another-CNRY'])
      assert.equal(await secretOf('app-3'), undefined)
    })

    it('is not asked for where there is nothing to replace', async () => {
      define({ client_id: 'public', token_auth_method: 'none' }, { flow: 'pkce', api_key: {} })
      assert.equal((await refusal(begin({ new_client: true }))).name, 'OperationNotAllowedError')
      assert.equal((await refusal(begin({ new_client: true, flow: 'api_key' }))).name, 'OperationNotAllowedError')
    })
  })

  describe('that gives a refresh token only where it is asked for', () => {
    beforeEach(() => {
      metadata = { scopes_supported: ['openid', 'tools', 'offline_access'] }
      resource = { scopes_supported: ['tools'] }
    })

    it('is asked for it, also at the registration', async () => {
      const session = await begin()
      assert.equal(asked(session, 'scope'), 'tools offline_access')
      assert.equal(asked(session, 'prompt'), 'consent')
      assert.equal(JSON.parse(server.requestsTo('/register')[0]?.body ?? '').scope, 'tools offline_access')
    })

    it('is asked for it beside the definition’s scopes where Broker registers itself', async () => {
      define({ scopes: ['openid'] })
      assert.equal(asked(await begin(), 'scope'), 'openid offline_access')
      define({ scopes: ['openid'], client_id: 'public', authorize_params: { prompt: 'login' } }, { flow: 'pkce' })
      assert.equal(asked(await begin(), 'scope'), 'openid')
      assert.equal(asked(await begin(), 'prompt'), 'login')
    })

    it('is asked for what the user names, and nothing else', async () => {
      const session = await begin({ scopes: ['tools'] })
      assert.equal(asked(session, 'scope'), 'tools')
      assert.equal(asked(session, 'prompt'), null)
    })

    it('is not asked for it in place of scopes that nobody named', async () => {
      resource = {}
      assert.equal(asked(await begin(), 'scope'), null)
      metadata = { scopes_supported: ['openid', 'email', 'offline_access'] }
      assert.equal(asked(await begin({ force: true }), 'scope'), 'openid offline_access')
    })

    it('is not asked for it where it does not list it', async () => {
      metadata = { scopes_supported: ['tools'] }
      assert.equal(asked(await begin(), 'scope'), 'tools')
    })

    it('says which scopes it refused, and how to ask for others', async () => {
      const error = await refusal(comeBack(await begin(), 'error=invalid_scope'))
      assert.match(error.message, /^Acme does not grant what was asked for \(invalid_scope\): tools, offline_access$/)
      assert.match(error.options.hint ?? '', /broker login acme --scopes tools$/)
    })
  })

  describe('that wants what Broker does not do', () => {
    const wanting = async (more: object = {}) => {
      const error = await refusal(begin(more))
      assert.deepEqual([server.requestsTo('/register').length, server.requestsTo('/device').length], [0, 0])
      assert.equal(error.name, 'OperationNotAllowedError')
      return error
    }

    for (const [what, said, words] of [
      ['pushed requests', { require_pushed_authorization_requests: true }, /PAR, RFC 9126/],
      ['signed requests', { require_signed_request_object: true }, /JAR, RFC 9101/],
      ['a key of its clients', { token_endpoint_auth_methods_supported: ['private_key_jwt'] }, /private_key_jwt/],
      [
        'a certificate of its clients',
        { token_endpoint_auth_methods_supported: ['tls_client_auth', 'client_secret_jwt'] },
        /tls_client_auth or client_secret_jwt/,
      ],
    ] as const)
      it(`is told before anything else: ${what}`, async () => {
        metadata = said
        assert.match((await wanting()).message, words)
      })

    it('is told where the resource takes no bearer tokens', async () => {
      resource = { dpop_bound_access_tokens_required: true }
      assert.match((await wanting()).message, /DPoP, RFC 9449/)
    })

    it('is told with the key that the service takes instead', async () => {
      metadata = { require_pushed_authorization_requests: true }
      define({}, { api_key: {} })
      assert.match((await wanting()).options.hint ?? '', /broker login acme --flow api_key/)
    })

    it('is told before an app is asked for', async () => {
      define({}, { flow: 'pkce' })
      metadata = { require_pushed_authorization_requests: true }
      await wanting()
    })

    it('is no matter where it is not wanted of this login', async () => {
      define({}, { flow: 'device_code' })
      metadata = { require_pushed_authorization_requests: true, token_endpoint_auth_methods_supported: [] }
      assert.equal((await begin()).next_action.type, 'form')
      define({ client_id: 'public', token_auth_method: 'none' }, { flow: 'pkce' })
      metadata = { token_endpoint_auth_methods_supported: ['private_key_jwt'] }
      assert.equal(clientOf(await begin()), 'public')
    })

    for (const member of [
      'dpop_bound_access_tokens',
      'tls_client_certificate_bound_access_tokens',
      'require_pushed_authorization_requests',
      'require_signed_request_object',
    ])
      it(`is told where only the registration says so: ${member}`, async () => {
        registered = () => ({ status: 201, body: { client_id: 'x', [member]: true } })
        const error = await refusal(begin())
        assert.match(error.message, /which Broker does not do/)
      })
  })
})
