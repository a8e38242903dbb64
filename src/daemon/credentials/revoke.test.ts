import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { type BrokerError, Secret } from '../../protocol/index.ts'
import { type OpenedRooms, openRooms, temporaryFolder, tokenProvider } from '../connections/rooms.fixture.ts'
import { openFlows } from '../flows/index.ts'
import { type Credentials, openCredentials } from './open-credentials.ts'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.fixture.ts'

describe('a revocation', () => {
  let endpoint: TokenEndpoint
  let rooms: OpenedRooms
  let credentials: Credentials
  const flows = openFlows({ hosted: false, version: '0' })

  beforeEach(async (t) => {
    assert.ok('after' in t)
    endpoint = await startTokenEndpoint()
    t.after(() => endpoint.close())
    rooms = await openRooms({ folder: temporaryFolder(t) })
    t.after(() => rooms.store.close())
    await rooms.providers.register(tokenProvider(endpoint.origin), { force: false })
    credentials = openCredentials({ ...rooms, flows, onFailure: () => undefined })
  })

  const revoke = () => credentials.revoke(rooms.actor, 'acme')

  async function logIn(connection: string): Promise<void> {
    await rooms.connections.put(rooms.actor, {
      provider: rooms.providers.get('acme'),
      connection,
      flow: 'pkce',
      credential: {
        kind: 'oauth2',
        fields: {
          access_token: new Secret(`CNRYaccess-${connection}`),
          client_id: new Secret('app'),
          revocation_url: new Secret(`${endpoint.origin}/revoke`),
        },
      },
      scopes: [],
      client: { kind: 'own', client: { id: 'app', secret: new Secret('CNRYsecret'), auth: 'client_secret_post' } },
      existing: 'refuse',
      source: 'login',
    })
  }

  it('removes what does not open any more, too, and says that the provider was not told of it', async () => {
    await logIn('damaged')
    await logIn('whole')
    await rooms.store.db
      .updateTable('records')
      .set({ sealed: Buffer.alloc(64) })
      .where('id', '=', 'acme/damaged')
      .execute()

    assert.deepEqual(await revoke(), { status: 'partial', provider: 'acme', removed: 2, remote: 'failed' })
    assert.deepEqual(endpoint.revoked, ['CNRYaccess-whole'])
    assert.deepEqual(await rooms.connections.list(rooms.actor), [])
  })

  it('removes also what has lost its definition', async () => {
    await logIn('default')
    await rooms.providers.remove('acme')

    assert.deepEqual(await revoke(), { status: 'partial', provider: 'acme', removed: 1, remote: 'failed' })
    await assert.rejects(revoke(), { name: 'ProviderNotFoundError' })
  })

  it('forgets the app of a provider also where all its connections were logged out before', async () => {
    const app = () => rooms.clients.own(rooms.actor, rooms.providers.get('acme'))
    await logIn('default')
    await rooms.connections.logout(rooms.actor, 'acme', 'default')
    assert.equal((await app())?.id, 'app')

    assert.deepEqual(await revoke(), { status: 'ok', provider: 'acme', removed: 0, remote: 'unsupported' })
    assert.equal(await app(), undefined)
    await assert.rejects(revoke(), (error: BrokerError) => {
      assert.equal(error.name, 'ConnectionNotFoundError')
      assert.doesNotMatch(error.options.hint ?? '', /default/)
      return true
    })
  })
})
