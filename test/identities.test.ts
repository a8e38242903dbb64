import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { generateSigningKey, signInnerRun } from '../src/identity/index.ts'
import {
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  startDaemon,
  suiteCleanup,
} from './daemon-under-test.ts'
import { signedIn } from './signed-in-browser.ts'

describe('identities', () => {
  let daemon: DaemonUnderTest
  let ada: Caller
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
  })

  const register = (one: Caller, body: object, headers = {}) =>
    one.call('POST', '/api/identities/register', body, headers)

  it('claims the local owner by the bootstrap secret, as the first principal and an admin', async () => {
    const { body } = await ada.call('GET', '/api/whoami')
    assert.equal(body.principal_role, 'admin')
    assert.equal(body.identity, 'ada')
    assert.equal(body.did, ada.key.did)
    assert.deepEqual(Object.keys(body).sort(), [
      'did',
      'home',
      'identity',
      'principal_id',
      'principal_role',
      'vault_id',
    ])
  })

  it('answers the same registration again with 200', async () => {
    const again = await register(ada, { handle: 'ada', did: ada.key.did })
    assert.equal(again.status, 200)
    assert.equal(again.body.status, 'claimed')
  })

  it('refuses a key that is taken with 409', async () => {
    const alias = caller(daemon, 'ada-again', ada.key)
    const answer = await register(alias, { handle: 'ada-again', did: ada.key.did })
    assert.deepEqual([answer.status, answer.body.error], [409, 'ConflictError'])
  })

  it('refuses a handle that the owner has with 409, and tells nobody else of it', async () => {
    const second = caller(daemon, 'ada')
    const body = { handle: 'ada', did: second.key.did }
    const bootstrap = readFileSync(join(daemon.home, 'server/bootstrap.secret'), 'utf8').trim()
    const taken = await register(second, body, { 'x-broker-bootstrap': bootstrap })
    assert.deepEqual([taken.status, taken.body.error], [409, 'ConflictError'])

    const eve = caller(daemon, 'ada')
    const answer = await register(eve, { handle: 'ada', did: eve.key.did })
    assert.deepEqual([answer.status, answer.body.status], [201, 'claim_required'])
    assert.equal((await ada.call('GET', '/api/whoami')).body.did, ada.key.did)
    assert.equal((await eve.call('GET', '/api/whoami')).body.error, 'IdentityNotClaimedError')
  })

  it('refuses a registration that another key signed', async () => {
    const eve = caller(daemon, 'eve')
    const answer = await register(eve, { handle: 'eve', did: generateSigningKey().did })
    assert.equal(answer.status, 401)
  })

  it('refuses a wrong bootstrap secret', async () => {
    const eve = caller(daemon, 'eve')
    const answer = await register(eve, { handle: 'eve', did: eve.key.did }, { 'x-broker-bootstrap': 'CNRY-guess' })
    assert.equal(answer.status, 401)
    assert.doesNotMatch(answer.text, /CNRY/)
  })

  it('leaves an identity without the secret unclaimed: it may ask for itself, and for nothing else', async () => {
    const guest = caller(daemon, 'guest')
    const first = await register(guest, { handle: 'guest', did: guest.key.did })
    assert.equal(first.status, 201)
    assert.equal(first.body.status, 'claim_required')
    assert.match(first.body.claim_url, /\/api\/claim\/[A-Za-z0-9_-]{20,}$/)
    assert.ok(Date.parse(first.body.expires_at) > Date.now())

    const self = await guest.call('GET', '/api/identities/guest')
    assert.equal(self.status, 200)
    assert.equal(self.body.status, 'claim_required')

    const refused = await guest.call('GET', '/api/whoami')
    assert.equal(refused.status, 403)
    assert.equal(refused.body.error, 'IdentityNotClaimedError')
    assert.equal(refused.body.claim_url, first.body.claim_url)
  })

  it('removes an identity of the same principal, which can sign no more', async () => {
    const temp = await owner(daemon, 'temp')
    assert.equal((await temp.call('GET', '/api/whoami')).status, 200)
    const list = await ada.call('GET', '/api/identities')
    assert.deepEqual(
      list.body.identities.map((one: { identity: string }) => one.identity),
      ['ada', 'temp'],
    )
    assert.equal((await ada.call('DELETE', '/api/identities/temp')).status, 200)
    assert.equal((await temp.call('GET', '/api/whoami')).status, 401)
    assert.equal((await ada.call('DELETE', '/api/identities/temp')).status, 404)
  })

  it('lets only so many wait to be claimed', async () => {
    const answers = []
    for (let at = 0; at < 60 && answers.at(-1)?.status !== 429; at++) {
      const one = caller(daemon, `waiting-${at}`)
      answers.push(await register(one, { handle: one.handle, did: one.key.did }))
    }
    const last = answers.at(-1)
    assert.equal(last?.status, 429)
    assert.equal(last?.body.error, 'RateLimitedError')
    assert.ok(Number(last?.headers['retry-after']) > 0)
    assert.equal((await owner(daemon, 'ada-second')).handle, 'ada-second')
  })

  it('is not used by who signs with its handle and another key', async () => {
    const [mine, theirs] = [await owner(daemon, 'resting'), caller(daemon, 'resting')]
    assert.equal((await theirs.call('GET', '/api/whoami')).status, 401)
    const { body } = await mine.call('GET', '/api/identities/resting')
    assert.equal(body.last_used_at, undefined)
  })

  it("does not tell another's identity from one that is not there", async () => {
    await register(caller(daemon, 'stranger'), {})
    const answers = await Promise.all(
      ['guest', 'nobody-at-all'].map((name) => ada.call('DELETE', `/api/identities/${name}`)),
    )
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.error]),
      [
        [404, 'NotFoundError'],
        [404, 'NotFoundError'],
      ],
    )
  })
})

describe('one handle of two principals', () => {
  let daemon: DaemonUnderTest
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
  })

  const password = 'CNRY correct horse battery'
  const register = (one: Caller) => one.call('POST', '/api/identities/register', { handle: 'ci', did: one.key.did })

  it('is two agents, each with its own vault, log and life; a second one of a principal is refused to it alone', async () => {
    const [ada, eve] = [
      await signedIn(daemon, 'register', { email: 'ada@example.com', password }),
      await signedIn(daemon, 'register', { email: 'eve@example.com', password }),
    ]
    const [hers, his, third] = [caller(daemon, 'ci'), caller(daemon, 'ci'), caller(daemon, 'ci')]
    const claims = []
    for (const one of [hers, his, third]) {
      const { status, body } = await register(one)
      assert.deepEqual([status, body.status], [201, 'claim_required'])
      claims.push(`${new URL(body.claim_url).pathname}/confirm`)
    }
    assert.equal((await ada.call('POST', claims[0] ?? '', {})).status, 200)
    assert.equal((await eve.call('POST', claims[1] ?? '', {})).status, 200)

    const refused = await ada.call('POST', claims[2] ?? '', {})
    assert.deepEqual([refused.status, refused.body.error], [409, 'ConflictError'])
    assert.match(refused.body.message, /there is an agent of that name already/)

    await connect(hers, 'openai', `sk-CNRY${'a'.repeat(44)}`)
    assert.equal((await hers.call('GET', '/api/whoami')).body.principal_id, ada.principalId)
    assert.equal((await his.call('GET', '/api/whoami')).body.principal_id, eve.principalId)
    assert.deepEqual((await his.call('GET', '/api/connections')).body.connections, [])
    const event = { event: 'proxy.request', status: 'success', id: 'the-same-id' }
    for (const one of [hers, his])
      assert.equal((await one.call('POST', '/audit/events', { events: [event] })).status, 202)
    const { events } = (await hers.call('GET', '/api/audit/events?event=proxy.request')).body
    assert.equal(events.length, 2, 'an id of one is not that of the other')

    const key = generateSigningKey()
    await hers.call('POST', '/api/runs', { did: key.did })
    assert.equal((await hers.call('DELETE', '/api/identities/ci')).status, 200)
    assert.equal((await caller(daemon, 'ci', key).call('GET', '/api/proxy/routes')).status, 401)
    assert.equal((await his.call('GET', '/api/identities/ci')).body.did, his.key.did)
    assert.equal((await ada.call('POST', claims[2] ?? '', {})).status, 200, 'the name is free again')
    assert.equal((await third.call('GET', '/api/whoami')).body.principal_id, ada.principalId)
  })
})

describe('the key of a run', () => {
  let daemon: DaemonUnderTest
  let ada: Caller
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    await connect(ada, 'openai', `sk-CNRY${'a'.repeat(44)}`)
    await connect(ada, 'openai', `sk-CNRY${'b'.repeat(44)}`, { connection: 'work' })
    await connect(ada, 'groq', `gsk_CNRY${'c'.repeat(48)}`)
  })

  async function startRun(grants: object): Promise<{ run: Caller; id: string }> {
    const key = generateSigningKey()
    const answer = await ada.call('POST', '/api/runs', { did: key.did, ...grants })
    assert.equal(answer.status, 201)
    return { run: caller(daemon, 'ada', key), id: answer.body.run_id }
  }
  const resolve = (one: Caller, host: string, more = {}) =>
    one.call('POST', '/api/credentials/resolve', { host, ...more })

  it('resolves, lists routes and ships events; every other route answers 403', async () => {
    const { run } = await startRun({})
    assert.equal((await resolve(run, 'api.openai.com')).status, 200)
    assert.equal((await run.call('GET', '/api/proxy/routes')).status, 200)
    const event = { event: 'proxy.request', status: 'success' }
    assert.equal((await run.call('POST', '/audit/events', { events: [event] })).status, 202)

    const { body } = await run.call('GET', '/openapi.json')
    const signed = Object.entries<Record<string, { security: unknown[]; description: string }>>(body.paths).flatMap(
      ([path, operations]) =>
        Object.entries(operations)
          .filter(([, { security }]) => security.length > 0)
          .filter(([, { description }]) => !/runs|need not be/.test(description))
          .map(([method, { description }]) => ({
            method: method.toUpperCase(),
            path: path.replace(/\{run_id\}/, ada.key.did).replace(/\{\w+\}/g, 'openai'),
            // A signature is not even looked at where only browsers come.
            refusal: description.startsWith('By a browser') ? 401 : 403,
          })),
    )
    assert.ok(signed.length > 12)
    for (const { method, path, refusal } of signed) {
      assert.equal((await run.call(method, path)).status, refusal, `${method} ${path}`)
    }
  })

  it('uses the connection the run was started with, and no other', async () => {
    const { run } = await startRun({ connections: { openai: 'work' } })
    const answer = await resolve(run, 'api.openai.com')
    assert.equal(answer.body.connection, 'work')
    assert.match(answer.body.headers.Authorization, /bbbb/)
    assert.equal((await resolve(run, 'api.openai.com', { connection: 'default' })).status, 403)
  })

  it('injects only what the run was started for', async () => {
    const { run } = await startRun({ only: ['groq'] })
    assert.equal((await resolve(run, 'api.groq.com')).status, 200)
    assert.equal((await resolve(run, 'api.openai.com')).status, 404)
    const routes = await run.call('GET', '/api/proxy/routes')
    assert.deepEqual(
      routes.body.routes.map(({ provider }: { provider: string }) => provider),
      ['groq'],
    )
  })

  it('holds a run that is started within its own to that one, and nobody else’s word does', async () => {
    const { run: outer, id: within } = await startRun({ only: ['groq'] })
    const wide = await startRun({})
    const key = generateSigningKey()
    const start = async (grants: object, { did } = generateSigningKey(), who = ada) =>
      (await who.call('POST', '/api/runs', { did, ...grants })).status
    const said = (did: string, by = outer.key) => ({ within, within_signature: signInnerRun(by, { within, did }) })
    const other = generateSigningKey()

    assert.equal(await start({ within }), 403)
    assert.equal(await start(said(other.did, wide.run.key), other), 403)
    assert.equal(await start(said(key.did), other), 403)
    assert.equal(await start({ ...said(other.did), within: wide.id }, other), 403)
    assert.equal(await start(said(other.did), other, await owner(daemon, 'nested')), 403, 'another agent')
    assert.equal(await start({ ...said(other.did), only: ['openai'] }, other), 403)
    assert.equal(await start({ ...said(other.did), connections: { openai: 'work' } }, other), 403)
    assert.equal(await start(said(other.did), other, outer), 403, 'the key of a run starts none')

    assert.equal(await start(said(key.did), key), 201)
    const inner = caller(daemon, 'ada', key)
    assert.equal((await resolve(inner, 'api.groq.com')).status, 200)
    assert.equal((await resolve(inner, 'api.openai.com')).status, 404)
    await ada.call('POST', `/api/runs/${within}/end`, {})
    assert.equal((await resolve(inner, 'api.groq.com')).status, 401)
  })

  it('is not given for what is not there', async () => {
    const ask = async (grants: object) =>
      (await ada.call('POST', '/api/runs', { did: generateSigningKey().did, ...grants })).body.error
    assert.equal(await ask({ only: ['no-such-service'] }), 'ProviderNotFoundError')
    assert.equal(await ask({ connections: { openai: 'none' } }), 'ConnectionNotFoundError')
  })

  it('is worthless once the run has ended', async () => {
    const { run, id } = await startRun({})
    assert.equal((await ada.call('POST', `/api/runs/${id}/end`, { exit_code: 3 })).status, 200)
    assert.equal((await resolve(run, 'api.openai.com')).status, 401)
    const { body } = await ada.call('GET', '/api/audit/events?event=run.ended')
    assert.equal(body.events[0].run_id, id)
    assert.equal(body.events[0].reason, 'exit code 3')
    assert.equal(body.events[0].status, 'failure')
  })

  it('goes with the identity that started it', async () => {
    const temp = await owner(daemon, 'temp')
    const key = generateSigningKey()
    await temp.call('POST', '/api/runs', { did: key.did })
    const run = caller(daemon, 'temp', key)
    assert.equal((await resolve(run, 'api.openai.com')).status, 200)
    await ada.call('DELETE', '/api/identities/temp')
    assert.equal((await resolve(run, 'api.openai.com')).status, 401)
  })

  it('cannot be the key of an identity', async () => {
    const answer = await ada.call('POST', '/api/runs', { did: ada.key.did })
    assert.equal(answer.status, 422)
  })
})
