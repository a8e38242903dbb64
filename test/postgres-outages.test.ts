import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTo, createServer } from 'node:net'
import { before, describe, it, type TestContext } from 'node:test'
import pg from 'pg'
import { whyNot } from '../tools/available.ts'
import {
  type Answer,
  type Caller,
  type Cleanup,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  refusedDaemon,
  send,
  startDaemon,
  suiteCleanup,
  temporaryHome,
} from './daemon-under-test.ts'
import { type Postgres, startPostgres, WITH_PASSWORD } from './postgres-server.ts'

const WRITE_LOCK = 7998
const MIGRATION_LOCK = '3853314791062309107'
/** What is promised is five seconds; the rest is for a machine that has other things to do. */
const LONGEST_MS = 6000
/** More than a daemon has connections. */
const CROWD = 30

describe('Postgres fails', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  let env: Record<string, string>
  before(async () => {
    postgres = await startPostgres(cleanup)
    env = { BROKER_DATABASE_URL: postgres.url, BROKER_MASTER_KEY: randomBytes(32).toString('base64') }
  })

  const newEnv = async (name: string) => ({ ...env, BROKER_DATABASE_URL: await postgres.newDatabase(name) })

  for (const how of ['fast', 'immediate'] as const) {
    it(`a restart (${how}) under writes costs 503, and no daemon and nothing that was acknowledged`, async (t) => {
      const fresh = await newEnv(`restart_${how}`)
      const first = await startDaemon(t, { env: fresh })
      const ada = await owner(first)
      const daemons = [first, await startDaemon(t, { env: fresh }), await startDaemon(t, { env: fresh })]
      const writers = daemons.map((daemon, at) => new Writer(caller(daemon, 'ada', ada.key), `w-${at}`))
      const running = writers.map((writer) => writer.run())
      await Promise.all(writers.map((writer) => writer.untilAcknowledged(3)))

      await postgres.restart(how)

      await Promise.all(writers.map((writer) => writer.untilAcknowledged(3)))
      for (const writer of writers) writer.stop()
      await Promise.all(running)
      assert.deepEqual(daemons.map(isAlive), [true, true, true])
      const { body } = await caller(first, 'ada', ada.key).call('GET', '/api/connections')
      const stored = new Set(body.connections.map(({ connection }: { connection: string }) => connection))
      const lost = writers.flatMap(({ acknowledged }) => acknowledged).filter((name) => !stored.has(name))
      assert.deepEqual(lost, [])
      for (const { refused } of writers) for (const one of refused) assertUnavailable(one)
      assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
    })
  }

  it('frozen, it costs each request 503 in time; health goes on, and all is well when it thaws', async (t) => {
    const fresh = await newEnv('frozen')
    const first = await startDaemon(t, { env: fresh })
    const ada = await owner(first)
    const second = await startDaemon(t, { env: fresh })
    const daemons = [first, second]
    const callers = daemons.map((daemon) => caller(daemon, 'ada', ada.key))
    for (const one of callers) await one.call('GET', '/api/ready')
    const thaw = postgres.freeze()
    t.after(thaw)

    for (const _ of ['the connections it has', 'new ones']) {
      const crowd = callers.flatMap((one) =>
        Array.from({ length: CROWD }, () => timed(one.call('GET', '/api/connections'))),
      )
      for (const daemon of daemons) assert.equal((await send(daemon, 'GET', '/api/health')).status, 200)
      for (const { answer, ms } of await Promise.all(crowd)) {
        assertUnavailable(answer)
        assert.ok(ms < LONGEST_MS, `${ms} ms`)
      }
    }
    const stopped = performance.now()
    assert.equal(await second.stop(), 0)
    assert.ok(performance.now() - stopped < LONGEST_MS)

    thaw()
    await untilReady(ada)
    assert.ok(isAlive(first))
  })

  it('a lock that another session holds costs changes 503 in time, and reads nothing', async (t) => {
    const fresh = await newEnv('locked')
    const daemon = await startDaemon(t, { env: fresh })
    const ada = await owner(daemon)
    await connect(ada, 'openai', `sk-CNRY${'a'.repeat(44)}`)
    const other = await session(t, fresh.BROKER_DATABASE_URL)
    await other.query(`select pg_advisory_lock(${WRITE_LOCK})`)

    const changes = Array.from({ length: CROWD }, (_, at) =>
      timed(
        ada.call('POST', '/audit/events', {
          events: [{ event: 'proxy.request', status: 'success', id: `event-${at}-0` }],
        }),
      ),
    )
    const reads = Array.from({ length: CROWD }, () => ada.call('GET', '/api/connections'))
    for (const { status } of await Promise.all(reads)) assert.equal(status, 200)
    for (const { answer, ms } of await Promise.all(changes)) {
      assertUnavailable(answer)
      assert.ok(ms < LONGEST_MS, `${ms} ms`)
    }
    await other.query(`select pg_advisory_unlock(${WRITE_LOCK})`)
    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
  })

  it('a daemon that is paused in a change keeps the others waiting for some seconds, and lives on', async (t) => {
    const fresh = await newEnv('paused')
    const paused = await startDaemon(t, { env: fresh })
    const ada = await owner(paused)
    const second = await startDaemon(t, { env: fresh })
    const there = caller(second, 'ada', ada.key)
    const other = await session(t, fresh.BROKER_DATABASE_URL)
    const watcher = await session(t, fresh.BROKER_DATABASE_URL)
    await other.query('begin; lock table audit_head')
    const event = (id: string) => ({ events: [{ event: 'proxy.request', status: 'success', id }] })

    // Once it gets the table, it has the head of its chain.
    const change = ada.call('POST', '/audit/events', event('event-1-0'))
    await untilWaiting(watcher, 'relation')
    paused.process.kill('SIGSTOP')
    await other.query('rollback')
    const { answer, ms } = await timed(there.call('POST', '/audit/events', event('event-2-0')))
    assertUnavailable(answer)
    assert.ok(ms < LONGEST_MS, `${ms} ms`)

    await untilAccepted(() => there.call('POST', '/audit/events', event('event-3-0')))
    paused.process.kill('SIGCONT')
    assertUnavailable(await change)
    await untilReady(ada)
    assert.deepEqual([paused, second].map(isAlive), [true, true])
  })

  it('a daemon waits for another that changes the schema, and not where there is nothing to change', async (t) => {
    const fresh = await newEnv('migrating')
    const other = await session(t, fresh.BROKER_DATABASE_URL)
    const watcher = await session(t, fresh.BROKER_DATABASE_URL)
    await other.query(`select pg_advisory_lock(${MIGRATION_LOCK})`)
    const starting = startDaemon(t, { env: fresh })
    await untilWaiting(watcher)
    await other.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`)
    await starting

    await other.query(`select pg_advisory_lock(${MIGRATION_LOCK})`)
    await startDaemon(t, { env: fresh })
  })

  it('a daemon waits a little for a server that says that it is starting', async (t) => {
    const fresh = await newEnv('starting')
    const { url, refusals } = await startingServer(t, fresh.BROKER_DATABASE_URL, 3)
    await startDaemon(t, { env: { ...fresh, BROKER_DATABASE_URL: url } })
    assert.equal(refusals(), 3)
  })

  it('what is wrong with the setting is called that, and nothing of the password is said', async (t) => {
    const secret = 'CNRY-pass%2Fword'
    const admin = await session(t, postgres.url)
    await admin.query(`create role ${WITH_PASSWORD} login password 'CNRY-right'`)
    const base = new URL(postgres.url)
    const url = (user: string, database = 'postgres') => `postgres://${user}@${base.host}/${database}`
    const said = async (value: string) => {
      const { code, output } = await refusedDaemon(temporaryHome(t), { ...env, BROKER_DATABASE_URL: value })
      assert.doesNotMatch(output, /CNRY/)
      return `${code} ${output.split('\n')[0]}`
    }
    const cannot = '9 broker: The store cannot be used:'
    assert.equal(await said(url(`${WITH_PASSWORD}:${secret}`)), `${cannot} Postgres refuses the password (28P01)`)
    assert.equal(await said(url(WITH_PASSWORD)), `${cannot} Postgres asks for a password, and none is set`)
    assert.equal(await said(url('nobody')), `${cannot} Postgres refuses the user, or this way to connect (28000)`)
    assert.equal(await said(url('broker', 'nowhere')), `${cannot} Postgres has no database of this name (3D000)`)
    assert.equal(
      await said(url(`broker:${secret}`, 'postgres?sslmode=verify-full')),
      `${cannot} Postgres takes no connection over TLS`,
    )
    assert.equal(
      await said(`postgres://broker:${secret}@127.0.0.1:99999/x`),
      '2 broker: The value of BROKER_DATABASE_URL cannot be used',
    )
  })
})

/** Makes one connection after the other, and remembers which were acknowledged. */
class Writer {
  readonly acknowledged: string[] = []
  readonly refused: Answer[] = []
  readonly #caller: Caller
  readonly #name: string
  #isStopped = false
  readonly #listeners = new Set<() => void>()

  constructor(one: Caller, name: string) {
    this.#caller = one
    this.#name = name
  }

  stop(): void {
    this.#isStopped = true
  }

  async untilAcknowledged(more: number): Promise<void> {
    const goal = this.acknowledged.length + more
    while (this.acknowledged.length < goal) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#listeners.add(resolve)
      await promise
      this.#listeners.delete(resolve)
    }
  }

  async run(): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      await Promise.all([0, 1, 2].map((at) => this.#connect(`${this.#name}-${count}-${at}`)))
      for (const tell of this.#listeners) tell()
    }
  }

  async #connect(connection: string): Promise<void> {
    const begun = await this.#caller.call('POST', '/api/auth/sessions', { provider: 'openai', connection })
    if (begun.status !== 201) {
      this.refused.push(begun)
      return
    }
    const input = { api_key: `sk-CNRY${'a'.repeat(44)}` }
    const answer = await this.#caller.call('POST', `/api/auth/sessions/${begun.body.id}/resume`, { input })
    if (answer.status === 200) this.acknowledged.push(connection)
    else this.refused.push(answer)
  }
}

function isAlive({ process }: DaemonUnderTest): boolean {
  return process.exitCode === null && process.signalCode === null
}

function assertUnavailable({ status, headers, body, text }: Answer): void {
  assert.equal(status, 503, text)
  assert.equal(body.error, 'DaemonUnavailableError')
  assert.ok(Number(headers['retry-after']) > 0, text)
}

async function timed(call: Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  const begin = performance.now()
  return { answer: await call, ms: performance.now() - begin }
}

async function untilAccepted(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call()
    if (answer.status < 300) return answer
    assertUnavailable(answer)
  }
}

async function untilReady(one: Caller): Promise<void> {
  for (;;) {
    const { body } = await untilAccepted(() => one.call('GET', '/api/ready'))
    if (body.status === 'ready') return
  }
}

async function session(t: Cleanup, url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  return client
}

async function untilWaiting(watcher: pg.Client, locktype: 'advisory' | 'relation' = 'advisory'): Promise<void> {
  const query = `select 1 from pg_locks where locktype = '${locktype}' and not granted`
  while ((await watcher.query(query)).rowCount === 0);
}

/** A server that is starting for its first callers, and hands the others on. */
async function startingServer(t: TestContext, target: string, refused: number) {
  const real = new URL(target)
  let refusals = 0
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (refusals < refused) {
      refusals += 1
      socket.once('data', () => socket.end(STARTING))
      return
    }
    const upstream = connectTo(Number(real.port), real.hostname)
    upstream.on('error', () => socket.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const address = server.address()
  const url = new URL(target)
  url.port = String(typeof address === 'object' && address ? address.port : 0)
  return { url: url.href, refusals: () => refusals }
}

const FIELDS = Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0')
/** An ErrorResponse of the protocol: a letter, the length with itself, fields. */
const STARTING = Buffer.concat([Buffer.from('E'), lengthOf(FIELDS), FIELDS])

function lengthOf(fields: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(fields.length + 4)
  return length
}
