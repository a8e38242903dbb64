import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, it } from 'node:test'
import pg from 'pg'
import { generateSigningKey } from '../src/identity/index.ts'
import { whyNot } from '../tools/available.ts'
import { type Caller, caller, owner, startDaemon, suiteCleanup } from './daemon-under-test.ts'
import { type Postgres, startPostgres } from './postgres-server.ts'
import { signedIn } from './signed-in-browser.ts'

const MASTER_KEY = randomBytes(32)
const NOW = '2026-11-22T09:00:00.000Z'
const EVE = { email: 'eve@example.com', password: 'CNRY another long phrase' }
const BOSS = { email: 'boss@example.com', password: 'CNRY correct horse battery' }

describe('a row that another hand wrote, on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  before(async () => {
    postgres = await startPostgres(cleanup)
  })

  /** A database of its own, and what asks it past the daemons. */
  async function database(name: string) {
    const url = await postgres.newDatabase(name)
    const client = new pg.Client(url)
    await client.connect()
    cleanup.after(() => client.end())
    const ask = async (query: string, values: unknown[] = []) => (await client.query(query, values)).rows
    const env = { BROKER_DATABASE_URL: url, BROKER_MASTER_KEY: MASTER_KEY.toString('base64') }
    return { ask, env }
  }

  const statusOf = async (who: Caller) => (await who.call('GET', '/api/whoami')).status
  const issuesOf = async (who: Caller) => (await who.call('GET', '/api/ready')).body.issues?.join(' ') ?? ''

  it('confers nothing at any daemon and is named: an agent, a role, a removed agent with its list', async () => {
    const { ask, env } = await database('attacked')
    const [here, there] = [await startDaemon(cleanup, { env }), await startDaemon(cleanup, { env })]
    const [ada, helper, mallory] = [await owner(here, 'ada'), await owner(here, 'helper'), generateSigningKey()]
    await signedIn(here, 'register', BOSS)
    const eve = await signedIn(here, 'register', EVE)
    const adaThere = caller(there, 'ada', ada.key)
    const [principal] = await ask('select principal_id as id from identities where handle = $1', ['ada'])

    await ask('insert into identities (id, handle, did, principal_id, created_at) values ($1, $2, $3, $4, $5)', [
      'm',
      'mallory',
      mallory.did,
      principal.id,
      NOW,
    ])
    await ask(`update principals set role = 'admin' where id = $1`, [eve.principalId])
    for (const daemon of [here, there]) assert.equal(await statusOf(caller(daemon, 'mallory', mallory)), 401)
    assert.equal((await eve.call('GET', '/api/me')).status, 401)
    for (const who of [ada, adaThere]) {
      assert.match(await issuesOf(who), /principal "[\w-]+" was changed[\s\S]*identity "mallory" was changed/)
      assert.equal(await statusOf(who), 200)
    }
    const { body } = await adaThere.call('POST', '/api/vault/restore')
    assert.equal(body.rights.length, 2)
    for (const who of [ada, adaThere]) assert.equal(await issuesOf(who), '')
    assert.equal((await eve.call('GET', '/api/me')).body.role, 'user')

    const rows = await ask(`select * from identities where handle = 'helper'`)
    const lists = await ask('select * from manifests where vault_id = $1', [`rights/${principal.id}`])
    assert.equal((await adaThere.call('DELETE', '/api/identities/helper')).status, 200)
    for (const who of [ada, adaThere]) assert.equal(await statusOf(who), 200)
    const { id, handle, did, principal_id, created_at, mac } = rows[0]
    const again = [id, handle, did, principal_id, created_at, mac]
    await ask(
      'insert into identities (id, handle, did, principal_id, created_at, mac) values ($1, $2, $3, $4, $5, $6)',
      again,
    )
    for (const daemon of [here, there]) assert.equal(await statusOf(caller(daemon, 'helper', helper.key)), 401)
    const { generation, sealed } = lists[0]
    await ask('update manifests set generation = $1, sealed = $2 where vault_id = $3', [
      generation,
      sealed,
      lists[0].vault_id,
    ])
    for (const daemon of [here, there]) assert.equal(await statusOf(caller(daemon, 'helper', helper.key)), 401)
    for (const who of [ada, adaThere]) assert.match(await issuesOf(who), /older than the last one seen here/)
  })

  it('is nothing that two daemons see in each other: changes at one cross requests at the other', async () => {
    const { env } = await database('crossing')
    const [here, there] = [await startDaemon(cleanup, { env }), await startDaemon(cleanup, { env })]
    const ada = await owner(here, 'ada')
    const adaThere = caller(there, 'ada', ada.key)
    let isChanging = true
    const ask = async (who: Caller) => {
      const seen = new Set<number>()
      while (isChanging) seen.add(await statusOf(who))
      return seen
    }
    const asked = [ada, adaThere, adaThere, adaThere].map(ask)
    for (let round = 0; round < 15; round += 1) {
      await owner(round % 2 === 0 ? here : there, `agent-${round}`)
      assert.equal((await ada.call('DELETE', `/api/identities/agent-${round}`)).status, 200)
    }
    isChanging = false
    assert.deepEqual(await Promise.all(asked), Array(4).fill(new Set([200])))
    assert.deepEqual([await issuesOf(ada), await issuesOf(adaThere)], ['', ''])
  })
})
