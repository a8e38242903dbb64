import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, describe, it } from 'node:test'
import pg from 'pg'
import { whyNot } from '../tools/available.ts'
import { type BrokerHome, type Ended, logIn, onboarded } from './broker-command.ts'
import { type Caller, caller, connect, owner, startDaemon, suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { type Postgres, startPostgres } from './postgres-server.ts'

const KEY = `sk-CNRY${'a'.repeat(40)}`
const parsed = ({ stdout }: Ended) => JSON.parse(stdout)

describe('broker store migrate', { skip: whyNot('postgres') }, () => {
  let world: BrokerHome
  let postgres: Postgres
  let url = ''
  const cleanup = suiteCleanup()
  before(async () => {
    ;[world, postgres] = await Promise.all([onboarded(cleanup), startPostgres(cleanup)])
    url = await postgres.newDatabase('moved')
    await logIn(world, 'openai', KEY)
  })
  const migrate = (to: string, env = {}, input = `${url}\n`) =>
    world.broker(['store', 'migrate', '--to', to, '--json'], { input, env })

  it('is for when no daemon uses the home, and for an address that is not an argument', async () => {
    const running = await migrate('postgres')
    assert.equal(running.code, 9, running.stdout)
    assert.match(parsed(running).message, /Another daemon serves this home/)
    assert.equal((await migrate('postgres', {}, '')).code, 2)
  })

  it('copies every row, and the daemon goes on there as who it was', async () => {
    await world.daemon.stop()
    const done = await migrate('postgres')
    assert.equal(done.code, 0, done.stdout + done.stderr)
    const { status, tables } = parsed(done)
    assert.equal(status, 'ok')
    const file = new DatabaseSync(join(world.home, 'server', 'broker.db'), { readOnly: true })
    const client = new pg.Client(url)
    await client.connect()
    for (const [table, { rows }] of Object.entries(tables as Record<string, { rows: number }>)) {
      assert.equal(file.prepare(`select count(*) as n from ${table}`).get()?.['n'], rows, table)
      if (table !== 'audit_head')
        assert.equal(Number((await client.query(`select count(*) as n from ${table}`)).rows[0].n), rows, table)
    }
    await client.end()
    file.close()
    assert.ok(!done.stdout.includes('CNRY') && !done.stderr.includes('CNRY'))

    const env = { BROKER_DATABASE_URL: url, BROKER_ENCRYPTION_MODE: 'auto' }
    const daemon = await startDaemon(cleanup, {
      home: world.home,
      env: { ...env, BROKER_PORT: world.env['BROKER_PORT'] ?? '' },
    })
    assert.equal((await world.broker(['doctor'], { env })).code, 0)
    const ada = await owner(daemon, 'another')
    const { body } = await ada.call('GET', '/api/connections/openai/default?reveal=true')
    assert.equal(body.credential.api_key, KEY)
    // Events go on where they were, in several chains.
    await connect(ada, 'anthropic', `sk-ant-api03-CNRY${'b'.repeat(90)}`)
    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
    assert.deepEqual(await findings(ada), [])
    await daemon.stop()
  })

  /** What a walk through the whole log finds. */
  async function findings(one: Caller): Promise<unknown> {
    const { text } = await one.call('GET', '/api/audit/verify')
    return JSON.parse(text.trim().split('\n').at(-1) ?? '{}').findings
  }

  it('refuses a database that is in use, and changes nothing there', async () => {
    const refused = await migrate('postgres')
    assert.equal(refused.code, 4, refused.stdout)
    assert.match(parsed(refused).message, /There is a deployment in this store already/)
  })

  it('brings it back into a home that has none', async () => {
    const elsewhere = temporaryHome(cleanup)
    mkdirSync(join(elsewhere, 'server'), { recursive: true, mode: 0o700 })
    cpSync(join(world.home, 'server', 'master.key'), join(elsewhere, 'server', 'master.key'))
    const env = { BROKER_HOME: elsewhere, HOME: dirname(elsewhere), BROKER_PORT: '0' }
    const done = await migrate('sqlite', env)
    assert.equal(done.code, 0, done.stdout + done.stderr)
    assert.ok(parsed(done).tables.audit_events.rows > 5)
    assert.equal(existsSync(join(elsewhere, 'server', 'broker.db.restored')), false)

    const daemon = await startDaemon(cleanup, { home: elsewhere, env: { BROKER_ENCRYPTION_MODE: 'auto' } })
    const ada = await owner(daemon, 'back')
    assert.deepEqual(
      (await ada.call('GET', '/api/connections')).body.connections.map((one: { provider: string }) => one.provider),
      ['anthropic', 'openai'],
    )
    await connect(ada, 'openai', `sk-CNRY${'c'.repeat(40)}`, { connection: 'work' })
    const ready = await ada.call('GET', '/api/ready')
    assert.deepEqual(ready.body.issues ?? [], [])
    assert.deepEqual(await findings(ada), [])
    const other = caller(daemon, 'nobody')
    assert.equal((await other.call('GET', '/api/connections')).status, 401)
    assert.equal((await migrate('sqlite', env)).code, 9)
  })
})
