import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { type Caller, caller, type DaemonUnderTest, owner, startDaemon } from './daemon-under-test.ts'
import { ACME_HOST, acmeDefinition, expireTokens, expireTokensIn, logInByBrowser } from './oauth-login.ts'
import { startOpenIdProvider } from './openid-provider.ts'
import { startPostgres } from './postgres-server.ts'
import { crashRefreshes } from './refresh-crashes.ts'

const CRASHES = 12
const ROUNDS = 5

async function openStory(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const provider = await startOpenIdProvider()
  t.after(() => provider.close())
  const daemon = await startDaemon(t, { env })
  const ada = await owner(daemon)
  assert.equal((await ada.call('POST', '/api/providers', { definition: acmeDefinition(provider) })).status, 201)
  await logInByBrowser(daemon, ada, provider)
  return { provider, daemon, ada }
}

async function token(one: Caller, question: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { status, body, text } = await one.call('POST', '/api/credentials/resolve', { host: ACME_HOST, ...question })
  assert.equal(status, 200, text)
  return String(body.headers.Authorization).replace('Bearer ', '')
}

async function eventsOf(ada: Caller, name: string) {
  const { body } = await ada.call('GET', `/api/audit/events?event=${name}`)
  return body.events as readonly { readonly identity: string; readonly status: string; readonly reason?: string }[]
}

describe('refresh, against a provider that rotates refresh tokens and ends a login that spends one twice', () => {
  it('is one request for all who ask at once, and the login goes on', async (t) => {
    const { provider, daemon, ada } = await openStory(t)
    expireTokens(daemon.home)
    const tokens = await Promise.all(Array.from({ length: 100 }, () => token(ada)))
    assert.equal(new Set(tokens).size, 1)
    assert.equal(provider.tokenRequests('refresh_token'), 1)
    assert.equal(await provider.isActive(tokens[0] ?? ''), true)
    assert.deepEqual(
      (await eventsOf(ada, 'provider.refreshed')).map(({ identity, status }) => [identity, status]),
      [['ada', 'success']],
    )
  })

  it('is told to all when the provider has ended the login, with what to do', async (t) => {
    const { provider, daemon, ada } = await openStory(t)
    provider.endAllGrants()
    expireTokens(daemon.home)
    const first = await ada.call('POST', '/api/credentials/resolve', { host: ACME_HOST })
    assert.deepEqual([first.status, first.body.error], [502, 'RefreshFailedError'])
    assert.match(first.body.hint, /broker login acme .*--force/)
    const second = await ada.call('POST', '/api/credentials/resolve', { host: ACME_HOST })
    assert.deepEqual([second.status, second.body.error], [409, 'TokenExpiredError'])
    assert.equal(provider.tokenRequests('refresh_token'), 1)
    const { body } = await ada.call('GET', '/api/connections')
    assert.equal(body.connections[0].status, 'needs_login')
    assert.equal((await eventsOf(ada, 'provider.refresh_failed'))[0]?.reason, 'invalid_grant')
    const { body: ready } = await ada.call('GET', '/api/ready')
    assert.equal(ready.status, 'ready')
    assert.match(
      ready.warnings.join(),
      /^Connection "default" of acme will not serve: .*\(invalid_grant\)\. Mend it: broker login acme/,
    )
    await logInByBrowser(daemon, ada, provider, { force: true })
    assert.equal(await provider.isActive(await token(ada)), true)
  })

  it('follows a refusal of the token by its host, once', async (t) => {
    const { provider, ada } = await openStory(t)
    const { body } = await ada.call('POST', '/api/credentials/resolve', { host: ACME_HOST })
    const tokens = await Promise.all(Array.from({ length: 20 }, () => token(ada, { rejected_version: body.version })))
    assert.equal(new Set(tokens).size, 1)
    assert.notEqual(tokens[0], String(body.headers.Authorization).replace('Bearer ', ''))
    assert.equal(provider.tokenRequests('refresh_token'), 1)
  })

  it('is finished and stored by a daemon that is told to stop', async (t) => {
    const { provider, daemon, ada } = await openStory(t)
    const held = provider.holdTokenAnswers()
    expireTokens(daemon.home)
    const asked = token(ada).catch(() => undefined)
    await held.arrived()
    const stopped = daemon.stop('SIGTERM')
    held.release()
    assert.equal(await stopped, 0)
    await asked
    const again = caller(await startDaemon(t, { home: daemon.home }), 'ada', ada.key)
    assert.equal(await provider.isActive(await token(again)), true)
    assert.equal(provider.tokenRequests('refresh_token'), 1)
  })

  it('survives being killed at any moment: nothing is given up that the provider still honours', async (t) => {
    const report = await crashRefreshes(t, CRASHES)
    t.diagnostic(`${CRASHES} crashes: ${report.kept} went on, ${report.interrupted} rotations were interrupted`)
    assert.deepEqual([report.lost, report.kept + report.interrupted], [0, CRASHES])
  })
})

describe('refresh by several daemons of a team', { skip: whyNot('postgres') }, () => {
  it('is one request, whichever daemon is asked', async (t) => {
    const postgres = await startPostgres(t)
    const env = { BROKER_DATABASE_URL: postgres.url, BROKER_MASTER_KEY: randomBytes(32).toString('base64') }
    const { provider, daemon, ada } = await openStory(t, env)
    const definition = acmeDefinition(provider)
    const others: DaemonUnderTest[] = [await startDaemon(t, { env }), await startDaemon(t, { env })]
    const callers = [ada, ...others.map((other) => caller(other, 'ada', ada.key))]
    // Definitions are files of each daemon's home.
    for (const one of callers.slice(1)) await one.call('POST', '/api/providers', { definition })
    for (let round = 1; round <= ROUNDS; round++) {
      await expireTokensIn(postgres.url)
      const asked = callers.flatMap((one) => Array.from({ length: 30 }, () => token(one)))
      assert.equal(new Set(await Promise.all(asked)).size, 1)
      assert.equal(provider.tokenRequests('refresh_token'), round)
    }
    assert.equal(await provider.isActive(await token(ada)), true)
    assert.equal(await daemon.stop(), 0)
  })
})
