import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, it } from 'node:test'
import pg from 'pg'
import { caller, owner, startDaemon, suiteCleanup } from '../../../test/daemon-under-test.ts'
import { startPostgres } from '../../../test/postgres-server.ts'
import {
  type AttackedHome,
  atStore,
  BOSS,
  copyOf,
  EVE,
  makePeople,
  type Served,
  serve,
  signInStatus,
} from '../../../test/rights-world.ts'
import { whyNot } from '../../../tools/available.ts'
import { manifestsOfBefore, takeBack } from './home-of-before.fixture.ts'

describe('a home of before rows were sealed', () => {
  let today: AttackedHome
  const cleanup = suiteCleanup()
  before(async () => {
    today = await makePeople(cleanup)
  })

  async function isTheOwners({ ada, helper, run, stray }: Served): Promise<void> {
    const { body } = await ada.call('GET', '/api/ready')
    assert.deepEqual([body.status, body.issues], ['ready', undefined])
    assert.match(body.warnings.join(), /taken as they were found\. Are these all your agents: ada, helper\b/)
    for (const one of [ada, run]) {
      assert.equal((await one.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
    }
    assert.equal((await helper.call('GET', '/api/whoami')).body.principal_role, 'admin')
    assert.equal((await stray.call('GET', '/api/whoami')).body.error, 'IdentityNotClaimedError')
    const { events } = (await ada.call('GET', '/api/audit/events?event=rights.sealed')).body
    assert.equal(events.length, 1)
    assert.match(events[0].reason, /principals: \d, .*identities: \d/)
  }

  for (const migrationCount of [1, 2] as const) {
    it(`is upgraded from migration ${migrationCount}: its agents, runs and open registrations work, and are sealed once`, async (t) => {
      const home = copyOf(t, today)
      takeBack(home, migrationCount)
      const served = await serve(t, home)
      await isTheOwners(served)
      assert.equal((await owner(served.daemon, 'newcomer')).handle, 'newcomer')
      const { body } = await served.helper.call('GET', '/api/identities')
      assert.deepEqual(
        body.identities.map(({ identity }: { identity: string }) => identity),
        ['ada', 'helper', 'newcomer'],
      )
      await served.daemon.stop()
      await isTheOwners(await serve(t, home))
    })
  }

  it('is upgraded from migration 3: accounts, browsers and their agents work too, under the ids that they had', async (t) => {
    const home = copyOf(t, today)
    takeBack(home, 3)
    const served = await serve(t, home)
    await isTheOwners(served)
    assert.equal((await served.boss('GET', '/api/me')).body.principal_id, home.people.boss.principalId)
    assert.deepEqual((await served.eve('GET', '/api/me')).body, {
      principal_id: home.people.eve.principalId,
      role: 'user',
      email: EVE.email,
    })
    assert.equal((await served.ci.call('GET', '/api/whoami')).body.principal_id, home.people.eve.principalId)
    assert.deepEqual([await signInStatus(served.daemon, BOSS), await signInStatus(served.daemon, EVE)], [200, 200])
    assert.deepEqual(
      atStore(home.home, (store) => store.all('select id from principals where local_owner = 1').length),
      1,
    )
    await served.daemon.stop()
    const again = await serve(t, home)
    assert.equal((await again.ada.call('GET', '/api/ready')).body.status, 'ready')
    assert.equal((await again.eve('GET', '/api/me')).status, 200)
  })
})

describe('a store on Postgres of before rows were sealed', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()

  it('is sealed by one of two daemons that start at once, and never again', async () => {
    const postgres = await startPostgres(cleanup)
    const masterKey = randomBytes(32)
    const env = { BROKER_DATABASE_URL: postgres.url, BROKER_MASTER_KEY: masterKey.toString('base64') }
    const client = new pg.Client(postgres.url)
    await client.connect()
    cleanup.after(() => client.end())
    const ask = async (query: string, values: unknown[] = []) => (await client.query(query, values)).rows
    const first = await startDaemon(cleanup, { env })
    const ada = await owner(first, 'ada')
    await first.stop()
    const [{ deployment_id }] = (await ask('select deployment_id from vault_sources')) as [{ deployment_id: string }]
    const stored = (await ask('select vault_id, generation::int, sealed from manifests')) as never
    const before = manifestsOfBefore(masterKey, deployment_id, stored)
    await ask('delete from manifests')
    for (const { vault_id, generation, sealed } of before) {
      await ask('insert into manifests values ($1, $2, $3)', [vault_id, generation, sealed])
    }
    await ask(`delete from data_keys where vault_id = 'rights'`)
    for (const table of ['principals', 'identities']) await ask(`update ${table} set mac = null`)

    const both = await Promise.all([startDaemon(cleanup, { env }), startDaemon(cleanup, { env })])
    for (const daemon of both)
      assert.equal((await caller(daemon, 'ada', ada.key).call('GET', '/api/whoami')).status, 200)
    assert.equal((await ask(`select * from audit_events where event = 'rights.sealed'`)).length, 1)

    await Promise.all(both.map((daemon) => daemon.stop()))
    await ask(`delete from data_keys where vault_id = 'rights'`)
    await ask(`delete from manifests where vault_id like 'rights%'`)
    await ask('update identities set mac = null')
    const third = await startDaemon(cleanup, { env })
    assert.equal((await caller(third, 'ada', ada.key).call('GET', '/api/whoami')).status, 503)
    assert.equal((await ask(`select * from audit_events where event = 'rights.sealed'`)).length, 1)
  })
})
