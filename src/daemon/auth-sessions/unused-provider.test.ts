import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { beforeEach, describe, it } from 'node:test'
import { type ScriptedServer, startScriptedServer } from '../../../test/scripted-oauth-server.ts'
import { type OpenedRooms, openRooms, temporaryFolder } from '../connections/rooms.fixture.ts'
import { openFlows } from '../flows/index.ts'
import { ManualClock, stateOf } from './auth-sessions.fixture.ts'
import type { AuthSessions } from './auth-sessions.ts'
import { openAuthSessions } from './open-auth-sessions.ts'

describe('a definition that is to go where it is unused', () => {
  let rooms: OpenedRooms
  let sessions: AuthSessions
  let clock: ManualClock
  let server: ScriptedServer
  let asked: PromiseWithResolvers<ServerResponse>

  beforeEach(async (t) => {
    assert.ok('after' in t)
    asked = Promise.withResolvers()
    server = await startScriptedServer(({ path }) =>
      path === '/token'
        ? { body: { access_token: 'at-CNRY', token_type: 'bearer' } }
        : { raw: (response) => asked.resolve(response) },
    )
    t.after(() => server.close())
    clock = new ManualClock()
    rooms = await openRooms({ folder: temporaryFolder(t), now: clock.now })
    const flows = openFlows({ hosted: false, version: '0', now: clock.now })
    sessions = openAuthSessions({ ...rooms, flows, baseUrl: 'http://127.0.0.1:7998', clock })
    t.after(() => sessions.close())
    t.after(() => rooms.store.close())
  })

  function define(oauth: object): void {
    const definition = {
      schema_version: 1,
      name: 'acme',
      display_name: 'Acme',
      auth_type: 'oauth2',
      flow: 'pkce',
      hosts: ['api.acme.example'],
      oauth: { scopes: [], client_id: 'public', token_auth_method: 'none', ...oauth },
    }
    void rooms.providers.register(rooms.providers.validate(definition), { force: true })
  }

  const defineEndpoints = () =>
    define({ authorization_url: `${server.origin}/authorize`, token_url: `${server.origin}/token` })
  const begin = (connection = 'default') => sessions.begin(rooms.actor, { provider: 'acme', connection })
  const remove = async () => (await sessions.removeUnusedProvider(rooms.actor, 'acme')).action
  const events = async () => {
    // What is done in the background comes first.
    await rooms.store.transaction(async () => undefined)
    const { events } = await rooms.audit.page({ kind: 'all' }, {})
    return events.filter(({ event }) => event === 'provider.removed').length
  }

  it('goes, and is nobody’s then', async () => {
    defineEndpoints()
    assert.equal(await remove(), 'removed')
    assert.equal(await events(), 1)
    await assert.rejects(remove(), { name: 'ProviderNotFoundError' })
  })

  it('stays where anybody is connected, in whichever vault', async () => {
    defineEndpoints()
    const session = await begin()
    await sessions.comeBack(new URLSearchParams(`state=${stateOf(session)}&code=CNRY`))
    const stranger = { ...rooms.actor, principalId: 'bob', vaultId: 'another' }
    assert.equal((await sessions.removeUnusedProvider(stranger, 'acme')).action, 'kept')
    assert.equal(await remove(), 'kept')
    assert.equal(await events(), 0)
    assert.ok(rooms.providers.find('acme'))
  })

  it('stays while a login waits for its browser, and goes with the last one', async () => {
    defineEndpoints()
    const [first, second] = [await begin('one'), await begin('two')]
    assert.equal(await remove(), 'kept')
    await sessions.cancel(rooms.actor, first.id)
    assert.equal(await events(), 0)
    assert.equal((await sessions.get(rooms.actor, second.id)).status, 'waiting_for_user')
    await clock.pass(10 * 60_000)
    assert.equal(await events(), 1)
    assert.equal(rooms.providers.find('acme'), undefined)
  })

  it('stays for good where the login that was under way has worked', async () => {
    defineEndpoints()
    const session = await begin()
    assert.equal(await remove(), 'kept')
    await sessions.comeBack(new URLSearchParams(`state=${stateOf(session)}&code=CNRY`))
    assert.equal(await events(), 0)
    assert.ok(rooms.providers.find('acme'))
  })

  it('stays while the server is asked for the first time, and goes where that is all', async () => {
    define({ issuer: server.origin })
    const login = begin()
    const response = await asked.promise
    assert.equal(await remove(), 'kept')
    asked = Promise.withResolvers()
    response.writeHead(404).end()
    void asked.promise.then((next) => next.writeHead(404).end())
    await assert.rejects(login, { name: 'AuthenticationFailedError' })
    assert.equal(await events(), 1)
    assert.equal(rooms.providers.find('acme'), undefined)
  })
})
