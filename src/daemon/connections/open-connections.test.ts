import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { Secret } from '../../protocol/index.ts'
import { openRooms } from './rooms.fixture.ts'

const DEFINITION = {
  schema_version: 1,
  name: 'acme',
  display_name: 'Acme',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: ['api.acme.example'],
  api_key: {},
} as const

describe('a connection that is logged in to again', () => {
  it('keeps what a login does not change, also what this version does not know', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
    t.after(() => rmSync(folder, { recursive: true }))
    let now = Date.parse('2026-11-22T10:00:00Z')
    const rooms = await openRooms({ folder, now: () => now })
    t.after(() => rooms.store.close())
    await rooms.providers.register({ ...DEFINITION, hosts: [...DEFINITION.hosts] }, { force: false })
    const logIn = (connection: string, key: string) =>
      rooms.connections.put(rooms.actor, {
        provider: rooms.providers.get('acme'),
        connection,
        flow: 'api_key',
        credential: { kind: 'api_key', fields: { api_key: new Secret(key) } },
        scopes: [],
        existing: 'replace',
        source: 'login',
      })
    const row = (connection: string) =>
      rooms.store.db
        .selectFrom('connections')
        .selectAll()
        .where('connection', '=', connection)
        .executeTakeFirstOrThrow()

    await logIn('default', 'CNRYfirst')
    await logIn('other', 'CNRYother')
    await sql`alter table connections add column colour text`.execute(rooms.store.db)
    await sql`update connections set colour = 'red', problem = 'needs_login'`.execute(rooms.store.db)
    const before = await row('default')
    now += 60_000
    await logIn('default', 'CNRYsecond')

    const after = await row('default')
    assert.deepEqual({ ...after }, { ...before, problem: null, updated_at: new Date(now).toISOString() })
    assert.equal((after as { colour?: string }).colour, 'red')
    const used = await rooms.connections.use(rooms.actor, rooms.providers.get('acme'), 'default')
    assert.equal(used.credential.fields['api_key']?.reveal(), 'CNRYsecond')
  })
})
