import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, beforeEach, describe, it } from 'node:test'
import { type BrokerHome, onboarded, type RunningCommand } from './broker-command.ts'
import { type Answer, type Caller, type Cleanup, owner, send, suiteCleanup } from './daemon-under-test.ts'
import { follow as followStreams, type WatchedCommand } from './leak-watch.ts'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'

const JSON_ONLY = { accept: 'application/json' }
const PAGE = { accept: 'text/html' }
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

describe('an OAuth login', () => {
  const cleanup = suiteCleanup()
  let provider: OpenIdProvider
  let world: BrokerHome
  let ada: Caller
  before(async () => {
    provider = await startOpenIdProvider()
    cleanup.after(() => provider.close())
    world = await onboarded(cleanup)
    ada = await owner(world.daemon)
  })
  beforeEach(() => {
    provider.settings.consent = 'granted'
  })

  /** A provider of its own for each test, all at the same server. */
  async function register(name: string, oauth: object = {}, more: object = {}): Promise<string> {
    const definition = {
      ...minimal(name),
      oauth: { issuer: provider.issuer, scopes: ['openid', 'api:read'], ...oauth },
      ...more,
    }
    const answer = await ada.call('POST', '/api/providers', { definition })
    assert.equal(answer.status, 201, answer.text)
    return name
  }

  const registerPublic = (name: string, oauth: object = {}, more: object = {}) =>
    register(name, { client_id: provider.clients.public.id, ...oauth }, more)

  const start = (args: readonly string[]) => follow(world.start(args))
  const begin = (name: string, more: object = {}) => ada.call('POST', '/api/auth/sessions', { provider: name, ...more })
  const get = (path: string, headers: Record<string, string> = PAGE) => send(world.daemon, 'GET', path, '', headers)
  const tokenOf = async (name: string, connection = 'default') =>
    (await ada.call('GET', `/api/connections/${name}/${connection}?reveal=true`)).body.credential?.access_token
  const connectionsOf = async (name: string) =>
    (await ada.call('GET', '/api/connections')).body.connections.filter((one: Named) => one.provider === name)

  async function comeBack(url: string, headers: Record<string, string> = PAGE): Promise<Answer> {
    const { origin, pathname, search } = new URL(await provider.approve(url))
    assert.equal(`${origin}${pathname}`, `${world.daemon.origin}/auth/callback/oauth`)
    return get(pathname + search, headers)
  }

  /** Holds that what is removed behind the answer leaves an event. */
  async function untilGone(name: string): Promise<void> {
    const writes = watch(join(world.home, 'server'))
    for (;;) {
      const written = once(writes, 'change')
      const { body } = await ada.call('GET', `/api/audit/events?event=provider.removed&provider=${name}`)
      if (body.events.length > 0) break
      await written
    }
    writes.close()
    assert.equal((await ada.call('GET', `/api/providers/${name}`)).status, 404)
  }

  async function failures(name: string): Promise<readonly string[]> {
    const { body } = await ada.call('GET', `/api/audit/events?event=provider.login_failed&provider=${name}`)
    return body.events.map(({ reason }: { reason: string }) => reason)
  }

  describe('at the command line', { concurrency: 4 }, () => {
    it("asks for the user's own app once, leads on to the provider, and stores what it grants", async () => {
      const name = await register('own-app', { token_auth_method: 'client_secret_basic' })
      const { id, secret } = provider.clients.confidential
      const first = start(['login', name, '--json'])
      const form = await first.said(/Enter it in your browser:\s+(\S+)/)
      const { pathname } = new URL(form)
      assert.match((await get(pathname)).text, /Redirect URI of the app.*auth\/callback\/oauth/s)
      const input = JSON.stringify({ input: { client_id: id, client_secret: secret } })
      const led = await send(world.daemon, 'POST', pathname, input, {
        ...JSON_ONLY,
        'content-type': 'application/json',
      })
      assert.equal(led.body.status, 'waiting_for_user')
      assert.equal(led.body.next_action.type, 'open_url')
      assert.equal((await get(pathname)).status, 404)
      assert.match((await comeBack(led.body.next_action.url)).text, /Provider own-app is connected/)
      const { code, stdout, stderr } = await first.ended
      assert.equal(code, 0, stderr)
      assert.deepEqual(JSON.parse(stdout), { status: 'ok', provider: name, connection: 'default', flow: 'pkce' })

      const second = start(['login', name, '--connection', 'work'])
      await comeBack(await second.said(/Log in with your browser:\s+(\S+)/))
      assert.equal((await second.ended).code, 0)

      const [connection, work] = await connectionsOf(name)
      assert.equal(connection.flow, 'pkce')
      assert.equal(connection.auth_type, 'oauth2')
      assert.equal(connection.status, 'connected')
      assert.deepEqual(connection.scopes.toSorted(), ['api:read', 'openid'])
      assert.ok(Date.parse(connection.expires_at) > Date.now())
      assert.equal(connection.account.id, 'user-1')
      assert.equal(work.connection, 'work')
      const resolved = await ada.call('POST', '/api/credentials/resolve', { host: 'api.own-app.example' })
      assert.equal(resolved.body.headers.Authorization, `Bearer ${await tokenOf(name)}`)
      assert.equal(await provider.isActive(await tokenOf(name)), true)
    })

    it("needs no app where the provider's definition names a public client", async () => {
      const name = await registerPublic('public-client')
      const running = start(['login', name])
      await comeBack(await running.said(/Log in with your browser:\s+(\S+)/))
      const { code, stderr } = await running.ended
      assert.equal(code, 0)
      assert.match(stderr, /Stored connection "default" of public-client/)
      const shown = await world.broker(['connections', 'inspect', name])
      assert.match(shown.stdout, /Type +oauth2, by pkce/)
      assert.match(shown.stdout, /Expires +\S+ \S+ \(in 60 min, refreshed by itself\)/)
      assert.match(shown.stdout, /access_token +\[redacted\]/)
    })

    it('shows a code to enter elsewhere, and goes on by itself once that has happened', async () => {
      const name = await registerPublic('device', {}, { flow: 'device_code' })
      const running = start(['login', name])
      const code = await running.said(/and enter the code (\S+)/)
      assert.equal(await running.said(/Open\n(\S+)\n/), `${provider.issuer}/device`)
      await provider.approveDevice(code)
      assert.equal((await running.ended).code, 0)
      const [connection] = await connectionsOf(name)
      assert.equal(connection.flow, 'device_code')
      assert.equal(await provider.isActive(await tokenOf(name)), true)
    })

    it('registers itself where the provider takes strangers, and the next time is known', async () => {
      const name = await register('registering', {}, { flow: 'dcr_pkce' })
      const clientIds = []
      for (const connection of ['one', 'two']) {
        const running = start(['login', name, '--connection', connection])
        const url = await running.said(/Log in with your browser:\s+(\S+)/)
        clientIds.push(new URL(url).searchParams.get('client_id'))
        await comeBack(url)
        assert.equal((await running.ended).code, 0)
      }
      assert.match(String(clientIds[0]), /\S/)
      assert.equal(clientIds[0], clientIds[1])
    })

    it('asks for the scopes that are wanted in place of those of the definition', async () => {
      const name = await registerPublic('scopes')
      const running = start(['login', name, '--scopes', 'openid,api:write'])
      const url = await running.said(/Log in with your browser:\s+(\S+)/)
      assert.equal(new URL(url).searchParams.get('scope'), 'openid api:write')
      await comeBack(url)
      assert.equal((await running.ended).code, 0)
      assert.deepEqual((await connectionsOf(name))[0].scopes.toSorted(), ['api:write', 'openid'])
    })

    it('overwrites nothing without being told to, and asks nobody before that is clear', async () => {
      const name = await registerPublic('overwriting')
      await comeBack((await begin(name)).body.next_action.url)
      const before = await tokenOf(name)
      const refused = await world.broker(['login', name, '--json'])
      assert.equal(refused.code, 6)
      assert.equal(JSON.parse(refused.stdout).error, 'ConnectionAlreadyExistsError')
      assert.equal(refused.stderr, '')
      const running = start(['login', name, '--force'])
      await comeBack(await running.said(/Log in with your browser:\s+(\S+)/))
      assert.equal((await running.ended).code, 0)
      assert.notEqual(await tokenOf(name), before)
    })

    it('opens the browser by itself only where a person is at the terminal, and always when told to', async () => {
      const name = await registerPublic('opening')
      const opened = join(world.folder, 'opened')
      const opener = join(world.folder, 'opener')
      writeFileSync(opener, `#!/bin/sh\nprintf %s "$*" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`, {
        mode: 0o755,
      })
      const options = { env: { BROWSER: opener } }
      const changes = watch(world.folder)
      for (const flags of [[], ['--no-browser']]) {
        const running = follow(world.start(['login', name, ...flags], options))
        await running.said(/(Waiting|Log in with your browser)/)
        running.process.kill('SIGINT')
        await running.ended
        assert.equal(existsSync(opened), false)
      }
      const running = follow(world.start(['login', name, '--browser'], options))
      const url = await running.said(/Log in with your browser:\s+(\S+)/)
      while (!existsSync(opened)) await once(changes, 'change')
      changes.close()
      assert.equal(readFileSync(opened, 'utf8'), url)
      await comeBack(url)
      assert.equal((await running.ended).code, 0)
    })

    it('is revoked at the provider; where that fails it is said in words, in JSON and by the exit code', async () => {
      const name = await registerPublic('revoking')
      await comeBack((await begin(name)).body.next_action.url)
      const token = await tokenOf(name)
      const done = await world.broker(['provider', 'revoke', name, '--json'])
      assert.equal(done.code, 0)
      assert.deepEqual(JSON.parse(done.stdout), { status: 'ok', provider: name, removed: 1, remote: 'revoked' })
      assert.equal(await provider.isActive(token), false)

      const deaf = await registerPublic('deaf', { revocation_url: 'http://127.0.0.1:9/revoke' })
      for (const flags of [['--json'], []]) {
        await comeBack((await begin(deaf)).body.next_action.url)
        const { code, stdout, stderr } = await world.broker(['provider', 'revoke', deaf, ...flags])
        assert.equal(code, 8)
        if (flags.length === 0) assert.match(stderr, /Removed 1 connection of deaf\nerror: deaf could not be told/)
        else {
          const { error, message, hint, ...rest } = JSON.parse(stdout)
          assert.deepEqual(rest, { status: 'partial', provider: deaf, removed: 1, remote: 'failed' })
          assert.equal(error, 'EndpointUnreachableError')
          assert.match(message, /could not be told/)
          assert.match(hint, /its own site/)
        }
      }
    })

    for (const signal of ENDING) {
      it(`is cancelled by ${signal}, at the daemon too: what comes back later is nobody’s`, async () => {
        const name = await registerPublic(`cancelled-${signal.toLowerCase()}`)
        const running = start(['login', name, '--json'])
        const url = await running.said(/Log in with your browser:\s+(\S+)/)
        running.process.kill(signal)
        const { code, stdout } = await running.ended
        assert.equal(code, 2)
        assert.equal(JSON.parse(stdout).error, 'InputCancelledError')
        assert.equal((await comeBack(url)).status, 400)
        assert.deepEqual(await connectionsOf(name), [])
        assert.deepEqual(await failures(name), ['cancelled'])
      })
    }

    it('is cancelled where nobody reads any more what it says', async () => {
      const name = await registerPublic('unread')
      const running = start(['login', name])
      await running.said(/Enter it|(Log in with your browser)/)
      running.process.stderr?.destroy()
      running.process.stdout?.destroy()
      running.process.kill('SIGHUP')
      assert.equal((await running.ended).code, 2)
      assert.deepEqual(await failures(name), ['cancelled'])
    })

    describe('with an app on standard input', () => {
      const app = (changes: object = {}) => {
        const { id, secret } = provider.clients.confidential
        return JSON.stringify({ client_id: id, client_secret: secret, ...changes })
      }
      const registerOwn = (name: string) => register(name, { token_auth_method: 'client_secret_basic' })

      it('takes it, and leads on to the browser', async () => {
        const name = await registerOwn('piped-app')
        const running = start(['login', name, '--json'])
        running.process.stdin?.end(`${app()}\n`)
        await comeBack(await running.said(/Log in with your browser:\s+(\S+)/))
        const { code, stdout, stderr } = await running.ended
        assert.equal(code, 0, stderr)
        assert.equal(JSON.parse(stdout).status, 'ok')
        assert.doesNotMatch(stdout + stderr, new RegExp(provider.clients.confidential.secret))
      })

      for (const [what, input, said] of [
        ['nothing', '', /it is empty.*Pipe in \{.*"client_id": "…".*OAuth app of your own that \S+ needs.*--browser/s],
        ['white space', ' \n', /it is empty/],
        ['no JSON', 'CNRYsecret', /no JSON object of texts/],
        [
          'an unknown field',
          '{"client_id":"a","client_secret":"CNRYb","more":"c"}',
          /more is not a field of this provider/,
        ],
        ['a missing field', '{"client_id":"CNRYa"}', /client_secret is required/],
        ['a field twice', '{"client_id":"CNRYa","client_id":"b","client_secret":"c"}', /no JSON object/],
      ] as const) {
        it(`refuses ${what}, and keeps nothing`, async () => {
          const name = await registerOwn(`piped-${what.replaceAll(' ', '-').toLowerCase()}`)
          const { code, stdout } = await world.broker(['login', name, '--json'], { input })
          assert.equal(code, 2)
          const { error, message, hint } = JSON.parse(stdout)
          assert.equal(error, 'InvalidRequestError')
          assert.match(`${message} ${hint}`, said)
          assert.doesNotMatch(stdout, /CNRY/)
          assert.ok((await failures(name)).includes('cancelled'))
          const next = await begin(name)
          assert.equal(next.body.next_action.type, 'form')
        })
      }

      it('is told the flow where the provider takes a key by itself, and the key may come by its name', async () => {
        const key = 'sk-CNRYabcdefghijklmnopqrstuv'
        const { code, stdout } = await world.broker(['login', 'openai', '--json'], { input: app() })
        assert.equal(code, 2)
        assert.match(JSON.parse(stdout).hint, /broker login openai --flow pkce/)
        assert.equal((await ada.call('GET', '/api/connections/openai/default')).status, 404)
        const other = await world.broker(['login', 'openai', '--json'], { input: '{"token":"CNRY"}' })
        assert.equal(other.code, 2)
        assert.doesNotMatch(other.stdout, /CNRY/)
        for (const input of [JSON.stringify({ api_key: key }), `${key}\n\n`]) {
          assert.equal((await world.broker(['login', 'openai', '--force'], { input })).code, 0)
          const { body } = await ada.call('GET', '/api/connections/openai/default?reveal=true')
          assert.equal(body.credential.api_key, key)
        }
        await world.broker(['logout', 'openai'])
      })

      it('says what it waits for where the pipe stays open and empty', async () => {
        const name = await registerOwn('piped-late')
        const running = start(['login', name])
        assert.match(
          await running.said(/(Waiting for .*)/),
          /\{"client_id": "…", "client_secret": "…"\} on standard input/,
        )
        running.process.stdin?.end(app())
        await comeBack(await running.said(/Log in with your browser:\s+(\S+)/))
        assert.equal((await running.ended).code, 0)

        const keyed = start(['login', 'openai'])
        assert.match(await keyed.said(/(Waiting for .*)/), /OpenAI API key on standard input/)
        keyed.process.kill('SIGTERM')
        assert.equal((await keyed.ended).code, 2)
      })
    })

    it('refuses a flow that the provider has no endpoint for', async () => {
      const name = await register('flows', { issuer: undefined, ...endpoints(provider) })
      for (const [flow, message] of [
        ['device_code', /no endpoint/],
        ['api_key', /takes none/],
      ] as const) {
        const { code, stdout } = await world.broker(['login', name, '--flow', flow, '--json'])
        assert.equal(code, 4)
        assert.match(JSON.parse(stdout).message, message)
      }
    })
  })

  describe('at a provider that says no, or answers late', () => {
    it('ends with the reason, for the command and in the browser', async () => {
      const name = await registerPublic('denied')
      provider.settings.consent = 'declined'
      const running = start(['login', name, '--json'])
      const page = await comeBack(await running.said(/Log in with your browser:\s+(\S+)/))
      assert.equal(page.status, 400)
      assert.match(page.text, /The login did not work.*access_denied/s)
      const { code, stdout } = await running.ended
      assert.equal(code, 2)
      assert.equal(JSON.parse(stdout).error, 'AuthenticationFailedError')
      assert.match(JSON.parse(stdout).message, /access_denied/)
      assert.deepEqual(await failures(name), ['access_denied'])
      assert.deepEqual(await connectionsOf(name), [])
    })

    it('ends also where the provider has much to say about it, and repeats little of that', async () => {
      const name = await registerPublic('talkative')
      const { body } = await begin(name)
      const state = new URL(body.next_action.url).searchParams.get('state')
      const query = `?error=access_denied&error_description=${'no '.repeat(3_000)}&state=${state}`
      const page = await get(`/auth/callback/oauth${query.replaceAll(' ', '+')}`)
      assert.equal(page.status, 400)
      const { status, message } = (await ada.call('GET', `/api/auth/sessions/${body.id}`)).body
      assert.equal(status, 'failed')
      assert.ok(message.length < 400, message)
    })

    it('keeps nothing of tokens that come after it was cancelled', async () => {
      const name = await registerPublic('late')
      const { body } = await begin(name)
      const held = provider.holdTokenAnswers()
      const page = comeBack(body.next_action.url)
      await held.arrived()
      assert.equal((await get(`/api/auth/sessions/${body.id}/input`)).status, 404)
      const cancelled = await ada.call('DELETE', `/api/auth/sessions/${body.id}`)
      assert.equal(cancelled.body.status, 'cancelled')
      assert.deepEqual(cancelled.body.next_action, { type: 'none' })
      held.release()
      assert.match((await page).text, /The login did not work.*was cancelled/s)
      assert.equal((await ada.call('GET', `/api/auth/sessions/${body.id}`)).body.status, 'cancelled')
      assert.deepEqual(await connectionsOf(name), [])
    })

    it('expires with its code', async () => {
      const name = await registerPublic('slow-code', {}, { flow: 'device_code' })
      provider.settings.deviceCodeLifetime = 1
      const running = start(['login', name, '--json'])
      const { code, stdout } = await running.ended
      provider.settings.deviceCodeLifetime = 600
      assert.equal(code, 2)
      assert.match(JSON.parse(stdout).message, /took too long/)
      assert.deepEqual(await failures(name), ['expired'])
    })
  })

  describe('that somebody else tries to use', () => {
    it('takes a callback once, for its own state, by GET, and asks the provider for no token otherwise', async () => {
      const name = await registerPublic('attacked')
      const { body } = await begin(name)
      const { pathname, search } = new URL(await provider.approve(body.next_action.url))
      const state = new URLSearchParams(search).get('state')
      const asked = provider.tokenRequests('authorization_code')
      const unknown = await get(`${pathname}?code=x&state=${'x'.repeat(43)}`)
      assert.equal(unknown.status, 400)
      for (const query of [
        '',
        '?code=x',
        '?state=',
        `?state=${state}x&code=x`,
        `?state=${state?.toUpperCase()}&code=x`,
      ]) {
        const page = await get(pathname + query)
        assert.equal(page.status, 400, query)
        assert.equal(page.text, unknown.text, query)
      }
      for (const query of [`${search}&state=${state}`, `${search}&code=other`]) {
        assert.equal((await get(pathname + query)).status, 422)
      }
      assert.equal((await send(world.daemon, 'HEAD', pathname + search, '', PAGE)).status, 405)
      assert.equal((await send(world.daemon, 'POST', pathname + search, '', PAGE)).status, 404)
      assert.equal(provider.tokenRequests('authorization_code'), asked)

      const done = await get(pathname + search, JSON_ONLY)
      assert.deepEqual(done.body, { status: 'completed', provider: name, connection: 'default' })
      const again = await get(pathname + search)
      assert.equal(again.status, 400)
      assert.equal(again.text, unknown.text)
      assert.equal((await get(pathname + search, JSON_ONLY)).body.error, 'InvalidRequestError')
      assert.equal(provider.tokenRequests('authorization_code'), asked + 1)
    })

    it('goes on with the address that a browser on another machine ended at, as if it had come back', async () => {
      const name = await registerPublic('pasted')
      const paste = (id: string, callback_url: string) =>
        ada.call('POST', `/api/auth/sessions/${id}/resume`, { input: { callback_url } })
      const { body } = await begin(name)
      const other = await begin(name, { connection: 'other' })
      const authorize = body.next_action.url
      const ended = await provider.approve(authorize)
      const query = new URL(ended).search
      const callback = `${world.daemon.origin}/auth/callback/oauth`
      const state = new URL(authorize).searchParams.get('state')
      const asked = provider.tokenRequests('authorization_code')
      for (const [pasted, rule] of [
        ['', /is no address/],
        ['CNRYcode', /is no address/],
        [callback, /carries no login/],
        [authorize, /is where the login begins/],
        [
          `https://evil.example/auth/callback/oauth${query}`,
          /is not where the login ends: that begins with http:\/\/127/,
        ],
        [`${callback}/more${query}`, /is not where the login ends/],
        [`javascript:alert(1)${query}`, /is n/],
        [await provider.approve(other.body.next_action.url), /belongs to another login/],
        [`${callback}?code=CNRYcode`, /belongs to another login/],
        [`${callback}?state=${state}`, /carries no code/],
        [`${ended}&code=CNRYcode`, /names a parameter twice/],
        [
          `${callback}?error=access_denied&error_description=CNRY&state=${state}`,
          /the provider refused \(access_denied\): agree there/,
        ],
      ] as const) {
        const { status, body: answer, text } = await paste(body.id, pasted)
        assert.equal(status, 422, text)
        assert.match(answer.details[0].message, rule)
        assert.doesNotMatch(text, /CNRY/)
        assert.equal((await ada.call('GET', `/api/auth/sessions/${body.id}`)).body.status, 'waiting_for_user')
      }
      assert.equal((await paste(other.body.id, ended)).status, 422)
      assert.equal(provider.tokenRequests('authorization_code'), asked)

      const wrapped = `  ${ended.slice(0, 40)}\r\n${ended.slice(40)}\n`
      const done = await paste(body.id, wrapped)
      assert.equal(done.body.status, 'completed', done.text)
      assert.equal((await paste(body.id, ended)).status, 409)
      assert.equal((await get(new URL(ended).pathname + query)).status, 400)
      assert.equal(provider.tokenRequests('authorization_code'), asked + 1)
      const stranger = await send(
        world.daemon,
        'POST',
        `/api/auth/sessions/${other.body.id}/resume`,
        JSON.stringify({ input: { callback_url: ended } }),
        { 'content-type': 'application/json' },
      )
      assert.equal(stranger.status, 401)
    })

    it('takes the query alone, and an address without its scheme; a wrong code or issuer fails it as the callback would', async () => {
      const name = await registerPublic('pasted-parts')
      const paste = async (connection: string, change: (ended: string) => string) => {
        const { body } = await begin(name, { connection })
        const ended = await provider.approve(body.next_action.url)
        const input = { callback_url: change(ended) }
        const answer = await ada.call('POST', `/api/auth/sessions/${body.id}/resume`, { input })
        return [answer.status, (await ada.call('GET', `/api/auth/sessions/${body.id}`)).body.status]
      }
      assert.deepEqual(await paste('query', (ended) => new URL(ended).search), [200, 'completed'])
      assert.deepEqual(await paste('bare', (ended) => new URL(ended).search.slice(1)), [200, 'completed'])
      assert.deepEqual(await paste('host', (ended) => `<${ended.slice('http://'.length)}>`), [200, 'completed'])
      assert.deepEqual(await paste('code', (ended) => ended.replace(/code=[^&]+/, 'code=x')), [401, 'failed'])
      assert.deepEqual(await paste('issuer', (ended) => ended.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example')), [
        401,
        'failed',
      ])
    })

    it('tells the same of sessions that are finished, of another kind, or nobody’s', async () => {
      const name = await registerPublic('hidden')
      const waiting = (await begin(name)).body.id
      const done = (await begin(name, { connection: 'done' })).body
      await comeBack(done.next_action.url)
      const unknown = await get('/api/auth/sessions/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/device')
      assert.equal(unknown.status, 404)
      for (const id of [waiting, done.id]) {
        for (const page of ['device', 'input']) {
          const answer = await get(`/api/auth/sessions/${id}/${page}`)
          assert.equal(answer.status, 404)
          assert.equal(answer.text, unknown.text)
        }
      }
    })

    it('shows to nobody what only the provider and the daemon may know', async () => {
      const name = await registerPublic('secretive')
      const code = await begin(name)
      const device = await begin(name, { flow: 'device_code' })
      for (const { text } of [code, device]) assert.doesNotMatch(text, /verifier|device_code":|client_secret|CNRY/)
      const page = await get(`/api/auth/sessions/${device.body.id}/device`)
      assert.ok(page.text.includes(device.body.next_action.user_code))
      assert.doesNotMatch(page.text, /CNRY/)
      const shown = await get(`/api/auth/sessions/${device.body.id}/device`, JSON_ONLY)
      assert.deepEqual(Object.keys(shown.body).sort(), [
        'connection',
        'expires_at',
        'provider',
        'user_code',
        'verification_uri',
        'verification_uri_complete',
      ])
    })

    it('answers how far it is without values, and takes none that it does not ask for', async () => {
      const name = await registerPublic('asked')
      const { body } = await begin(name)
      const resume = (input: object) => ada.call('POST', `/api/auth/sessions/${body.id}/resume`, { input })
      assert.equal((await resume({})).body.status, 'waiting_for_user')
      assert.equal((await resume({ client_id: 'x' })).status, 422)
      await comeBack(body.next_action.url)
      assert.equal((await resume({})).body.status, 'completed')
      assert.equal((await resume({ client_id: 'x' })).status, 409)
      const over = await ada.call('DELETE', `/api/auth/sessions/${body.id}`)
      assert.equal(over.body.status, 'completed')
    })

    it('goes with its own code and verifier, however many there are at once', async () => {
      const name = await registerPublic('many')
      const names = Array.from({ length: 50 }, (_, index) => `c${index}`)
      const begun = await Promise.all(names.map((connection) => begin(name, { connection })))
      const urls = begun.map(({ body }) => new URL(body.next_action.url))
      assert.equal(new Set(urls.map(({ searchParams }) => searchParams.get('code_challenge'))).size, 50)
      assert.ok(urls.every(({ searchParams }) => searchParams.get('code_challenge_method') === 'S256'))
      const pages = await Promise.all(urls.toReversed().map((url) => comeBack(url.href, JSON_ONLY)))
      assert.deepEqual(
        pages.map(({ body }) => body.connection),
        names.toReversed(),
      )
      const tokens = await Promise.all(names.map((connection) => tokenOf(name, connection)))
      assert.equal(new Set(tokens).size, 50)
    })
  })

  describe('that the daemon forgets', () => {
    it('is told to be over when the daemon was started again meanwhile', async (t) => {
      const other = await onboarded(t)
      const { issuer, clients } = provider
      const definition = { ...minimal('forgotten'), oauth: { issuer, scopes: [], client_id: clients.public.id } }
      writeFileSync(join(other.folder, 'forgotten.json'), JSON.stringify(definition))
      await other.broker(['provider', 'register', 'forgotten.json', '--yes'])
      const running = follow(other.start(['login', 'forgotten', '--json']))
      await running.said(/(Log in with your browser)/)
      // While nobody is there to answer, it waits.
      await other.daemon.stop()
      await other.restart(t)
      const { code, stdout } = await running.ended
      assert.equal(code, 2)
      assert.match(JSON.parse(stdout).message, /was started again and has lost this login/)
    })
  })

  describe('at the address of a server that nobody defined', () => {
    it('finds out who lets in, registers there, and keeps what it found', async () => {
      const resource = await startResource(cleanup, provider)
      const running = start(['login', resource.url])
      const url = await running.said(/Log in with your browser:\s+(\S+)/)
      await running.said(new RegExp(`(will be sent to ${resource.origin} and nowhere else)`))
      assert.equal(new URL(url).searchParams.get('resource'), resource.url)
      assert.equal(new URL(url).searchParams.get('scope'), 'api:read offline_access')
      await comeBack(url)
      assert.equal((await running.ended).code, 0)
      const [connection] = await connectionsOf(resource.name)
      assert.equal(connection.flow, 'dcr_pkce')
      const { body } = await ada.call('GET', `/api/providers/${resource.name}`)
      assert.deepEqual(body.hosts, [new URL(resource.url).host, `${new URL(resource.url).host}/mcp/*`])

      const again = await world.broker(['login', resource.url, '--json'])
      assert.equal(again.code, 6)
    })

    for (const signal of ENDING) {
      it(`leaves nothing where ${signal} ended it`, async () => {
        const resource = await startResource(cleanup, provider)
        const running = start(['login', resource.url])
        await running.said(/(Log in with your browser)/)
        running.process.kill(signal)
        assert.equal((await running.ended).code, 2)
        assert.equal((await ada.call('GET', `/api/providers/${resource.name}`)).status, 404)
      })
    }

    it('leaves nothing where the terminal is closed, and its shell says so too', async () => {
      const resource = await startResource(cleanup, provider)
      const running = start(['login', resource.url])
      await running.said(/(Log in with your browser)/)
      const said = setInterval(() => running.process.kill('SIGHUP'), 2)
      const { code } = await running.ended
      clearInterval(said)
      assert.equal(code, 2)
      assert.equal((await ada.call('GET', `/api/providers/${resource.name}`)).status, 404)
    })

    it('leaves nothing where it did not work', async () => {
      const nobody = await world.broker(['login', 'http://127.0.0.1:9/mcp', '--json'])
      assert.equal(nobody.code, 8)
      assert.equal((await ada.call('GET', '/api/providers/127.0.0.1-9')).status, 404)
    })

    it('takes nothing away from another login there that has worked meanwhile', async () => {
      const resource = await startResource(cleanup, provider)
      const given = start(['login', resource.url])
      await given.said(/(Log in with your browser)/)
      const second = start(['login', resource.url])
      await comeBack(await second.said(/Log in with your browser:\s+(\S+)/))
      assert.equal((await second.ended).code, 0)
      given.process.kill('SIGINT')
      assert.equal((await given.ended).code, 2)
      assert.equal((await connectionsOf(resource.name)).length, 1)
    })

    it('takes nothing away from another login there that is under way, and goes with the last of them', async () => {
      const resource = await startResource(cleanup, provider)
      const first = start(['login', resource.url])
      await first.said(/(Log in with your browser)/)
      const second = start(['login', resource.url])
      const url = await second.said(/Log in with your browser:\s+(\S+)/)
      const third = start(['login', resource.url, '--connection', 'third'])
      await third.said(/(Log in with your browser)/)
      first.process.kill('SIGINT')
      assert.equal((await first.ended).code, 2)
      await comeBack(url)
      const { code, stderr } = await second.ended
      assert.equal(code, 0, stderr)
      third.process.kill('SIGINT')
      assert.equal((await third.ended).code, 2)
      assert.equal((await connectionsOf(resource.name)).length, 1)
    })

    it('leaves nothing where neither of two has worked, whichever ends last', async () => {
      const resource = await startResource(cleanup, provider)
      const first = start(['login', resource.url])
      await first.said(/(Log in with your browser)/)
      const second = start(['login', resource.url])
      await second.said(/(Log in with your browser)/)
      first.process.kill('SIGINT')
      assert.equal((await first.ended).code, 2)
      assert.equal((await ada.call('GET', `/api/providers/${resource.name}`)).status, 200)
      second.process.kill('SIGINT')
      assert.equal((await second.ended).code, 2)
      await untilGone(resource.name)
    })

    it('leaves a definition that was there before, also where nobody is logged in', async () => {
      const resource = await startResource(cleanup, provider)
      const running = start(['login', resource.url])
      await comeBack(await running.said(/Log in with your browser:\s+(\S+)/))
      assert.equal((await running.ended).code, 0)
      assert.equal((await world.broker(['logout', resource.name])).code, 0)
      const again = start(['login', resource.url])
      await again.said(/(Log in with your browser)/)
      again.process.kill('SIGINT')
      assert.equal((await again.ended).code, 2)
      assert.equal((await ada.call('GET', `/api/providers/${resource.name}`)).status, 200)
    })

    it('is another one at another path of the host: each gets its own token, and neither the other’s', async () => {
      const resource = await startResource(cleanup, provider)
      const urls = [resource.url, `${resource.origin}/b/mcp`, `${resource.origin}/mcp/deep`]
      for (const address of urls) {
        const running = start(['login', address])
        const url = await running.said(/Log in with your browser:\s+(\S+)/)
        assert.equal(new URL(url).searchParams.get('resource'), address)
        await comeBack(url)
        const { code, stderr } = await running.ended
        assert.equal(code, 0, stderr)
      }
      const names = [resource.name, `${resource.name}-b-mcp`, `${resource.name}-mcp-deep`]
      const tokens = await Promise.all(names.map((name) => tokenOf(name)))
      assert.equal(new Set(tokens).size, 3)
      const at = new URL(resource.origin)
      const sentTo = async (path: string) => {
        const place = { host: at.hostname, port: Number(at.port), path }
        const { body } = await ada.call('POST', '/api/credentials/resolve', place)
        return tokens.findIndex((token) => body.headers?.Authorization === `Bearer ${token}`)
      }
      const paths = ['/mcp', '/mcp/', '/mcp/x', '/b/mcp', '/b/mcp/x', '/mcp/deep', '/mcp/deep/x', '/mcp/deeper', '/']
      assert.deepEqual(await Promise.all(paths.map(sentTo)), [0, 0, 0, 1, 1, 2, 2, 0, 0])

      assert.equal((await world.broker(['login', urls[1] ?? '', '--json'])).code, 6)
      assert.equal((await world.broker(['logout', names[1] ?? ''])).code, 0)
      assert.equal(await sentTo('/b/mcp'), -1)
      const query = await world.broker(['login', `${resource.url}?x=1`, '--json'])
      assert.equal(query.code, 4)
      assert.match(JSON.parse(query.stdout).message, /told apart by host and path/)
    })

    it('works beside a definition of the whole host that an earlier version made', async () => {
      const resource = await startResource(cleanup, provider)
      const host = new URL(resource.url).host
      const definition = {
        ...minimal(resource.name),
        flow: 'dcr_pkce',
        hosts: [host],
        oauth: { resource: resource.url, scopes: [] },
      }
      assert.equal((await ada.call('POST', '/api/providers', { definition })).status, 201)
      const first = start(['login', resource.url])
      await comeBack(await first.said(/Log in with your browser:\s+(\S+)/))
      assert.equal((await first.ended).code, 0)
      const second = start(['login', `${resource.origin}/b/mcp`])
      await second.said(new RegExp(`(will be sent to ${resource.origin}/b/mcp/\\* and nowhere else)`))
      await comeBack(await second.said(/Log in with your browser:\s+(\S+)/))
      assert.equal((await second.ended).code, 0)
      const [one, two] = await Promise.all([tokenOf(resource.name), tokenOf(`${resource.name}-b-mcp`)])
      for (const [path, token] of [
        ['/mcp', one],
        ['/other', one],
        ['/b/mcp', two],
      ] as const) {
        const place = { host: new URL(resource.url).hostname, port: Number(new URL(resource.url).port), path }
        const { body } = await ada.call('POST', '/api/credentials/resolve', place)
        assert.equal(body.headers?.Authorization, `Bearer ${token}`, path)
      }
    })

    it('registers anew with --force, and the connection of before keeps its own client', async () => {
      const resource = await startResource(cleanup, provider)
      const clients = []
      for (const flags of [
        ['--connection', 'one'],
        ['--connection', 'two'],
        ['--connection', 'two', '--force'],
      ]) {
        const running = start(['login', resource.url, ...flags])
        const url = await running.said(/Log in with your browser:\s+(\S+)/)
        clients.push(new URL(url).searchParams.get('client_id'))
        await comeBack(url)
        assert.equal((await running.ended).code, 0)
      }
      assert.equal(clients[0], clients[1])
      assert.notEqual(clients[1], clients[2])
      const one = await ada.call('GET', `/api/connections/${resource.name}/one?reveal=true`)
      assert.equal(one.body.credential.client_id, clients[0])
    })
  })
})

function minimal(name: string): object {
  return {
    schema_version: 1,
    name,
    display_name: `Provider ${name}`,
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: [`api.${name}.example`],
  }
}

interface Named {
  readonly provider: string
}

function endpoints({ issuer }: OpenIdProvider): object {
  return { authorization_url: `${issuer}/auth`, token_url: `${issuer}/token` }
}

/** Listens to what it says about its data, and not to the data. */
function follow(command: RunningCommand): WatchedCommand {
  return followStreams(command, [command.process.stderr])
}

/** A server that wants tokens of the provider, and says so as MCP servers do, on any path. */
async function startResource(t: Cleanup, provider: OpenIdProvider) {
  const wellKnown = '/.well-known/oauth-protected-resource'
  const server = createServer(({ url: path = '' }, response) => {
    if (path.startsWith(`${wellKnown}/`)) {
      const resource = `${origin}${path.slice(wellKnown.length)}`
      const body = { resource, authorization_servers: [provider.issuer], scopes_supported: ['api:read'] }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      return
    }
    const metadata = `${origin}${wellKnown}${path}`
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const url = `${origin}/mcp`
  return { origin, url, name: `127.0.0.1-${port}` }
}
