import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { mintProof } from '../src/identity/index.ts'
import { whyNot } from '../tools/available.ts'
import {
  type Caller,
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
import { startBalanced } from './load-balancer.ts'
import { startPostgres } from './postgres-server.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

const KEY = `sk-CNRY${'a'.repeat(44)}`
const PASSWORD = 'CNRYpassword'
/** As docs/team.md says. */
const NEEDED = ['+get', '+set', '+del', '+eval', '+publish', '+subscribe', '+ping', '+select']

describe('with Redis', { skip: whyNot('redis') }, () => {
  const cleanup = suiteCleanup()

  const using = async (url: string) => {
    const daemon = await startDaemon(cleanup, { env: { BROKER_REDIS_URL: url } })
    const ada = await owner(daemon)
    await connect(ada, 'openai', KEY)
    return { daemon, ada }
  }

  it('readiness says whether it can be used, and nothing where there is none', async () => {
    const redis = await startRedis(cleanup)
    const { ada } = await using(redis.url)
    const { status, checks } = await conditionOf(ada)
    assert.deepEqual([status, checks.redis], ['ready', 'ok'])
    const without = await owner(await startDaemon(cleanup))
    assert.equal('redis' in (await conditionOf(without)).checks, false)
  })

  it('requests go on while it is away, frozen, paused or emptied, and it is used again by itself', async () => {
    const redis = await startRedis(cleanup)
    const { daemon, ada } = await using(redis.url)
    const outages: readonly (readonly [string, () => unknown, () => unknown])[] = [
      ['stopped', () => redis.stop(), () => redis.start()],
      ...frozen(redis),
      ['paused', () => redis.command('CLIENT', 'PAUSE', '600000', 'WRITE'), () => redis.command('CLIENT', 'UNPAUSE')],
    ]
    for (const [what, begin, end] of outages) {
      await begin()
      await goesOn(ada)
      const { status, checks, issues } = await conditionOf(ada)
      assert.deepEqual([status, checks.redis, checks.store], ['not_ready', 'failed', 'ok'], what)
      assert.match(issues.join(), /^redis: Redis cannot be used: .*Requests go on without it\.$/, what)
      await goesOn(ada)
      await end()
      await whenReady(ada)
    }
    redis.command('FLUSHALL')
    assert.equal((await conditionOf(ada)).status, 'ready')
    await goesOn(ada)
    const log = readFileSync(join(daemon.home, 'server/logs/daemon.log'), 'utf8')
    assert.match(log, /Redis cannot be used: .*Requests go on without it/)
    assert.match(log, /Redis can be used again/)
  })

  it('what is wrong with it is said, and its password is not', async () => {
    const redis = await startRedis(cleanup)
    redis.command('ACL', 'SETUSER', 'reader', 'on', `>${PASSWORD}`, '~*', '&*', '+@read', '+@connection')
    redis.command('ACL', 'SETUSER', 'writer', 'on', `>${PASSWORD}`, '~broker:*', '&broker:*', ...NEEDED)
    const cases: readonly (readonly [string, RegExp])[] = [
      [redis.urlFor('writer', `${PASSWORD}x`), /it refuses the user or the password/],
      [redis.urlFor('nobody', PASSWORD), /it refuses the user or the password/],
      [redis.urlFor('writer', PASSWORD, 99), /it has no such database/],
      [redis.urlFor('reader', PASSWORD), /its user may not do what is needed/],
      [`redis://:${PASSWORD}@127.0.0.1:1`, /nothing listens there/],
      [`redis://:${PASSWORD}@no-such-host.invalid`, /its name is not known/],
    ]
    for (const [url, why] of cases) {
      const { daemon, ada } = await using(url)
      await goesOn(ada)
      const { text, body } = await ada.call('GET', '/api/ready')
      assert.deepEqual([body.status, body.checks.redis], ['not_ready', 'failed'])
      assert.match(body.issues.join(), why)
      const log = readFileSync(join(daemon.home, 'server/logs/daemon.log'), 'utf8')
      for (const said of [text, log, daemon.output()]) assert.equal(said.includes(PASSWORD), false)
      await daemon.stop()
    }
    const { ada } = await using(redis.urlFor('writer', PASSWORD, 3))
    assert.equal((await conditionOf(ada)).checks.redis, 'ok')
  })

  for (const url of ['CNRYpassword', `http://:${PASSWORD}@127.0.0.1`, `redis://:${PASSWORD}@127.0.0.1:port`])
    it(`an address that is none is an error of the setting: ${url.replace(/CNRYpassword/, '…')}`, async () => {
      const { code, output } = await refusedDaemon(temporaryHome(cleanup), { BROKER_REDIS_URL: url })
      assert.equal(code, 2)
      assert.match(output, /BROKER_REDIS_URL must be redis:/)
      assert.equal(output.includes(PASSWORD), false)
    })
})

describe('daemons with one Postgres and Redis', { skip: whyNot('redis') || whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let redis: RedisServer
  let env: Record<string, string>
  before(async () => {
    redis = await startRedis(cleanup)
    const postgres = await startPostgres(cleanup)
    env = {
      BROKER_DATABASE_URL: postgres.url,
      BROKER_MASTER_KEY: randomBytes(32).toString('base64'),
      BROKER_REDIS_URL: redis.url,
    }
  })

  it('take a proof once, also where one of them does not reach Redis, and none does', async () => {
    const elsewhere = { ...env, BROKER_REDIS_URL: 'redis://127.0.0.1:1' }
    const { to } = await startBalanced(cleanup, [{ env }, { env: elsewhere }])
    const daemon = to(0)
    const ada = await owner(daemon)
    const proofs = [0, 1].map(() => whoami(daemon, ada))
    for (const [first, second] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const headers = { authorization: `PoP ${proofs[first]}` }
      to(first)
      assert.equal((await send(daemon, 'GET', '/api/whoami', '', headers)).status, 200)
      redis.command('FLUSHALL')
      to(second)
      assert.equal((await send(daemon, 'GET', '/api/whoami', '', headers)).status, 401)
    }
  })

  it('tell each other that definitions have changed', async () => {
    const [here, there] = await Promise.all([startDaemon(cleanup, { env }), startDaemon(cleanup, { env })])
    const ada = await owner(here, 'teller')
    const listener = new Redis(redis.url)
    cleanup.after(() => listener.disconnect())
    await listener.subscribe('broker:news')
    const told = new Promise((resolve) => listener.once('message', resolve))
    const definition = {
      schema_version: 1,
      name: 'told',
      display_name: 'Told',
      auth_type: 'api_key',
      flow: 'api_key',
      hosts: ['api.told.example'],
      api_key: { prefix: 'Bearer' },
    }
    assert.equal((await ada.call('POST', '/api/providers', { definition })).status, 201)
    await told
    assert.equal((await caller(there, 'teller', ada.key).call('GET', '/api/providers/told')).status, 200)
  })
})

function frozen(redis: RedisServer): readonly (readonly [string, () => unknown, () => unknown])[] {
  let thaw = () => {}
  const freeze = () => {
    thaw = redis.freeze()
  }
  return [['frozen', freeze, () => thaw()]]
}

async function goesOn(one: Caller): Promise<void> {
  const { status, body } = await one.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })
  assert.deepEqual([status, body.provider], [200, 'openai'])
  assert.equal((await one.call('GET', '/api/providers')).status, 200)
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into.
async function conditionOf(one: Caller): Promise<any> {
  return (await one.call('GET', '/api/ready')).body
}

/** It connects again by itself; when, nobody is told. */
async function whenReady(one: Caller): Promise<void> {
  while ((await conditionOf(one)).status !== 'ready') await delay(50)
}

function whoami(daemon: DaemonUnderTest, { key, handle }: Caller): string {
  const request = { handle, method: 'GET', url: `${daemon.origin}/api/whoami`, body: Buffer.alloc(0) }
  return mintProof(key, request)
}
