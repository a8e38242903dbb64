import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { Secret, secretInput } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { findSealed, updateRow } from './connection-rows.ts'
import { type Credential, recordOf } from './credential-record.ts'
import { destinationOf } from './destination.ts'
import { type OpenedRooms, openRooms, temporaryFolder, tokenProvider } from './rooms.fixture.ts'

const ID = { provider: 'acme', connection: 'default' }
const KEY = { access_key_id: 'CNRYid', secret_access_key: 'CNRYkey' }
const CLIENT = { client_id: 'CNRYid', client_secret: 'CNRYsecret' }
const GRANT = { access_token: 'CNRYaccess', refresh_token: 'CNRYrefresh' }

describe('what a connection holds', () => {
  let rooms: OpenedRooms
  let now = Date.now()

  beforeEach(async (t) => {
    assert.ok('after' in t)
    now = Date.now()
    rooms = await openRooms({ folder: temporaryFolder(t), now: () => now })
    t.after(() => rooms.store.close())
  })

  function define(more: object): ProviderDefinition {
    const { oauth, ...rest } = tokenProvider('http://127.0.0.1:9')
    const { client_id: _, ...endpoints } = oauth
    const definition = { ...rest, oauth: { ...endpoints, grant: 'client_credentials' }, api_key: {}, ...more }
    void rooms.providers.register(rooms.providers.validate(definition), { force: true })
    return rooms.providers.get('acme').definition
  }

  async function logIn(credential: Credential): Promise<void> {
    await rooms.connections.put(rooms.actor, {
      provider: rooms.providers.get('acme'),
      connection: 'default',
      flow: credential.kind === 'oauth2' ? 'pkce' : 'api_key',
      credential,
      scopes: [],
      existing: 'refuse',
      source: 'login',
      ...(credential.kind === 'oauth2' && { expiresAt: now }),
    })
  }

  async function stored(): Promise<Readonly<Record<string, string>>> {
    const row = await findSealed(rooms.store.db, rooms.actor, ID)
    assert.ok(row?.record)
    const ref = recordOf(rooms.actor, ID)
    const { plaintext } = await rooms.vault.unseal(rooms.store.db, ref, row.destination, row.record)
    return JSON.parse(plaintext.reveal())
  }

  /** As a version that knew no kinds has left it. */
  async function storeAsBefore(fields: Readonly<Record<string, string>>, destination: string): Promise<void> {
    await rooms.store.transaction(async (tx) => {
      const text = new Secret(JSON.stringify(fields))
      await rooms.vault.put(tx, recordOf(rooms.actor, ID), destination, text)
    })
  }

  const used = () => rooms.connections.use(rooms.actor, rooms.providers.get('acme'), undefined)

  for (const [kind, fields, more] of [
    ['api_key', { api_key: 'CNRYkey' }, {}],
    ['oauth2', GRANT, {}],
    ['client_credentials', CLIENT, {}],
    ['signing', KEY, { oauth: undefined, auth_type: 'api_key', flow: 'api_key', signing: { type: 'aws_sigv4' } }],
  ] as const) {
    it(`is stored with its kind, ${kind}, and never shown with it`, async () => {
      define(more)
      await logIn({ kind, fields: secretInput(fields) })
      assert.deepEqual(await stored(), { $kind: kind, ...fields })
      assert.equal((await used()).credential.kind, kind)
      const revealed = await rooms.connections.reveal(rooms.actor, 'acme', 'default')
      assert.deepEqual(revealed.credential, fields)
      assert.equal(await rooms.connections.holds(rooms.actor, ID, secretInput(fields)), true)
    })

    it(`gets its kind, ${kind}, where it was stored before there were any`, async () => {
      const definition = define(more)
      await logIn({ kind, fields: secretInput(fields) })
      await storeAsBefore(fields, destinationOf(definition, kind, undefined))
      const { credential } = await used()
      assert.equal(credential.kind, kind)
      assert.deepEqual(Object.keys(credential.fields), Object.keys(fields))
    })
  }

  it('is stored with its kind by the next refresh, where it had none', async () => {
    const definition = define({})
    await logIn({ kind: 'oauth2', fields: secretInput(GRANT) })
    await storeAsBefore(GRANT, destinationOf(definition, 'oauth2', undefined))
    const { version } = await used()
    const beginning = await rooms.refreshes.begin(rooms.actor, ID, version, 'due')
    assert.ok(beginning.kind === 'leased')
    const { credential } = beginning.lease
    await rooms.refreshes.succeed(rooms.actor, beginning.lease, { credential, scopes: [] })
    assert.deepEqual(await stored(), { $kind: 'oauth2', ...GRANT })
  })

  it('is stored with its kind by an approval, where it had none', async () => {
    define({})
    await logIn({ kind: 'api_key', fields: secretInput({ api_key: 'CNRYkey' }) })
    await updateRow(rooms.store.db, rooms.actor, ID, { destination: 'another', allowed: null })
    await storeAsBefore({ api_key: 'CNRYkey' }, 'another')
    await rooms.connections.approve(rooms.actor, ID)
    assert.deepEqual(await stored(), { $kind: 'api_key', api_key: 'CNRYkey' })
  })
})
