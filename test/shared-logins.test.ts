import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, beforeEach, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { type Caller, owner, send, suiteCleanup } from './daemon-under-test.ts'
import { type Balanced, startBalanced } from './load-balancer.ts'
import { startPostgres } from './postgres-server.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from './scripted-oauth-server.ts'

const GRANTED: ScriptedAnswer = {
  body: { access_token: 'at-CNRY', token_type: 'bearer', refresh_token: 'rt-CNRY', expires_in: 3600 },
}
const PENDING: ScriptedAnswer = { status: 400, body: { error: 'authorization_pending' } }
const DEVICE_CODE = 'dc-CNRYdevice'

describe('logins at daemons with one Postgres and Redis', { skip: whyNot('redis') || whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let redis: RedisServer
  let provider: ScriptedServer
  let token: ScriptedAnswer
  /** Seconds between two questions about a code. */
  let interval: number
  let balanced: Balanced
  let ada: Caller
  let count = 0
  before(async () => {
    redis = await startRedis(cleanup)
    const postgres = await startPostgres(cleanup)
    provider = await startScriptedServer(({ path }, origin) => {
      if (path === '/token') return token
      const code = { device_code: DEVICE_CODE, user_code: 'WDJB-MJHT', verification_uri: `${origin}/go`, interval }
      return path === '/device' ? { body: code } : undefined
    })
    cleanup.after(() => provider.close())
    const env = {
      BROKER_DATABASE_URL: postgres.url,
      BROKER_MASTER_KEY: randomBytes(32).toString('base64'),
      BROKER_REDIS_URL: redis.url,
    }
    balanced = await startBalanced(cleanup, [{ env }, { env }])
    ada = await owner(balanced.to(0))
    const answer = await ada.call('POST', '/api/providers', { definition: definition(provider.origin) })
    assert.equal(answer.status, 201, answer.text)
  })
  beforeEach(() => {
    token = GRANTED
    interval = 5
  })

  /** At the first daemon, for a connection of its own. */
  const begin = async (more: Readonly<Record<string, unknown>> = {}) => {
    count += 1
    balanced.to(0)
    const wanted = { provider: 'acme', connection: `number-${count}`, ...more }
    const { status, body, text } = await ada.call('POST', '/api/auth/sessions', wanted)
    assert.equal(status, 201, text)
    return body
  }
  const statusAt = async (index: number, { id }: { readonly id: string }) => {
    balanced.to(index)
    return (await ada.call('GET', `/api/auth/sessions/${id}`)).body.status
  }
  const pathBack = ({ next_action: { url } }: { readonly next_action: { readonly url: string } }) =>
    `/auth/callback/oauth?${new URLSearchParams({ state: String(new URL(url).searchParams.get('state')), code: 'CNRYcode' })}`
  const comeBackTo = (index: number, session: Parameters<typeof pathBack>[0]) =>
    send(balanced.to(index), 'GET', pathBack(session))
  const asked = () => provider.requestsTo('/token').length
  const connected = async ({ connection }: { readonly connection: string }) => {
    const { body } = await ada.call('GET', '/api/connections')
    return body.connections.some((one: { connection: string }) => one.connection === connection)
  }

  it('are begun at one, seen and finished at another: by a browser', async () => {
    const session = await begin()
    assert.equal(await statusAt(1, session), 'waiting_for_user')
    assert.equal((await comeBackTo(1, session)).status, 200)
    assert.equal(await statusAt(0, session), 'completed')
    assert.ok(await connected(session))
  })

  it('by a form', async () => {
    const session = await begin({ provider: 'openai' })
    balanced.to(1)
    const { pathname } = new URL(session.next_action.url)
    const json = { accept: 'application/json', 'content-type': 'application/json' }
    assert.equal((await send(balanced.to(1), 'GET', pathname, '', json)).body.connection, session.connection)
    const input = { api_key: `sk-CNRY${'d'.repeat(44)}` }
    const { body, text } = await ada.call('POST', `/api/auth/sessions/${session.id}/resume`, { input })
    assert.equal(body.status, 'completed', text)
    assert.equal(await statusAt(0, session), 'completed')
  })

  it('by a code that is asked about at another', async () => {
    token = PENDING
    const session = await begin({ flow: 'device_code' })
    balanced.to(1)
    const resume = () => ada.call('POST', `/api/auth/sessions/${session.id}/resume`, { input: {} })
    assert.equal((await resume()).body.status, 'waiting_for_user')
    assert.equal(asked() > 0, true)
    for (const index of [0, 1]) assert.equal(await statusAt(index, session), 'waiting_for_user')
    assert.equal((await ada.call('DELETE', `/api/auth/sessions/${session.id}`)).body.status, 'cancelled')
    assert.equal(await statusAt(0, session), 'cancelled')
  })

  it('are cancelled at another, and cannot be finished at the first then', async () => {
    const session = await begin()
    const before = asked()
    balanced.to(1)
    assert.equal((await ada.call('DELETE', `/api/auth/sessions/${session.id}`)).body.status, 'cancelled')
    assert.notEqual((await comeBackTo(0, session)).status, 200)
    assert.deepEqual([asked(), await connected(session)], [before, false])
  })

  it('take each step once, at whichever daemon its browser comes back', async () => {
    const arrived = Promise.withResolvers<(answer: ScriptedAnswer) => void>()
    token = {
      raw: (response) =>
        arrived.resolve(({ body }) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
        ),
    }
    const session = await begin()
    const before = asked()
    const first = comeBackTo(0, session)
    const answer = await arrived.promise
    assert.equal(await statusAt(1, session), 'processing')
    assert.notEqual((await comeBackTo(1, session)).status, 200)
    answer(GRANTED)
    assert.equal((await first).status, 200)
    assert.notEqual((await comeBackTo(1, session)).status, 200)
    assert.deepEqual([asked(), await statusAt(1, session)], [before + 1, 'completed'])
  })

  it('do not run again where Redis forgets, or is given back what it held before', async () => {
    const session = await begin()
    const before = asked()
    for (const key of keys()) redis.command('COPY', key, `old:${key}`)
    assert.equal((await comeBackTo(1, session)).status, 200)
    for (const key of keys()) redis.command('COPY', `old:${key}`, key, 'REPLACE')
    for (const index of [0, 1]) assert.notEqual((await comeBackTo(index, session)).status, 200)
    redis.command('FLUSHALL')
    for (const index of [0, 1]) assert.notEqual((await comeBackTo(index, session)).status, 200)
    assert.equal(asked(), before + 1)
  })

  it('go on at the daemon that began them where Redis forgets, or is away', async () => {
    const first = await begin()
    redis.command('FLUSHALL')
    assert.equal((await comeBackTo(0, first)).status, 200)
    await redis.stop()
    const second = await begin()
    assert.equal((await comeBackTo(0, second)).status, 200)
    assert.ok(await connected(second))
    await redis.start()
  })

  it('can be ended where the daemon that was at them was killed', async () => {
    await whenUsed()
    const arrived = Promise.withResolvers<void>()
    token = { raw: () => arrived.resolve() }
    const session = await begin()
    const lost = comeBackTo(0, session).catch(() => undefined)
    await arrived.promise
    await balanced.daemons[0]?.stop('SIGKILL')
    await lost
    assert.equal(await statusAt(1, session), 'processing')
    assert.equal((await ada.call('DELETE', `/api/auth/sessions/${session.id}`)).body.status, 'cancelled')
    assert.notEqual((await comeBackTo(1, session)).status, 200)
    await balanced.again(0)
    assert.equal(await statusAt(0, session), 'cancelled')
  })

  it('are gone on with by another daemon, where the one that asked about a code was killed and nobody else asks', async () => {
    await whenUsed()
    while (!/ 2$/.test(redis.command('PUBSUB', 'NUMSUB', 'broker:messages').replaceAll('\n', ' ')));
    token = PENDING
    interval = 1
    const session = await begin({ flow: 'device_code' })
    await balanced.daemons[0]?.stop('SIGKILL')
    const before = asked()
    const arrived = Promise.withResolvers<void>()
    token = {
      raw(response) {
        arrived.resolve()
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(GRANTED.body))
      },
    }
    await arrived.promise
    while ((await statusAt(1, session)) !== 'completed');
    assert.deepEqual([asked(), await connected(session)], [before + 1, true])
    await balanced.again(0)
  })

  it('say nothing of themselves to who looks into Redis', async () => {
    await whenUsed()
    token = PENDING
    const sessions = [await begin(), await begin({ flow: 'device_code' }), await begin({ provider: 'openai' })]
    const held = redis.dump()
    assert.ok(keys().length >= 4, 'what is looked into holds logins')
    const state = String(new URL(sessions[0].next_action.url).searchParams.get('state'))
    const secrets = [DEVICE_CODE, 'WDJB-MJHT', 'CNRY', state, ...sessions.map(({ id }) => id)]
    for (const secret of [...secrets, 'acme', 'number-']) assert.equal(held.includes(secret), false, secret)
  })

  const keys = () => redis.command('KEYS', 'broker:*').split('\n').filter(Boolean)

  /** Both daemons connect again by themselves. */
  async function whenUsed(): Promise<void> {
    for (const index of [0, 1]) {
      balanced.to(index)
      while ((await ada.call('GET', '/api/ready')).body.status !== 'ready');
    }
  }
})

function definition(origin: string) {
  return {
    schema_version: 1,
    name: 'acme',
    display_name: 'Acme',
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: ['api.acme.example'],
    oauth: {
      authorization_url: `${origin}/auth`,
      token_url: `${origin}/token`,
      device_authorization_url: `${origin}/device`,
      scopes: ['read'],
      client_id: 'broker-test',
      token_auth_method: 'none',
    },
  }
}
