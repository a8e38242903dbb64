import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { type Caller, caller, type DaemonUnderTest, owner, send, startDaemon } from './daemon-under-test.ts'
import { expireTokens, expireTokensIn } from './oauth-login.ts'
import { startPostgres } from './postgres-server.ts'
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from './scripted-oauth-server.ts'

const HOST = 'api.rotating.example'

/** What the token endpoint answers to the refresh of this turn, from 1 on; undefined for new tokens. */
type Turn = (turn: number) => ScriptedAnswer | undefined

interface RotatingProvider extends ScriptedServer {
  /** The refresh tokens that it was shown. */
  spent(): readonly string[]
}

/** Grants tokens `<kind>-CNRY-<turn>`: turn 0 is the login's. It honours what it granted last, and takes any refresh token. */
async function startProvider(t: TestContext, answer: Turn): Promise<RotatingProvider> {
  const spent: string[] = []
  const server = await startScriptedServer(({ path, form }) => {
    if (path !== '/token') return undefined
    const token = form.get('refresh_token')
    if (token !== null) spent.push(token)
    return (token === null ? undefined : answer(spent.length)) ?? { body: granted(spent.length) }
  })
  t.after(() => server.close())
  return { ...server, spent: () => spent }
}

function granted(turn: number) {
  const [access_token, refresh_token] = [`access-CNRY-${turn}`, `refresh-CNRY-${turn}`]
  return { access_token, refresh_token, token_type: 'bearer', expires_in: 3600 }
}

function definition({ origin }: ScriptedServer) {
  return {
    schema_version: 1,
    name: 'rotating',
    display_name: 'Rotating',
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: [HOST],
    oauth: {
      authorization_url: `${origin}/authorize`,
      token_url: `${origin}/token`,
      scopes: ['read'],
      client_id: 'broker',
      token_auth_method: 'none',
    },
  }
}

async function logIn(daemon: DaemonUnderTest, ada: Caller, provider: ScriptedServer): Promise<void> {
  assert.equal((await ada.call('POST', '/api/providers', { definition: definition(provider) })).status, 201)
  const session = await ada.call('POST', '/api/auth/sessions', { provider: 'rotating' })
  const state = new URL(session.body.next_action.url).searchParams.get('state') ?? ''
  const back = await send(daemon, 'GET', `/auth/callback/oauth?${new URLSearchParams({ code: 'CNRYcode', state })}`)
  assert.equal(back.status, 200, back.text)
}

const ask = (one: Caller) => one.call('POST', '/api/credentials/resolve', { host: HOST })

async function tokenOf(one: Caller): Promise<string> {
  const { body, status, text } = await ask(one)
  assert.equal(status, 200, text)
  return String(body.headers.Authorization).replace('Bearer ', '')
}

/** An answer that is held back. */
function held(body: object = granted(1)) {
  const arrived = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const answer: ScriptedAnswer = {
    raw: async (response) => {
      arrived.resolve()
      await gate.promise
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    },
  }
  return { answer, arrived: arrived.promise, release: gate.resolve }
}

describe('a provider that is slow, or says no in words of its own', { concurrency: 4 }, () => {
  async function openStory(t: TestContext, answer: Turn) {
    const provider = await startProvider(t, answer)
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    await logIn(daemon, ada, provider)
    expireTokens(daemon.home)
    const view = async () => (await ada.call('GET', '/api/connections')).body.connections[0]
    return { provider, daemon, ada, view }
  }

  it('may take twelve seconds for new tokens: who asks is told after ten, and the login goes on', async (t) => {
    const slow = held()
    const { provider, ada } = await openStory(t, () => slow.answer)
    const asked = ask(ada)
    await slow.arrived
    setTimeout(slow.release, 12_000)
    const { status, body } = await asked
    assert.deepEqual([status, body.error], [502, 'RefreshFailedError'])
    assert.match(body.message, /has not answered within 10 s/)
    assert.equal(await tokenOf(ada), 'access-CNRY-1')
    assert.deepEqual(provider.spent(), ['refresh-CNRY-0'])
  })

  for (const [what, answer, reason] of [
    ['401 and a message', { status: 401, body: { message: 'Unauthorized' } }, 'answer_401'],
    ['401 and a page', { status: 401, body: '<html>CNRY' }, 'answer_401'],
    ['403 access_denied', { status: 403, body: { error: 'access_denied' } }, 'access_denied'],
    ['400 and numbers', { status: 400, body: { code: 40010, msg: 'no such grant' } }, 'answer_400'],
  ] as const)
    it(`needs a login after ${what}, with since and reason`, async (t) => {
      const { ada, view } = await openStory(t, () => answer)
      assert.equal((await ask(ada)).status, 502)
      const { status, attention } = await view()
      assert.deepEqual(
        [status, attention.kind, attention.fix.split(' --')[0]],
        ['needs_login', 'needs_login', 'broker login rotating'],
      )
      assert.match(attention.reason, new RegExp(`refuses to refresh it \\(${reason}\\)`))
      assert.ok(Math.abs(Date.now() - Date.parse(attention.since)) < 60_000)
      const again = await ask(ada)
      assert.deepEqual([again.status, again.body.error], [409, 'TokenExpiredError'])
    })

  for (const [what, answer, status, kind] of [
    ['refuses in words of its own', { status: 401, body: { message: 'Unauthorized' } }, 'needs_login', 'needs_login'],
    ['is behind a wall', { status: 403, body: '<html>Attention Required' }, 'connected', 'refresh_failing'],
  ] as const)
    it(`is trouble at once where the host refuses a token that has not ended, and the provider ${what}`, async (t) => {
      const provider = await startProvider(t, () => answer)
      const daemon = await startDaemon(t)
      const ada = await owner(daemon)
      await logIn(daemon, ada, provider)
      const { body } = await ask(ada)
      await ada.call('POST', '/api/credentials/resolve', { host: HOST, rejected_version: body.version })
      const { connections, attention } = (await ada.call('GET', '/api/connections')).body
      assert.deepEqual([connections[0].status, connections[0].attention.kind], [status, kind])
      assert.equal(attention[0].kind, kind)
      const { warnings } = (await ada.call('GET', '/api/ready')).body
      assert.match(warnings.join(), /of rotating will not serve/)
    })

  it('is one truth to why as well', async (t) => {
    const { ada } = await openStory(t, () => ({ status: 429, headers: { 'retry-after': '3600' }, body: {} }))
    const { body } = await ask(ada)
    assert.match(body.hint, /is asked again in 60 min/)
    const why = await ada.call('GET', `/api/why?url=https://${HOST}/`)
    assert.equal(why.body.verdict, 'refuse')
  })

  for (const [what, answer] of [
    ['a wall of HTML with 403', { status: 403, body: '<html>Attention Required' }],
    ['a gateway that is down', { status: 502, body: { message: 'Bad gateway' } }],
    ['a limit', { status: 403, body: { error: 'rate_limit_exceeded' } }],
  ] as const)
    it(`is kept through ${what}`, async (t) => {
      const { ada, view } = await openStory(t, () => answer)
      assert.equal((await ask(ada)).status, 502)
      const { status, attention } = await view()
      assert.deepEqual([status, attention.kind], ['connected', 'refresh_failing'])
    })
})

describe('the lease on a refresh, of several daemons of a team', { skip: whyNot('postgres'), concurrency: 2 }, () => {
  async function openTeam(t: TestContext, answer: Turn) {
    const provider = await startProvider(t, answer)
    const postgres = await startPostgres(t)
    const env = { BROKER_DATABASE_URL: postgres.url, BROKER_MASTER_KEY: randomBytes(32).toString('base64') }
    const [first, second] = [await startDaemon(t, { env }), await startDaemon(t, { env })]
    const ada = await owner(first)
    await logIn(first, ada, provider)
    const there = caller(second, 'ada', ada.key)
    // Definitions are files of each daemon's home.
    await there.call('POST', '/api/providers', { definition: definition(provider) })
    await expireTokensIn(postgres.url)
    return { provider, first, here: ada, there }
  }

  it('is renewed while the provider takes its time: nobody else spends the token', async (t) => {
    const slow = held()
    const { provider, here, there } = await openTeam(t, () => slow.answer)
    const asked = tokenOf(here)
    await slow.arrived
    setTimeout(slow.release, 8_000)
    assert.deepEqual(await Promise.all([asked, tokenOf(there)]), ['access-CNRY-1', 'access-CNRY-1'])
    assert.deepEqual(provider.spent(), ['refresh-CNRY-0'])
  })

  it('keeps the others waiting for five seconds at most after its holder was killed', async (t) => {
    const never = held()
    const { provider, first, here, there } = await openTeam(t, (turn) => (turn === 1 ? never.answer : undefined))
    const asked = ask(here).catch(() => undefined)
    await never.arrived
    await first.stop('SIGKILL')
    await asked
    const start = performance.now()
    assert.equal(await tokenOf(there), 'access-CNRY-2')
    assert.ok(performance.now() - start < 5_000, `${performance.now() - start} ms`)
    assert.deepEqual(provider.spent(), ['refresh-CNRY-0', 'refresh-CNRY-0'])
  })

  it('keeps a holder that was paused from writing over the one who went on', async (t) => {
    const late = held()
    const { first, here, there } = await openTeam(t, (turn) => (turn === 1 ? late.answer : undefined))
    const asked = ask(here).catch(() => undefined)
    await late.arrived
    first.process.kill('SIGSTOP')
    late.release()
    assert.equal(await tokenOf(there), 'access-CNRY-2')
    first.process.kill('SIGCONT')
    await asked
    assert.deepEqual([await tokenOf(here), await tokenOf(there)], ['access-CNRY-2', 'access-CNRY-2'])
  })

  it('takes the answer of a holder that was paused, where the one after it was refused for that reason', async (t) => {
    const late = held()
    const refused = { status: 400, body: { error: 'invalid_grant' } }
    const { first, here, there } = await openTeam(t, (turn) => (turn === 1 ? late.answer : refused))
    const asked = ask(here).catch(() => undefined)
    await late.arrived
    first.process.kill('SIGSTOP')
    late.release()
    assert.equal((await ask(there)).status, 502)
    first.process.kill('SIGCONT')
    await asked
    assert.deepEqual([await tokenOf(here), await tokenOf(there)], ['access-CNRY-1', 'access-CNRY-1'])
  })
})
