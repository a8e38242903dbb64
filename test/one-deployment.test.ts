import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { DaemonClient, expectDaemon } from '../src/client/index.ts'
import { generateSigningKey, verifySignature } from '../src/identity/index.ts'
import { whyNot } from '../tools/available.ts'
import { BROKER } from './broker-command.ts'
import {
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  send,
  startDaemon,
  suiteCleanup,
  temporaryHome,
} from './daemon-under-test.ts'
import { type Postgres, startPostgres } from './postgres-server.ts'
import { catalogueText, signer } from './signed-catalogue.ts'

const KEY = `sk-CNRY${'a'.repeat(44)}`

describe('daemons on one Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  const masterKey = randomBytes(32).toString('base64')
  before(async () => {
    postgres = await startPostgres(cleanup)
  })

  let made = 0
  const newStore = async () => {
    made += 1
    return { BROKER_DATABASE_URL: await postgres.newDatabase(`one_${made}`), BROKER_MASTER_KEY: masterKey }
  }
  type Env = Awaited<ReturnType<typeof newStore>>
  const start = (env: Partial<Env>, home = temporaryHome(cleanup)) => startDaemon(cleanup, { env, home })

  const queries = async (env: Env) => {
    const client = new pg.Client(env.BROKER_DATABASE_URL)
    await client.connect()
    cleanup.after(() => client.end().catch(() => undefined))
    return client
  }
  const sql = async (env: Env, ...statements: readonly string[]) => {
    const client = await queries(env)
    for (const statement of statements) await client.query(statement)
    await client.end()
  }

  it('are one broker to a client that knows one of them', async () => {
    const env = await newStore()
    const [first, second, third] = await Promise.all([start(env), start(env), start(env)])
    const did = await didOf(first)
    assert.match(String(did), /^did:key:z6Mk/)
    assert.deepEqual([await didOf(second), await didOf(third)], [did, did])
    const ada = await owner(first)
    await connect(ada, 'openai', KEY)
    for (const daemon of [first, second, third]) {
      const client = new DaemonClient({
        baseUrl: daemon.origin,
        signer: { handle: ada.handle, key: ada.key },
        check: expectDaemon(did),
      })
      assert.equal((await client.whoami()).identity, 'ada')
    }
    for (const { home } of [first, second, third]) assert.equal(existsSync(join(home, 'server/daemon.key')), false)
    await second.stop('SIGKILL')
    assert.equal(await didOf(await start(env, second.home)), did)
  })

  it('share each definition from the moment in which it is registered, changed, removed', async () => {
    const env = await newStore()
    const [first, second] = await Promise.all([start(env), start(env)])
    const here = await owner(first)
    const there = caller(second, 'ada', here.key)
    await define(here, { hosts: ['api.acme.example'] })
    await connect(there, 'acme', KEY)
    assert.equal((await resolve(there, 'api.acme.example')).status, 200)
    assert.equal((await resolve(here, 'api.acme.example')).status, 200)

    await define(there, { hosts: ['new.acme.example'] }, true)
    assert.notEqual((await resolve(here, 'api.acme.example')).status, 200)
    assert.deepEqual((await here.call('GET', '/api/providers/acme')).body.hosts, ['new.acme.example'])

    const taken = definitionJson({ name: 'other', hosts: ['new.acme.example'] })
    assert.equal((await here.call('POST', '/api/providers', { definition: taken })).status, 409)

    assert.equal((await here.call('DELETE', '/api/providers/acme')).body.action, 'removed')
    assert.equal((await there.call('GET', '/api/providers/acme')).status, 404)
    assert.deepEqual(await conditionOf(here), await conditionOf(there))
    assert.equal((await conditionOf(here)).status, 'ready')
    assert.deepEqual(readdirSync(join(first.home)).includes('providers'), false)
  })

  it('share the installed catalogue', async () => {
    const env = await newStore()
    const [first, second] = await Promise.all([start(env), start(env)])
    const here = await owner(first)
    const there = caller(second, 'ada', here.key)
    const ours = signer()
    const file = catalogueText([ours], {
      catalogue_version: '2026-11-01.2',
      definitions: [definitionJson({ name: 'listed', hosts: ['listed.example'] })],
    })
    const put = await here.call('POST', '/api/catalogue', { file, key: ours.pem })
    assert.equal(put.status, 200, put.text)
    assert.equal((await there.call('GET', '/api/providers/listed')).status, 200)
    const older = catalogueText([ours], { catalogue_version: '2026-11-01.1' })
    assert.equal((await there.call('POST', '/api/catalogue', { file: older })).status, 403)
    assert.equal((await there.call('DELETE', '/api/catalogue')).status, 200)
    assert.equal((await here.call('GET', '/api/providers/listed')).status, 404)
    assert.equal(existsSync(join(first.home, 'server/catalogue.json')), false)
  })

  it('take over what a home has, once, and from one home only', async () => {
    const env = await newStore()
    const [one, two] = [temporaryHome(cleanup), temporaryHome(cleanup)]
    const dids = [usedHome(one, ['acme']), usedHome(two, ['other'])]
    const both = await Promise.all([start(env, one), start(env, two)])
    const did = await didOf(both[0])
    assert.ok(dids.includes(did), did)
    assert.equal(await didOf(both[1]), did)
    const ada = await owner(both[0])
    const winner = did === dids[0] ? 'acme' : 'other'
    assert.deepEqual(await customOf(ada), [winner])
    assert.deepEqual(await customOf(caller(both[1], 'ada', ada.key)), [winner])
    // What the home has from then on is its own.
    usedHome(one, ['late'])
    assert.deepEqual(await customOf(ada), [winner])
    assert.equal((await conditionOf(ada)).status, 'ready')
  })

  for (const step of ['daemon.key', 'acme.json', 'other.json', 'catalogue.json'])
    it(`take over all or nothing where one is killed as it writes ${step}`, async () => {
      const env = await newStore()
      const empty = await start(env)
      await empty.stop()
      await sql(
        env,
        `delete from records where vault_id = 'deployment'`,
        `delete from manifests where vault_id = 'deployment'`,
        `delete from data_keys where vault_id = 'deployment'`,
        `create function hold() returns trigger language plpgsql as
           $$ begin if new.id = '${step}' then perform set_config('lock_timeout', '0', true), pg_advisory_xact_lock(1); end if; return new; end $$`,
        `create trigger hold before insert on records for each row execute function hold()`,
      )
      const holder = await queries(env)
      await holder.query('select pg_advisory_lock(1)')
      const home = temporaryHome(cleanup)
      const did = usedHome(home, ['acme', 'other'])
      const starting = start(env, home).then(
        () => 'started',
        () => 'ended',
      )
      await killedWhileItWaits(holder, home)
      assert.equal(await starting, 'ended')
      await holder.end()
      const client = await queries(env)
      const { rows } = await client.query(`select 1 from records where vault_id = 'deployment'
        union all select 1 from manifests where vault_id = 'deployment'`)
      assert.deepEqual(rows, [])
      await client.end()
      await sql(env, 'drop trigger hold on records')
      const again = await start(env, home)
      assert.equal(await didOf(again), did)
      const ada = await owner(again)
      assert.deepEqual(await customOf(ada), ['acme', 'other'])
      assert.equal((await conditionOf(ada)).status, 'ready')
    })

  it('do not say who they are without the master key, nor by another', async () => {
    const env = await newStore()
    const did = await didOf(await start(env))
    const other = { ...env, BROKER_MASTER_KEY: randomBytes(32).toString('base64') }
    const { BROKER_MASTER_KEY: _none, ...none } = env
    for (const wrong of [other, none]) {
      const home = temporaryHome(cleanup)
      usedHome(home, [])
      const sealed = await start(wrong, home)
      const { status, body, headers } = await challenged(sealed)
      assert.equal(status, 503)
      assert.equal(body.error, 'DaemonUnavailableError')
      assert.match(body.message, /vault is sealed/)
      assert.equal(headers['x-broker-proof'], undefined)
      assert.equal((await send(sealed, 'GET', '/api/health')).status, 200)
      await sealed.stop()
    }
    assert.equal(await didOf(await start(env)), did)
  })

  it('never make the key anew where another hand has removed it', async () => {
    const env = await newStore()
    const running = await start(env)
    const did = await didOf(running)
    const ada = await owner(running)
    await sql(env, `create table kept as table records`, `delete from records where kind = 'daemon_key'`)
    assert.equal((await conditionOf(ada)).checks.integrity, 'failed')
    assert.match((await conditionOf(ada)).issues.join(), /key by which clients know the daemons is missing/)

    const homes = [running.home, temporaryHome(cleanup)]
    await running.stop()
    for (const home of homes) {
      const daemon = await start(env, home)
      assert.equal((await challenged(daemon)).status, 503)
      assert.match((await challenged(daemon)).body.message, /missing from the store/)
      assert.match(
        (await conditionOf(caller(daemon, 'ada', ada.key))).issues.join(),
        /integrity: .*missing from the store/,
      )
      await daemon.stop()
    }
    await sql(
      env,
      ...['records', 'manifests', 'data_keys'].map((table) => `delete from ${table} where vault_id = 'deployment'`),
    )
    for (const home of [...homes, temporaryHome(cleanup)]) {
      const daemon = await start(env, home)
      assert.equal((await challenged(daemon)).status, 503)
      await daemon.stop()
    }
    const client = await queries(env)
    assert.deepEqual((await client.query(`select 1 from records where kind = 'daemon_key'`)).rows, [])
    await client.end()
    assert.ok(did)
  })

  it('put the key back where the owner takes the vault as it is', async () => {
    const env = await newStore()
    const running = await start(env)
    const did = await didOf(running)
    const ada = await owner(running)
    await define(ada, {})
    await sql(env, `delete from records where kind = 'daemon_key'`)
    assert.equal((await conditionOf(ada)).status, 'not_ready')
    assert.equal((await ada.call('POST', '/api/vault/restore', {})).status, 200)
    assert.equal((await conditionOf(ada)).status, 'ready')
    assert.deepEqual(await customOf(ada), ['acme'])
    assert.equal(await didOf(await start(env)), did)
  })

  it('tell of a data key that was removed, seal nothing by it, and put it back', async () => {
    const env = await newStore()
    const running = await start(env)
    const ada = await owner(running)
    await connect(ada, 'openai', KEY)
    await sql(env, `delete from data_keys where vault_id <> 'rights'`)
    const { status, issues } = await conditionOf(ada)
    assert.equal(status, 'not_ready')
    assert.match(issues.join(), /data key of the vault is missing/)
    const body = { provider: 'groq', flow: 'api_key' }
    const { body: session } = await ada.call('POST', '/api/auth/sessions', body)
    const typed = { input: { api_key: `gsk_CNRY${'c'.repeat(48)}` } }
    const login = await ada.call('POST', `/api/auth/sessions/${session.id}/resume`, typed)
    assert.notEqual(login.status, 200)

    assert.equal((await ada.call('POST', '/api/vault/restore', {})).status, 200)
    assert.equal((await conditionOf(ada)).status, 'ready')
    const later = caller(await start(env), 'ada', ada.key)
    assert.equal((await later.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
  })

  it('can be asked after, stopped and started anew by the command line where they are sealed', async () => {
    const env = await newStore()
    const home = temporaryHome(cleanup)
    await (await start(env, home)).stop()
    const sealed = await start({ ...env, BROKER_MASTER_KEY: randomBytes(32).toString('base64') }, home)
    const broker = (...args: readonly string[]) =>
      spawnSync(BROKER, args, {
        env: { ...process.env, ...env, HOME: home, BROKER_HOME: home, BROKER_PORT: String(sealed.port) },
        encoding: 'utf8',
      })
    const { status, stderr } = broker('doctor')
    assert.equal(status, 9)
    assert.match(stderr, /cannot open its vault\n.*daemon logs.*daemon restart/s)
    assert.match(broker('daemon', 'status').stderr, /cannot open its vault/)
    const restarted = broker('daemon', 'restart')
    assert.equal(restarted.status, 0, restarted.stderr)
    assert.equal(broker('daemon', 'status').status, 0)
    assert.equal(broker('daemon', 'stop').status, 0)
  })

  it('use no definition that another hand has changed, removed or put back', async () => {
    const env = await newStore()
    const daemon = await start(env)
    const ada = await owner(daemon)
    await define(ada, {})
    await connect(ada, 'acme', KEY)
    await sql(env, 'create table first_records as table records', 'create table first_manifests as table manifests')
    await define(ada, { hosts: ['later.acme.example'] }, true)
    assert.deepEqual(await customOf(ada), ['acme'])
    const restored = (table: string) => [
      `delete from ${table} where vault_id = 'deployment'`,
      `insert into ${table} select * from first_${table} where vault_id = 'deployment'`,
    ]
    await sql(env, ...restored('records'), ...restored('manifests'))
    assert.deepEqual(await customOf(ada), [])
    const [{ attention }] = (await ada.call('GET', '/api/connections')).body.connections
    assert.match(attention.reason, /older than the last one seen/)
    assert.equal(attention.fix, 'broker doctor')
    const { checks, issues } = await conditionOf(ada)
    assert.deepEqual([checks.integrity, checks.providers], ['failed', 'failed'])
    assert.match(issues.join(), /older than the last one seen/)
    assert.match(String(await didOf(daemon)), /^did:key/)
    assert.equal((await ada.call('POST', '/api/vault/restore', {})).status, 200)
    assert.deepEqual(await customOf(ada), ['acme'])
    assert.equal((await conditionOf(ada)).status, 'ready')
  })

  it('remember how far each store has come, in a file for each', async () => {
    const home = temporaryHome(cleanup)
    const local = { BROKER_MASTER_KEY: masterKey }
    const stores = [local, await newStore(), await newStore(), local]
    const people: Caller[] = []
    for (const env of stores) {
      const daemon = await start(env, home)
      const known = env === local ? people[0] : undefined
      const one = known ? caller(daemon, 'ada', known.key) : await owner(daemon)
      people.push(one)
      if (!known) await connect(one, 'openai', KEY)
      const { status, issues } = await conditionOf(one)
      assert.deepEqual([status, issues], ['ready', undefined])
      await daemon.stop()
    }
    const files = readdirSync(join(home, 'server')).filter((name) => name.startsWith('vault-anchor'))
    assert.deepEqual([files.length, files.includes('vault-anchor.json')], [3, true])
  })

  it('go on with the file that a version of before has written, and name the right one', async () => {
    const env = await newStore()
    const first = await start(env)
    const ada = await owner(first)
    await connect(ada, 'openai', KEY)
    await first.stop()
    const server = join(first.home, 'server')
    const name = readdirSync(server).find((one) => one.startsWith('vault-anchor-')) ?? ''
    const before = readFileSync(join(server, name), 'utf8')
    renameSync(join(server, name), join(server, 'vault-anchor.json'))
    const second = await start(env, first.home)
    assert.deepEqual(
      readdirSync(server).filter((one) => one.startsWith('vault-anchor')),
      [name],
    )
    assert.ok(Object.keys(JSON.parse(before).vaults).length > 0)
    await second.stop()
    writeFileSync(join(server, name), before.replace(/"mac":"./, '"mac":"x'))
    const third = await start(env, first.home)
    const { issues } = await conditionOf(caller(third, 'ada', ada.key))
    assert.deepEqual(issues, [`integrity: The file server/${name} was changed outside of Broker.`])
  })

  for (const first of ['doctor', 'a request'])
    it(`refuse a store that is taken back while they run, also where ${first} looks first`, async () => {
      const env = await newStore()
      const [one, two] = await Promise.all([start(env), start(env)])
      const ada = await owner(one)
      const there = caller(two, 'ada', ada.key)
      await connect(ada, 'openai', KEY)
      for (const each of [ada, there]) assert.equal((await conditionOf(each)).status, 'ready')
      const tables = ['records', 'manifests', 'connections']
      await sql(env, ...tables.map((table) => `create table old_${table} as table ${table}`))
      await connect(ada, 'openai', KEY.replaceAll('a', 'b'), { force: true })
      for (const each of [ada, there]) assert.equal((await resolve(each, 'api.openai.com')).status, 200)
      for (const each of [ada, there]) assert.equal((await conditionOf(each)).status, 'ready')
      const taken = tables.toReversed().flatMap((table) => [`delete from ${table}`])
      await sql(env, ...taken, ...tables.map((table) => `insert into ${table} select * from old_${table}`))
      for (const each of [ada, there]) {
        if (first === 'doctor') assert.match((await conditionOf(each)).issues.join(), /whole store is older/)
        const refused = await resolve(each, 'api.openai.com')
        assert.notEqual(refused.status, 200, refused.text)
        assert.match((await conditionOf(each)).issues.join(), /whole store is older/)
        assert.notEqual((await resolve(each, 'api.openai.com')).status, 200)
      }
      assert.equal((await ada.call('POST', '/api/vault/restore', {})).status, 200)
      assert.equal((await conditionOf(ada)).status, 'ready')
      assert.equal((await resolve(ada, 'api.openai.com')).status, 200)
    })

  /** Kills the daemon of that home once its import waits in the database. */
  async function killedWhileItWaits(holder: pg.Client, home: string): Promise<void> {
    const waiting = `select pid from pg_locks where locktype = 'advisory' and objid = 1 and not granted`
    for (;;) {
      const { rows } = await holder.query(waiting)
      if (rows.length > 0) break
      await delay(20)
    }
    const pid = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .find((name) => environmentOf(name).includes(`\0BROKER_HOME=${home}\0`))
    process.kill(Number(pid), 'SIGKILL')
  }
})

function environmentOf(pid: string): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`
  } catch {
    return ''
  }
}

/** A home that was used before: a key that clients know, custom definitions, a catalogue. The did:key. */
function usedHome(home: string, names: readonly string[]): string {
  const key = generateSigningKey()
  for (const folder of ['server', 'providers']) mkdirSync(join(home, folder), { recursive: true, mode: 0o700 })
  const write = (path: string, text: string) => writeFileSync(join(home, path), text, { mode: 0o600 })
  write('server/daemon.key', key.toPem().reveal())
  write('server/catalogue.json', JSON.stringify({ format: 1, installed: [], seen: {} }))
  for (const name of names)
    write(`providers/${name}.json`, JSON.stringify(definitionJson({ name, hosts: [`${name}.example`] })))
  return key.did
}

const CHALLENGE = randomBytes(32).toString('base64url')

async function challenged(daemon: DaemonUnderTest) {
  const headers = { 'x-broker-challenge': CHALLENGE, host: `127.0.0.1:${daemon.port}` }
  return send(daemon, 'GET', '/api/health', '', headers)
}

/** The did:key that the daemon proves; "nobody" where it proves none. */
async function didOf(daemon: DaemonUnderTest): Promise<string> {
  const { headers } = await challenged(daemon)
  const [did = '', signature = ''] = String(headers['x-broker-proof']).split(' ')
  const signed = Buffer.from(`broker-daemon-proof/1\n${CHALLENGE}\n127.0.0.1:${daemon.port}`)
  return verifySignature(did, signed, Buffer.from(signature, 'base64url')) ? did : 'nobody'
}

function definitionJson({ name, ...more }: Readonly<Record<string, unknown>>) {
  const flow = { auth_type: 'api_key', flow: 'api_key', api_key: { prefix: 'Bearer' } }
  return { schema_version: 1, name, display_name: name, ...flow, hosts: [`api.${name}.example`], ...more }
}

async function define(one: Caller, more: Readonly<Record<string, unknown>>, force = false): Promise<void> {
  const definition = definitionJson({ name: 'acme', ...more })
  const { status, text } = await one.call('POST', '/api/providers', { definition, force })
  assert.equal(status, 201, text)
}

const resolve = (one: Caller, host: string) => one.call('POST', '/api/credentials/resolve', { host })

// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into.
async function conditionOf(one: Caller): Promise<any> {
  return (await one.call('GET', '/api/ready')).body
}

async function customOf(one: Caller): Promise<readonly string[]> {
  const { body } = await one.call('GET', '/api/providers')
  return body.custom.map(({ name }: { name: string }) => name)
}
