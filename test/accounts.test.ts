import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  type Answer,
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  send,
  startDaemon,
  suiteCleanup,
} from './daemon-under-test.ts'
import { browserWith, cookieOf, type SignedInBrowser, signedIn } from './signed-in-browser.ts'

const ADA = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
const EVE = { email: 'eve@example.com', password: 'CNRY another long phrase' }

const postJson = (daemon: DaemonUnderTest, path: string, body: unknown, headers = {}) =>
  send(daemon, 'POST', path, JSON.stringify(body), {
    'content-type': 'application/json',
    accept: 'application/json',
    ...headers,
  })

describe('accounts', () => {
  let daemon: DaemonUnderTest
  let ada: SignedInBrowser
  let eve: SignedInBrowser
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await signedIn(daemon, 'register', ADA)
    eve = await signedIn(daemon, 'register', EVE)
  })

  it('make the first an admin and every later one a user', () => {
    assert.equal(ada.role, 'admin')
    assert.equal(eve.role, 'user')
  })

  it('have one address for all its spellings', async () => {
    const answer = await postJson(daemon, '/api/auth/register', { ...ADA, email: ' ADA@Example.com ' })
    assert.equal(answer.status, 403)
    const back = await signedIn(daemon, 'login', { ...ADA, email: 'Ada@EXAMPLE.com' })
    assert.equal(back.principalId, ada.principalId)
  })

  it('answer with who it is, and nothing else', async () => {
    const answer = await postJson(daemon, '/api/auth/login', ADA)
    assert.deepEqual(answer.body, { principal_id: ada.principalId, role: 'admin' })
  })

  it('set a cookie that scripts cannot read and other sites cannot send', async () => {
    const { headers } = await postJson(daemon, '/api/auth/login', ADA)
    const [cookie = ''] = [headers['set-cookie'] ?? []].flat()
    assert.match(cookie, /^broker_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Expires=/)
    const expires = Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? '')
    assert.ok(expires <= Date.now() + 12 * 3_600_000 && expires > Date.now() + 11 * 3_600_000)
  })

  it('tell who is signed in, and nothing without a session', async () => {
    assert.deepEqual((await ada.call('GET', '/api/me')).body, {
      principal_id: ada.principalId,
      role: 'admin',
      email: ADA.email,
    })
    assert.equal((await send(daemon, 'GET', '/api/me')).status, 401)
    assert.equal((await send(daemon, 'GET', '/api/me', '', { cookie: `broker_session=${'A'.repeat(43)}` })).status, 401)
  })

  it('answer a wrong password and no account alike', async () => {
    const strip = ({ status, body }: Answer) => ({ status, ...body, request_id: '' })
    const wrong = strip(await postJson(daemon, '/api/auth/login', { ...EVE, password: 'CNRY not this one' }))
    const none = strip(await postJson(daemon, '/api/auth/login', { ...EVE, email: 'nobody@example.com' }))
    assert.equal(wrong.status, 401)
    assert.deepEqual(wrong, none)
  })

  it('refuse passwords that everybody tries, and say so beside the field', async () => {
    for (const password of ['password123', 'aaaaaaaaaa', 'short', 'bob@example.com']) {
      const answer = await postJson(daemon, '/api/auth/register', { email: 'bob@example.com', password })
      assert.equal(answer.status, 422, password)
      assert.match(answer.body.details[0].path, /password$/)
    }
  })

  it('refuse what a person cannot choose: role, principal, vault', async () => {
    const more = { role: 'admin', principal_id: ada.principalId, vault_id: 'x' }
    const answer = await postJson(daemon, '/api/auth/register', { ...EVE, email: 'mal@example.com', ...more })
    assert.equal(answer.status, 422)
  })

  it('keep each account to its own vault and events', async () => {
    const session = await ada.call('POST', '/api/auth/providers/openai/connect', { flow: 'api_key' })
    assert.equal(session.status, 201)
    const input = { input: { api_key: 'sk-CNRYaccountsaccountsaccounts' } }
    const done = await ada.call('POST', `/api/auth/sessions/${session.body.id}/resume`, input)
    assert.equal(done.body.status, 'completed')
    assert.equal((await ada.call('GET', '/api/connections')).body.connections.length, 1)
    assert.deepEqual((await eve.call('GET', '/api/connections')).body.connections, [])
    assert.equal((await eve.call('GET', `/api/auth/sessions/${session.body.id}`)).status, 404)
    assert.equal((await eve.call('GET', '/api/connections/openai/default')).status, 404)

    const own = (await eve.call('GET', '/api/audit/events')).body.events
    assert.ok(own.length > 0)
    assert.ok(own.every((event: { principal_id: string }) => event.principal_id === eve.principalId))
    const all = (await ada.call('GET', '/api/audit/events')).body.events
    assert.ok(all.some((event: { event: string }) => event.event === 'provider.login'))
    assert.ok(all.some((event: { principal_id: string }) => event.principal_id === eve.principalId))
  })

  it('tell an admin whose each principal is, and nobody else', async () => {
    const { accounts } = (await ada.call('GET', '/api/accounts')).body
    assert.deepEqual(
      accounts.map(({ email, principal_id: id }: { email: string; principal_id: string }) => [email, id]),
      [
        [ADA.email, ada.principalId],
        [EVE.email, eve.principalId],
      ],
    )
    assert.equal((await eve.call('GET', '/api/accounts')).status, 403)
  })

  it('count the same events by the hour', async () => {
    const { counts } = (await eve.call('GET', '/api/audit/counts')).body
    const { events } = (await eve.call('GET', '/api/audit/events?limit=500')).body
    const sum = counts.reduce((total: number, { count }: { count: number }) => total + count, 0)
    assert.equal(sum, events.length)
    assert.match(counts[0].hour, /:00:00\.000Z$/)
    const none = await eve.call('GET', '/api/audit/counts?since=2999-01-01T00:00:00.000Z')
    assert.deepEqual(none.body, { counts: [] })
  })

  it('let a user see, and not change, what belongs to all', async () => {
    assert.equal((await eve.call('GET', '/api/providers/openai')).status, 200)
    assert.equal((await eve.call('DELETE', '/api/providers/openai')).status, 403)
  })

  it('give no credential to a browser: only agents and their runs resolve', async () => {
    const answer = await ada.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })
    assert.equal(answer.status, 401)
    assert.equal((await ada.call('POST', '/api/runs', { did: 'did:key:zx' })).status, 401)
    assert.equal((await ada.call('POST', '/api/session', {})).status, 401)
  })

  it('change nothing without the CSRF token, nor with that of another session', async () => {
    const cookieAlone = browserWith(daemon, ada.cookie, '')
    const others = browserWith(daemon, ada.cookie, eve.csrfToken)
    const changes = [
      ['POST', '/api/connections/openai/default/logout', {}],
      ['POST', '/api/connections/openai/default/default', {}],
      ['POST', '/api/connections/openai/revoke', {}],
      ['POST', '/api/auth/providers/anthropic/connect', {}],
      ['POST', '/api/auth/sessions', { provider: 'anthropic' }],
      ['DELETE', '/api/providers/openai', undefined],
      ['POST', '/api/logout', {}],
    ] as const
    for (const [method, path, body] of changes) {
      assert.equal((await cookieAlone(method, path, body)).status, 403, path)
      assert.equal((await others(method, path, body)).status, 403, path)
    }
    assert.equal((await ada.call('GET', '/api/connections')).body.connections.length, 1)
    assert.equal((await ada.call('GET', '/api/me')).status, 200)
  })

  it('show a credential only with the token, and write that down', async () => {
    const path = '/api/connections/openai/default?reveal=true'
    assert.equal((await ada.call('GET', path)).status, 403)
    const shown = await ada.call('GET', path, undefined, { 'x-csrf-token': ada.csrfToken })
    assert.match(shown.text, /CNRYaccounts/)
    const [event] = (await ada.call('GET', '/api/audit/events?event=connection.revealed')).body.events
    assert.equal(event.identity, '(browser)')
  })

  it('never tell the token to whoever has the cookie alone', async () => {
    const cookieAlone = browserWith(daemon, ada.cookie, '')
    for (const path of ['/', '/api/me', '/api/browser-sessions', '/audit', '/api/connections']) {
      const answer = await cookieAlone('GET', path, undefined, { accept: '*/*' })
      assert.ok(!answer.text.includes(ada.csrfToken), path)
      assert.ok(!JSON.stringify(answer.headers).includes(ada.csrfToken), path)
    }
  })

  it('refuse pages of other origins, whatever cookie and token they bring', async () => {
    for (const origin of ['https://evil.test', 'http://127.0.0.1:1', 'null']) {
      const site = { origin, 'sec-fetch-site': 'cross-site' }
      assert.equal((await ada.call('POST', '/api/logout', {}, site)).status, 403)
      assert.equal((await postJson(daemon, '/api/auth/login', ADA, site)).status, 403)
      assert.equal((await postJson(daemon, '/api/auth/register', ADA, site)).status, 403)
    }
  })

  it('list their browsers by a name of ours, and end one at once', async () => {
    const other = await signedIn(daemon, 'login', EVE)
    const { sessions } = (await eve.call('GET', '/api/browser-sessions')).body
    assert.ok(sessions.every(({ browser }: { browser: string }) => browser === 'Firefox on Linux'))
    const mine = sessions.filter(({ is_current }: { is_current: boolean }) => is_current)
    assert.equal(mine.length, 1)
    const [{ id }] = sessions.filter(({ is_current }: { is_current: boolean }) => !is_current)
    assert.equal((await ada.call('DELETE', `/api/browser-sessions/${id}`)).status, 404)
    assert.equal((await eve.call('DELETE', `/api/browser-sessions/${id}`)).status, 200)
    assert.equal((await other.call('GET', '/api/me')).status, 401)
    assert.equal((await eve.call('GET', '/api/me')).status, 200)
  })

  it('take no cookie of two: another port of this machine may have set one of them', async () => {
    for (const cookie of [`${eve.cookie}; ${ada.cookie}`, `${ada.cookie}; x=y; ${eve.cookie}`]) {
      assert.equal((await browserWith(daemon, cookie, ada.csrfToken)('GET', '/api/me')).status, 401)
    }
    const twice = await browserWith(daemon, `${ada.cookie}; ${ada.cookie}`, ada.csrfToken)('GET', '/api/me')
    assert.equal(twice.body.principal_id, ada.principalId)
  })

  it('take by https only the cookie that no neighbour of the host can set', async (t) => {
    const hosted = await startDaemon(t, {
      env: { BROKER_PUBLIC_URL: 'https://broker.example', BROKER_REGISTRATION: 'open' },
    })
    const host = { host: 'broker.example' }
    const { headers } = await postJson(hosted, '/api/auth/register', ADA, host)
    const [cookie = ''] = [headers['set-cookie'] ?? []].flat()
    assert.match(cookie, /^__Host-broker_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Expires=[^;]+; Secure$/)
    const [own = ''] = cookie.split(';')
    const me = (sent: string) => send(hosted, 'GET', '/api/me', '', { ...host, cookie: sent })
    assert.equal((await me(own)).status, 200)
    assert.equal((await me(own.replace('__Host-', ''))).status, 401)
  })

  it('have one session for one browser: another sign-in takes the place of the one before', async () => {
    const before = await signedIn(daemon, 'login', EVE)
    const again = await postJson(daemon, '/api/auth/login', EVE, { cookie: before.cookie })
    assert.equal((await before.call('GET', '/api/me')).status, 401)
    const now = browserWith(daemon, cookieOf(again), String(again.headers['x-csrf-token']))
    assert.equal((await now('GET', '/api/me')).status, 200)
    const failed = await postJson(
      daemon,
      '/api/auth/login',
      { ...EVE, password: 'CNRY no' },
      { cookie: cookieOf(again) },
    )
    assert.equal(failed.status, 401)
    assert.equal((await now('GET', '/api/me')).status, 200)
  })

  it('sign out for good', async () => {
    const other = await signedIn(daemon, 'login', EVE)
    const answer = await other.call('POST', '/api/logout', {})
    assert.equal(answer.status, 200)
    assert.match(
      String(answer.headers['set-cookie']),
      /^broker_session=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0/,
    )
    assert.equal((await other.call('GET', '/api/me')).status, 401)
  })

  it('end the other sessions when the password changes', async () => {
    const bob = { email: 'bob@example.com', password: 'CNRY first of two phrases' }
    const here = await signedIn(daemon, 'register', bob)
    const there = await signedIn(daemon, 'login', bob)
    const change = (current: string) =>
      here.call('POST', '/api/auth/password', { current, password: 'CNRY second of two phrases' })
    const wrong = await change('CNRY not the first')
    assert.equal(wrong.status, 422)
    assert.equal(wrong.body.details[0].path, 'current')
    assert.equal((await change(bob.password)).status, 200)
    assert.equal((await there.call('GET', '/api/me')).status, 401)
    assert.equal((await here.call('GET', '/api/me')).status, 200)
    assert.equal((await postJson(daemon, '/api/auth/login', bob)).status, 401)
  })

  it('lead a form on: 303 with the cookie, to where it says, and nowhere but to this daemon', async () => {
    const form = (next?: string) =>
      send(daemon, 'POST', '/api/auth/login', new URLSearchParams({ ...ADA, ...(next && { next }) }).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
        'sec-fetch-site': 'same-origin',
      })
    const answer = await form('/audit')
    assert.equal(answer.status, 303)
    assert.equal(answer.headers['location'], '/audit')
    assert.match(cookieOf(answer), /^broker_session=/)
    // Without a place to go on to it is the dashboard, which needs the token.
    const toDashboard = await form()
    assert.equal(toDashboard.headers['location'], `/#csrf=${toDashboard.headers['x-csrf-token']}`)
    for (const next of ['https://evil.test/', '//evil.test', '/\\evil.test', 'javascript:alert(1)']) {
      assert.equal((await form(next)).status, 422, next)
    }
  })
})

describe('guessing a password', () => {
  it('has to wait longer with each try, and an honest person never more than 30 s', async (t) => {
    const daemon = await startDaemon(t)
    await signedIn(daemon, 'register', ADA)
    const guesses: Answer[] = []
    for (let count = 0; count < 6; count++) {
      guesses.push(await postJson(daemon, '/api/auth/login', { ...ADA, password: `CNRY guess number ${count}` }))
    }
    assert.deepEqual(
      guesses.map(({ status }) => status),
      [401, 401, 401, 401, 401, 429],
    )
    const wait = Number(guesses.at(-1)?.headers['retry-after'])
    assert.ok(wait >= 1 && wait <= 30)
    // Another spelling of the address is the same account; another account is not kept waiting.
    assert.equal((await postJson(daemon, '/api/auth/login', { ...ADA, email: ' ADA@example.COM' })).status, 429)
    assert.equal((await postJson(daemon, '/api/auth/login', EVE)).status, 401)
  })

  it('is as slow for many at once', async (t) => {
    const daemon = await startDaemon(t)
    const tries = Array.from({ length: 20 }, () => postJson(daemon, '/api/auth/login', ADA))
    const answers = await Promise.all(tries)
    assert.equal(answers.filter(({ status }) => status === 401).length, 5)
  })
})

describe('registration', () => {
  it('makes exactly one admin of many who come at once', async (t) => {
    const daemon = await startDaemon(t)
    const emails = Array.from({ length: 12 }, (_, index) => `p${index}@example.com`)
    const all = await Promise.all(emails.map((email) => signedIn(daemon, 'register', { ...ADA, email })))
    assert.equal(all.filter(({ role }) => role === 'admin').length, 1)
  })

  it('can be closed', async (t) => {
    const daemon = await startDaemon(t, { env: { BROKER_REGISTRATION: 'closed' } })
    const answer = await postJson(daemon, '/api/auth/register', ADA)
    assert.equal(answer.status, 403)
    assert.match(answer.body.hint, /BROKER_REGISTRATION=open/)
  })
})

describe('the link of the local owner', () => {
  let daemon: DaemonUnderTest
  let ada: Caller
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
  })

  const open = (url: string) =>
    send(daemon, 'GET', new URL(url).pathname, '', { accept: 'text/html', 'sec-fetch-site': 'none' })

  it('signs the browser in once, as the principal of who asked', async () => {
    await connect(ada, 'openai', 'sk-CNRYlinklinklinklinklink')
    const { status, body } = await ada.call('POST', '/api/session', {})
    assert.equal(status, 200)
    assert.ok(Date.parse(body.expires_at) <= Date.now() + 60_000)
    const first = await open(body.url)
    assert.equal(first.status, 303)
    const token = /^\/#csrf=(.+)$/.exec(String(first.headers['location']))?.[1] ?? ''
    const browser = browserWith(daemon, cookieOf(first), token)
    const { principal_id } = (await ada.call('GET', '/api/whoami')).body
    assert.deepEqual((await browser('GET', '/api/me')).body, { principal_id, role: 'admin' })
    assert.equal((await browser('GET', '/api/connections')).body.connections.length, 1)
    assert.equal((await browser('POST', '/api/connections/openai/default/logout', {})).status, 200)

    const second = await open(body.url)
    assert.equal(second.status, 404)
    assert.equal(second.headers['set-cookie'], undefined)
  })

  it('is not used up by who only looks whether it is there', async () => {
    const { body } = await ada.call('POST', '/api/session', {})
    assert.equal((await send(daemon, 'HEAD', new URL(body.url).pathname)).status, 405)
    assert.equal((await open(body.url)).status, 303)
  })

  it('cannot be pressed on a browser by a page of another site: it asks first, and its button is good from there alone', async () => {
    const { body } = await ada.call('POST', '/api/session', {})
    const path = new URL(body.url).pathname
    const pressed = { accept: 'text/html', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }
    const asked = await send(daemon, 'GET', path, '', pressed)
    assert.equal(asked.status, 200)
    assert.match(asked.text, new RegExp(`<form method="post" action="${path}">`))
    assert.equal(asked.headers['set-cookie'], undefined)
    const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
    for (const site of ['cross-site', 'same-site'])
      assert.equal((await send(daemon, 'POST', path, '', { ...form, 'sec-fetch-site': site })).status, 403)
    assert.equal((await send(daemon, 'GET', path, '', { ...pressed, 'sec-fetch-dest': 'iframe' })).status, 403)
    const done = await send(daemon, 'POST', path, '', {
      ...form,
      'sec-fetch-site': 'same-origin',
      origin: daemon.origin,
    })
    assert.equal(done.status, 303)
    assert.match(cookieOf(done), /^broker_session=/)
    assert.equal((await open(body.url)).status, 404)
  })

  it('signs one of two in who come at once', async () => {
    const { body } = await ada.call('POST', '/api/session', {})
    const both = await Promise.all([open(body.url), open(body.url)])
    assert.deepEqual(both.map(({ status }) => status).sort(), [303, 404])
  })

  it('has no password to change', async () => {
    const { body } = await ada.call('POST', '/api/session', {})
    const answer = await open(body.url)
    const token = String(answer.headers['location']).split('=')[1] ?? ''
    const passwords = { current: 'CNRY whatever it is', password: 'CNRY a new long phrase' }
    const changed = await browserWith(daemon, cookieOf(answer), token)('POST', '/api/auth/password', passwords)
    assert.equal(changed.status, 403)
  })
})

describe('a claim', () => {
  let daemon: DaemonUnderTest
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
  })

  /** An agent that waits to be claimed, and the path of its claim. */
  async function waiting(handle: string) {
    const agent = caller(daemon, handle)
    const { body } = await agent.call('POST', '/api/identities/register', { handle, did: agent.key.did })
    return { agent, path: new URL(body.claim_url).pathname }
  }

  const page = (path: string, cookie?: string) =>
    send(daemon, 'GET', path, '', { accept: 'text/html', ...(cookie !== undefined && { cookie }) })

  const submit = (path: string, { text }: Answer, cookie: string, fields: Record<string, string> = {}) => {
    const hidden = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    const own = Object.fromEntries(hidden.map(([, name, value]) => [name, value]))
    return send(daemon, 'POST', `${path}/confirm`, new URLSearchParams({ ...own, ...fields }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'text/html',
      'sec-fetch-site': 'same-origin',
      cookie,
    })
  }

  it('shows agent, key and code, and wants a sign-in before anything else', async () => {
    const { agent, path } = await waiting('robot-1')
    const { status, text } = await page(path)
    assert.equal(status, 200)
    assert.ok(text.includes('robot-1') && text.includes(agent.key.did))
    assert.match(text, /[A-Z2-9]{4}-[A-Z2-9]{4}/)
    assert.ok(!text.includes('<form'))
    assert.ok(text.includes(`href="/?next=${encodeURIComponent(path)}"`))
    assert.equal(
      (await send(daemon, 'POST', `${path}/confirm`, '{}', { 'content-type': 'application/json' })).status,
      401,
    )
    assert.equal((await agent.call('GET', '/api/whoami')).status, 403)
  })

  it('attaches the agent to the account that confirms, once', async () => {
    const ada = await signedIn(daemon, 'register', ADA)
    const { agent, path } = await waiting('robot-2')
    const shown = await page(path, ada.cookie)
    const done = await submit(path, shown, ada.cookie)
    assert.equal(done.status, 200)
    assert.match(done.text, /is yours/)
    assert.equal((await agent.call('GET', '/api/identities/robot-2')).body.status, 'claimed')
    assert.equal((await agent.call('GET', '/api/whoami')).body.principal_id, ada.principalId)
    assert.equal((await submit(path, shown, ada.cookie)).status, 404)
    assert.equal((await page(path, ada.cookie)).status, 404)
    const [event] = (await ada.call('GET', '/api/audit/events?event=identity.claimed')).body.events
    assert.equal(event.reason, 'identity robot-2')
    const { identities } = (await ada.call('GET', '/api/identities')).body
    assert.deepEqual(
      identities.map(({ identity }: { identity: string }) => identity),
      ['robot-2'],
    )
    assert.equal((await ada.call('GET', '/api/identities/robot-2')).body.identity, 'robot-2')
    assert.equal((await ada.call('DELETE', '/api/identities/robot-2')).status, 200)
    assert.equal((await agent.call('GET', '/api/whoami')).status, 401)
  })

  it('is one account’s of two that confirm at once', async () => {
    const [bob, eve] = await Promise.all([
      signedIn(daemon, 'register', { ...ADA, email: 'bob@example.com' }),
      signedIn(daemon, 'register', EVE),
    ])
    const { path } = await waiting('robot-3')
    const confirm = (one: SignedInBrowser) => one.call('POST', `${path}/confirm`, {})
    const both = await Promise.all([confirm(bob), confirm(eve)])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 404])
  })

  it('refuses another code, and is over after a few of them', async () => {
    const eve = await signedIn(daemon, 'login', EVE)
    const { agent, path } = await waiting('robot-4')
    const guess = () => eve.call('POST', `${path}/confirm`, { code: 'AAAA-AAAA' })
    for (let count = 0; count < 5; count++) assert.equal((await guess()).status, 403)
    assert.equal((await guess()).status, 404)
    assert.equal((await eve.call('POST', `${path}/confirm`, {})).status, 404)
    // Whoever asks again gets another claim.
    const refused = await agent.call('GET', '/api/whoami')
    assert.notEqual(new URL(refused.body.claim_url).pathname, path)
  })

  it('takes no form of another page or session', async () => {
    const eve = await signedIn(daemon, 'login', EVE)
    const ada = await signedIn(daemon, 'login', ADA)
    const [one, two] = [await waiting('robot-5'), await waiting('robot-6')]
    const ofOne = await page(one.path, eve.cookie)
    assert.equal((await submit(two.path, ofOne, eve.cookie)).status, 403)
    assert.equal((await submit(one.path, ofOne, ada.cookie)).status, 403)
    for (const csrf of ['x', 'ä'.repeat(43), '']) {
      assert.equal((await submit(one.path, ofOne, eve.cookie, { csrf })).status, 403, csrf)
    }
  })
})

describe('the live stream', () => {
  const events = (response: Response) => lines(response, /^event: (.+)$/m)
  const data = (response: Response) => lines(response, /^data: (.+)$/m)

  /** Returns what is behind the name of a line, event by event. */
  async function* lines(response: Response, line: RegExp): AsyncGenerator<string> {
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const found = line.exec(text.slice(0, end))?.[1]
        text = text.slice(end + 2)
        if (found !== undefined) yield found
      }
    }
  }

  it('tells at the beginning and of each change, and ends with its session', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await signedIn(daemon, 'register', ADA)
    const other = await signedIn(daemon, 'login', ADA)
    const stream = events(await fetch(`${daemon.origin}/api/live`, { headers: { cookie: other.cookie } }))
    assert.equal((await stream.next()).value, 'change')
    await ada.call('POST', '/api/auth/providers/openai/connect', { flow: 'api_key' })
    await ada.call('POST', '/api/auth/password', { current: ADA.password, password: 'CNRY another phrase' })
    for (let next = await stream.next(); !next.done; next = await stream.next()) assert.equal(next.value, 'change')
  })

  it('does not keep a daemon from stopping', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await signedIn(daemon, 'register', ADA)
    const stream = events(await fetch(`${daemon.origin}/api/live`, { headers: { cookie: ada.cookie } }))
    await stream.next()
    const stopped = performance.now()
    assert.equal(await daemon.stop(), 0)
    assert.ok(performance.now() - stopped < 5_000)
  })

  it('has a head for who asks for that alone', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await signedIn(daemon, 'register', ADA)
    assert.equal((await ada.call('HEAD', '/api/live')).status, 200)
  })

  it('tells a user of what is the user’s own, not of what others do', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await signedIn(daemon, 'register', ADA)
    const eve = await signedIn(daemon, 'register', EVE)
    await signedIn(daemon, 'login', ADA)
    const newest = async (one: SignedInBrowser) =>
      (await one.call('GET', '/api/audit/events?limit=1')).body.events[0].seq
    for (const one of [ada, eve]) {
      const response = await fetch(`${daemon.origin}/api/live`, { headers: { cookie: one.cookie } })
      const { value } = await data(response).next()
      assert.equal(JSON.parse(value ?? '').seq, await newest(one))
    }
    assert.ok((await newest(ada)) > (await newest(eve)))
  })

  it('is had a few times at once by one browser, not by the thousand', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await signedIn(daemon, 'register', ADA)
    const open = () => fetch(`${daemon.origin}/api/live`, { headers: { cookie: ada.cookie } })
    const first = await open()
    const more = await Promise.all(Array.from({ length: 15 }, open))
    assert.ok(more.every(({ status }) => status === 200))
    const refused = await open()
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    for (const { body } of [first, ...more]) await body?.cancel()
  })

  it('is nobody’s without a session', async (t) => {
    const daemon = await startDaemon(t)
    assert.equal((await send(daemon, 'GET', '/api/live')).status, 401)
  })
})
