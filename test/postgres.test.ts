import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { mintProof } from '../src/identity/index.ts'
import { whyNot } from '../tools/available.ts'
import { assertFiltersFind } from './audit-filters.ts'
import {
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
import { type Postgres, startPostgres } from './postgres-server.ts'
import { registerFrom } from './register-from.ts'
import { browserWith, cookiesOf, signedIn } from './signed-in-browser.ts'

describe('on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let env: Record<string, string>
  let postgres: Postgres
  before(async () => {
    postgres = await startPostgres(cleanup)
    env = { BROKER_DATABASE_URL: postgres.url, BROKER_MASTER_KEY: randomBytes(32).toString('base64') }
  })

  it('two daemons serve one vault, one audit log and one memory of used proofs', async () => {
    const first = await startDaemon(cleanup, { env })
    const ada = await owner(first)
    await connect(ada, 'openai', `sk-CNRY${'a'.repeat(44)}`)
    // Behind one public name, a proof is for all of them; the port stands for it here.
    await first.stop()
    const again = await startDaemon(cleanup, { home: first.home, env: { ...env, BROKER_PORT: String(first.port) } })
    const second = await startDaemon(cleanup, { env })
    const here = caller(again, 'ada', ada.key)
    const there = caller(second, 'ada', ada.key)
    for (const one of [here, there]) {
      const { body } = await one.call('GET', '/api/ready')
      assert.deepEqual([body.status, body.issues], ['ready', undefined])
      assert.equal((await one.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
    }
    await connect(there, 'groq', `gsk_CNRY${'c'.repeat(48)}`)
    assert.equal((await here.call('POST', '/api/credentials/resolve', { host: 'api.groq.com' })).status, 200)

    const events = Array.from({ length: 40 }, (_, at) => ({
      event: 'proxy.request',
      status: 'success',
      id: `number-${at}`,
    }))
    const both = [...events, ...events].map((event, at) =>
      (at % 2 === 0 ? here : there).call('POST', '/audit/events', { events: [event] }),
    )
    assert.deepEqual(new Set((await Promise.all(both)).map(({ status }) => status)), new Set([202]))
    const { body } = await here.call('GET', '/api/audit/events?limit=500')
    const seqs = body.events.map(({ seq }: { seq: number }) => seq)
    assert.deepEqual(
      seqs,
      Array.from({ length: seqs.length }, (_, at) => seqs.length - at),
    )
    assert.equal(body.events.filter(({ source }: { source: string }) => source === 'external').length, 40)
    assert.equal((await there.call('GET', '/api/ready')).body.status, 'ready')
  })

  it('finds and counts events by several filters', async () => {
    await assertFiltersFind(await owner(await startDaemon(cleanup, { env }), 'finder'))
  })

  it('what two ask for at once happens once: the first owner, a handle, a connection', async () => {
    const fresh = { ...env, BROKER_DATABASE_URL: await postgres.newDatabase('races') }
    const daemons = await Promise.all([1, 2].map(() => startDaemon(cleanup, { env: fresh })))
    const people = await Promise.all(
      daemons.flatMap((daemon, at) => [1, 2, 3].map((n) => owner(daemon, `agent-${at}-${n}`))),
    )
    const principals = await Promise.all(people.map((one) => one.call('GET', '/api/whoami')))
    assert.equal(new Set(principals.map(({ body }) => body.principal_id)).size, 1)

    const sessions = await Promise.all(
      people.map((one) => one.call('POST', '/api/auth/sessions', { provider: 'openai' })),
    )
    const ended = await Promise.all(
      people.map((one, at) =>
        one.call('POST', `/api/auth/sessions/${sessions[at]?.body.id}/resume`, {
          input: { api_key: `sk-CNRY${'abcdef'.charAt(at).repeat(44)}` },
        }),
      ),
    )
    assert.deepEqual(ended.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409])
    const [first] = people
    assert.equal((await first?.call('GET', '/api/ready'))?.body.status, 'ready')
  })

  it('accounts, sessions, claims and counts are those of all daemons', async () => {
    const [first, second] = await Promise.all([startDaemon(cleanup, { env }), startDaemon(cleanup, { env })])
    const login = (email: string) => ({ email, password: 'CNRY correct horse battery' })
    const people = await Promise.all(
      [first, second, first, second].map((daemon, at) => signedIn(daemon, 'register', login(`p${at}@example.com`))),
    )
    assert.equal(people.filter(({ role }) => role === 'admin').length, 1)
    const [one, two] = [people[0], people[1]]
    assert.ok(one && two)
    const elsewhere = browserWith(second, one.cookie, one.csrfToken)
    assert.equal((await elsewhere('GET', '/api/me')).body.email, 'p0@example.com')

    const robot = caller(first, 'robot')
    const { body } = await robot.call('POST', '/api/identities/register', { handle: 'robot', did: robot.key.did })
    const confirm = `${new URL(body.claim_url).pathname}/confirm`
    const both = await Promise.all([elsewhere('POST', confirm, {}), two.call('POST', confirm, {})])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 404])

    const { counts } = (await elsewhere('GET', '/api/audit/counts?event=account.registered')).body
    const sum = counts.reduce((total: number, { count }: { count: number }) => total + count, 0)
    assert.equal(sum, one.role === 'admin' ? 4 : 1)
    assert.equal((await elsewhere('POST', '/api/logout', {})).status, 200)
    assert.equal((await one.call('GET', '/api/me')).status, 401)
  })

  it('what is counted of a source, and a browser that is known, are those of all daemons', async () => {
    const fresh = { ...env, BROKER_DATABASE_URL: await postgres.newDatabase('sources') }
    const [first, second] = await Promise.all([1, 2].map(() => startDaemon(cleanup, { env: fresh })))
    assert.ok(first && second)
    const ada = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
    const json = { 'content-type': 'application/json', accept: 'application/json' }
    const account = (daemon: DaemonUnderTest, route: string, login: typeof ada, source: string, cookie = '') =>
      send(daemon, 'POST', `/api/auth/${route}`, JSON.stringify(login), { ...json, cookie }, source)

    const known = cookiesOf(await account(first, 'register', ada, '127.0.0.1'))
    const guess = (at: number) =>
      account([first, second][at % 2] ?? first, 'login', { ...ada, password: 'CNRY guessed' }, '127.0.0.2')
    const guesses = await Promise.all(Array.from({ length: 8 }, (_, at) => guess(at)))
    assert.equal(guesses.filter(({ status }) => status === 401).length, 5)
    assert.equal((await account(second, 'login', ada, '127.0.0.2')).status, 429)
    assert.equal((await account(second, 'login', ada, '127.0.0.2', known)).status, 200)
    assert.equal((await account(second, 'login', ada, '127.0.0.3')).status, 200)

    for (let at = 0; at < 50; at += 1) await registerFrom(at % 2 === 0 ? first : second, `robot-${at}`, '127.0.0.2')
    assert.equal((await registerFrom(first, 'one-more', '127.0.0.2')).status, 429)
    assert.equal((await registerFrom(second, 'one-more', '127.0.0.2')).status, 429)
    assert.equal((await registerFrom(second, 'honest', '127.0.0.3')).status, 201)
  })

  it('holds texts that no column can: the log stays whole', async () => {
    const fresh = { ...env, BROKER_DATABASE_URL: await postgres.newDatabase('texts') }
    const daemon = await startDaemon(cleanup, { env: fresh })
    const ada = await owner(daemon)
    const event = { event: 'proxy.request', status: 'success', reason: 'a\u0000b\ud800c', run_id: '\udfff' }
    assert.equal((await ada.call('POST', '/audit/events', { events: [event] })).status, 202)
    const { body } = await ada.call('GET', '/api/audit/events?limit=1')
    assert.deepEqual([body.events[0].reason, body.events[0].run_id], ['a\ufffdb\ufffdc', '\ufffd'])
    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
  })

  it('a proof is used once, before and after a restart', async () => {
    const daemon = await startDaemon(cleanup, { env })
    const bob = await owner(daemon, 'bob')
    const url = `${daemon.origin}/api/whoami`
    const proof = mintProof(bob.key, { handle: 'bob', method: 'GET', url, body: new Uint8Array() })
    const use = (to = daemon) => send(to, 'GET', '/api/whoami', '', { authorization: `PoP ${proof}` })
    assert.equal((await use()).status, 200)
    assert.equal((await use()).status, 401)
    await daemon.stop('SIGKILL')
    const restarted = await startDaemon(cleanup, {
      home: daemon.home,
      env: { ...env, BROKER_PORT: String(daemon.port) },
    })
    assert.equal((await use(restarted)).status, 401)
  })

  it('an outage is said with 503, and health goes on', async () => {
    const daemon = await startDaemon(cleanup, { env })
    const eve = await owner(daemon, 'eve')
    await postgres.stop()
    const answer = await eve.call('GET', '/api/connections')
    assert.equal(answer.status, 503)
    assert.equal(answer.body.error, 'DaemonUnavailableError')
    assert.equal((await send(daemon, 'GET', '/api/health')).status, 200)
    const { code, output } = await refusedDaemon(temporaryHome(cleanup), env)
    assert.equal(code, 9)
    assert.match(output, /Postgres does not answer/)
  })
})
