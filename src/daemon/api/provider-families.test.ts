import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { type ScriptedServer, startScriptedServer } from '../../../test/scripted-oauth-server.ts'
import { toPlainWire } from '../../injection/index.ts'
import { BrokerError, secretInput } from '../../protocol/index.ts'
import { stateOf } from '../auth-sessions/auth-sessions.fixture.ts'
import { type AuthSessions, openAuthSessions } from '../auth-sessions/index.ts'
import { type OpenedRooms, openRooms, temporaryFolder } from '../connections/rooms.fixture.ts'
import { type Credentials, openCredentials } from '../credentials/index.ts'
import { openFlows } from '../flows/index.ts'

const REFUSED = { status: 401, body: { error: 'invalid_client' } }
const APP = { client_id: 'app-1', client_secret: 'secret-CNRY' }

/** One provider with two products, each of which has a definition of its own. */
describe('a provider and its products', () => {
  let rooms: OpenedRooms
  let sessions: AuthSessions
  let credentials: Credentials
  let server: ScriptedServer
  let knowsApp: boolean

  beforeEach(async (t) => {
    assert.ok('after' in t)
    knowsApp = true
    server = await startScriptedServer(({ path, form }) => {
      if (path !== '/token') return { body: {} }
      if (!knowsApp || form.get('client_secret') !== APP.client_secret) return REFUSED
      const asked = form.get('code') ?? 'refreshed'
      return {
        body: { access_token: `at-CNRY-${asked}`, token_type: 'bearer', refresh_token: 'rt-CNRY', expires_in: 9 },
      }
    })
    t.after(() => server.close())
    rooms = await openRooms({ folder: temporaryFolder(t) })
    t.after(() => rooms.store.close())
    const flows = openFlows({ hosted: false, version: '0' })
    credentials = openCredentials({ ...rooms, flows, onFailure: assert.ifError })
    sessions = openAuthSessions({ ...rooms, flows, baseUrl: 'http://127.0.0.1:7998' })
    t.after(() => sessions.close())
    define('acme', ['mail.acme.example', 'files.acme.example', 'www.acme.example'], {
      scope_names: { mail: ['https://acme.example/mail.read', 'https://acme.example/mail.send'], email: ['email'] },
    })
    define('acme-mail', ['mail.acme.example', 'www.acme.example/mail/*'], {}, 'acme')
    define('acme-files', ['files.acme.example'], {}, 'acme')
  })

  function define(name: string, hosts: readonly string[], oauth: object, partOf?: string): void {
    const definition = {
      schema_version: 1,
      name,
      display_name: name,
      auth_type: 'oauth2',
      flow: 'pkce',
      hosts,
      ...(partOf !== undefined && { part_of: partOf }),
      oauth: {
        authorization_url: `${server.origin}/authorize`,
        token_url: `${server.origin}/token`,
        scopes: ['basic'],
        token_auth_method: 'client_secret_post',
        ...oauth,
      },
    }
    void rooms.providers.register(rooms.providers.validate(definition), { force: true })
  }

  const begin = (provider: string, more: object = {}) => sessions.begin(rooms.actor, { provider, ...more })

  /** @param more of its first connection: the app that it is asked for */
  async function logIn(provider: string, app?: typeof APP): Promise<void> {
    const begun = await begin(provider, { force: true })
    assert.equal(begun.next_action.type, app ? 'form' : 'open_url')
    const session = app ? await sessions.resume(rooms.actor, begun.id, secretInput(app)) : begun
    await sessions.comeBack(new URLSearchParams(`state=${stateOf(session)}&code=${provider}`))
  }

  /** Returns who serves a request, and with what. */
  async function servedBy(host: string, path = '/x'): Promise<string> {
    const resolved = await credentials.resolve(rooms.actor, { host, path })
    return `${resolved.provider} ${toPlainWire(resolved).headers['Authorization']}`
  }

  const appsShown = () => server.requestsTo('/token').map(({ form }) => form.get('client_id'))

  it('share an app: made for one product, it serves the whole and the others', async () => {
    await logIn('acme-mail', APP)
    await logIn('acme')
    await logIn('acme-files')
    assert.deepEqual(appsShown(), ['app-1', 'app-1', 'app-1'])
  })

  it('share an app that was made for the whole, which is a product’s own from its login on', async () => {
    await logIn('acme', APP)
    await logIn('acme-files')
    await rooms.store.transaction((tx) => rooms.connections.removeAll(tx, rooms.actor, 'acme'))
    const { credential } = await rooms.connections.use(rooms.actor, rooms.providers.get('acme-files'), undefined)
    assert.equal(credential.fields['client_secret']?.reveal(), APP.client_secret)
    assert.equal((await begin('acme')).next_action.type, 'form')
  })

  it('forget an app together once it is refused, and take another together', async () => {
    await logIn('acme', APP)
    knowsApp = false
    await assert.rejects(logIn('acme-mail'), /refuses your OAuth app, which is forgotten now/)
    assert.equal((await begin('acme-files')).next_action.type, 'form')
    knowsApp = true
    await logIn('acme-files', { ...APP, client_id: 'app-2' })
    await logIn('acme')
    assert.deepEqual(appsShown().slice(2), ['app-2', 'app-2'])
  })

  it('share nothing with a definition that shows the app to somebody else', async () => {
    define('acme-mail', ['mail.acme.example'], { token_url: `${server.origin}/elsewhere` }, 'acme')
    await logIn('acme', APP)
    assert.equal((await begin('acme-mail')).next_action.type, 'form')
    await assert.rejects(servedBy('mail.acme.example'), /More than one provider matches/)
  })

  it('serve a host of both by the product’s own login where there is one, and else by that of the whole', async () => {
    await logIn('acme', APP)
    assert.equal(await servedBy('mail.acme.example'), 'acme Bearer at-CNRY-acme')
    assert.equal(await servedBy('www.acme.example', '/mail/x'), 'acme Bearer at-CNRY-acme')
    await logIn('acme-mail')
    assert.equal(await servedBy('mail.acme.example'), 'acme-mail Bearer at-CNRY-acme-mail')
    assert.equal(await servedBy('www.acme.example', '/mail/x'), 'acme-mail Bearer at-CNRY-acme-mail')
    assert.equal(await servedBy('www.acme.example', '/other'), 'acme Bearer at-CNRY-acme')
    assert.equal(await servedBy('files.acme.example'), 'acme Bearer at-CNRY-acme')
    const { routes } = await credentials.routes(rooms.actor, 'connected')
    assert.deepEqual(
      routes.map(({ provider, host, path_prefix = '' }) => `${provider} ${host}${path_prefix}`),
      [
        'acme mail.acme.example',
        'acme files.acme.example',
        'acme www.acme.example',
        'acme-mail mail.acme.example',
        'acme-mail www.acme.example/mail/',
      ],
    )
  })

  it('are no ties that anybody would have to be warned of', () => {
    assert.deepEqual(rooms.providers.health(), { issues: [], warnings: [] })
  })

  const scopesOf = async (scopes: readonly string[]) => {
    const session = await begin('acme', { scopes, force: true })
    assert.equal(session.next_action.type, 'open_url')
    return new URL(session.next_action.url).searchParams.get('scope')
  }

  it('take short names for scopes, beside scopes', async () => {
    await logIn('acme', APP)
    const mail = 'https://acme.example/mail.read https://acme.example/mail.send'
    assert.equal(await scopesOf(['mail', 'email']), `${mail} email`)
    assert.equal(await scopesOf(['https://acme.example/other', 'mail', 'mail']), `https://acme.example/other ${mail}`)
    assert.equal(await scopesOf(['constructor']), 'constructor')
  })

  it('refuse what is nearly a short name, and say which', async () => {
    await assert.rejects(
      scopesOf(['mial']),
      (error) => error instanceof BrokerError && /Did you mean mail\?/.test(error.options.hint ?? ''),
    )
  })
})
