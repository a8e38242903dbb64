import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type LocalApi, startLocalApi } from '../demo/local-api.ts'
import { findProgram } from '../tools/available.ts'
import { type BrokerHome, onboarded, type RunningCommand } from './broker-command.ts'
import { type Answer, type Caller, owner, suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { follow, type LeakWatch, openLeakWatch } from './leak-watch.ts'
import { expireTokens } from './oauth-login.ts'
import { type OAuthTap, startTap } from './oauth-tap.ts'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'

const BROKER = fileURLToPath(new URL('../bin/broker', import.meta.url))
const API = 'api.by-page.example'
const LED_ON = /Log in with your browser:\s+(\S+)/

describe('no secret of an OAuth login is seen anywhere but where it must be', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  /** What this test knows, and the provider was never told. */
  const own = new Set<string>()
  let provider: OpenIdProvider
  let tap: OAuthTap
  let api: LocalApi
  let world: BrokerHome
  let ada: Caller
  let watch: LeakWatch
  let refused = ''

  before(async () => {
    provider = await startOpenIdProvider()
    tap = await startTap(provider.issuer)
    api = await startLocalApi([API], async (token) => token !== refused && provider.isActive(token))
    cleanup.after(() => Promise.all([provider.close(), tap.close(), api.close()]))
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, api.caPem)
    world = await onboarded(cleanup, {
      BROKER_LOG_LEVEL: 'debug',
      BROKER_PROXY_CA_FILE: authority,
      BROKER_PROXY_CONNECT_TO: `${API}:443:127.0.0.1:${api.port}`,
    })
    ada = await owner(world.daemon)
    watch = openLeakWatch(world, ada, () => [...tap.secrets(), ...own])
  })

  async function register(name: string, oauth: object = {}, more: object = {}): Promise<void> {
    const definition = {
      schema_version: 1,
      name,
      display_name: `Provider ${name}`,
      auth_type: 'oauth2',
      flow: 'pkce',
      hosts: [`api.${name}.example`],
      ...more,
      oauth: {
        issuer: provider.issuer,
        scopes: ['openid', 'offline_access'],
        authorize_params: { prompt: 'consent' },
        ...tap.endpoints,
        ...oauth,
      },
    }
    const file = join(world.folder, `${name}.json`)
    writeFileSync(file, JSON.stringify(definition))
    assert.equal((await watch.broker(['provider', 'register', file, '--yes', '--verbose'])).code, 0)
  }

  const registerPublic = (name: string, oauth: object = {}, more: object = {}) =>
    register(name, { client_id: provider.clients.public.id, token_auth_method: 'none', ...oauth }, more)

  const registerOwn = (name: string) => register(name, { token_auth_method: 'client_secret_basic' })

  /** Plays the browser on its way to the provider and back. */
  async function comeBack(url: string, headers?: Readonly<Record<string, string>>): Promise<Answer> {
    watch.expectUrl(url)
    const { pathname, search, searchParams } = new URL(await provider.approve(url))
    own.add(searchParams.get('code') ?? own.values().next().value ?? '')
    return watch.visit('GET', pathname + search, '', headers)
  }

  async function begin(name: string, more: object = {}) {
    const { status, body, text } = await watch.call('POST', '/api/auth/sessions', { provider: name, ...more })
    assert.equal(status, 201, text)
    if (body.next_action.type === 'open_url') watch.expectUrl(body.next_action.url)
    return body
  }

  async function connected(name: string, more: object = {}): Promise<void> {
    const { next_action: next } = await begin(name, more)
    assert.equal((await comeBack(next.url)).status, 200)
  }

  const resolve = (name: string, more: object = {}) =>
    ada.call('POST', '/api/credentials/resolve', { host: `api.${name}.example`, ...more })

  it('in a login with an app whose secret is typed at the terminal', {
    skip: findProgram('script') ? false : 'there is no script(1)',
  }, async () => {
    await registerOwn('by-terminal')
    const { id, secret } = provider.clients.confidential
    const terminal = follow(startAtTerminal(world, ['login', 'by-terminal', '--no-browser', '--no-color', '--verbose']))
    await terminal.said(/(client ID)/)
    terminal.process.stdin?.write(`${id}\r`)
    await terminal.said(/(client secret)/)
    terminal.process.stdin?.write(`${secret}\r`)
    const url = await terminal.said(/Log in with your browser:\s+(\S+)/)
    watch.rememberProcess(terminal.process.pid, 'the terminal')
    assert.equal((await comeBack(url)).status, 200)
    const { code, stdout, stderr } = await terminal.ended
    assert.equal(code, 0, stdout)
    watch.remember({ where: 'the terminal', bytes: stdout + stderr })
    assert.ok(tap.secrets().includes(secret))
    watch.assertUnseen()
  })

  it('in a login with an app whose secret is entered in the page, rightly and wrongly', async () => {
    await registerOwn('by-page')
    const { id, secret: client_secret } = provider.clients.confidential
    own.add(client_secret)
    const login = watch.start(['login', 'by-page', '--verbose', '--json'])
    const { pathname } = new URL(await login.said(/Enter it in your browser:\s+(\S+)/))
    const html = { accept: 'text/html' }
    const page = await watch.visit('GET', pathname)
    await watch.visit('GET', pathname, '', { accept: 'application/json' })
    const csrf = /name="csrf"[^>]*value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const headers = { ...html, 'content-type': 'application/x-www-form-urlencoded', origin: world.daemon.origin }
    const send = (fields: Readonly<Record<string, string>>) =>
      watch.visit('POST', pathname, new URLSearchParams(fields).toString(), headers)
    for (const [fields, status] of [
      [{ client_id: id, client_secret }, 403],
      [{ csrf: client_secret, client_id: id, client_secret }, 403],
      [{ csrf, client_secret }, 422],
      [{ csrf, client_id: id, [client_secret]: client_secret }, 422],
      [{ csrf, client_id: id, client_secret: `${client_secret}\n` }, 422],
      [{ csrf, client_id: id, client_secret: client_secret.padEnd(2001, client_secret) }, 422],
    ] as const)
      assert.equal((await send(fields)).status, status)
    watch.assertUnseen()

    const led = await send({ csrf, client_id: id, client_secret })
    const url = (/href="(http[^"]+)"/.exec(led.text)?.[1] ?? '').replaceAll('&amp;', '&')
    watch.rememberProcess(login.process.pid, 'broker login')
    watch.rememberProcess(world.daemon.process.pid, 'the daemon')
    assert.equal((await comeBack(url)).status, 200)
    assert.equal((await login.ended).code, 0)
    watch.assertUnseen()
  })

  it('in a login with an app whose secret is sent by the API', async () => {
    await registerOwn('by-api')
    const { id, secret } = provider.clients.confidential
    const session = await begin('by-api')
    const path = `/api/auth/sessions/${session.id}`
    for (const input of [
      { client_secret: secret },
      { client_id: id, client_secret: `${secret}\u0000` },
      { client_id: id, client_secret: secret, [secret]: secret },
    ])
      assert.equal((await watch.call('POST', `${path}/resume`, { input })).status, 422)
    const { body } = await ada.call('POST', `${path}/resume`, { input: { client_id: id, client_secret: secret } })
    watch.expectUrl(body.next_action.url)
    await watch.call('GET', path)
    assert.equal((await comeBack(body.next_action.url, { accept: 'application/json' })).body.status, 'completed')
    await watch.call('GET', path)
    watch.assertUnseen()
  })

  it('in a login by device code', async () => {
    await registerPublic('device', {}, { flow: 'device_code' })
    const session = await begin('device')
    const path = `/api/auth/sessions/${session.id}`
    await watch.visit('GET', `${path}/device`)
    await watch.visit('GET', `${path}/device`, '', { accept: 'application/json' })
    await watch.call('POST', `${path}/resume`, { input: {} })
    await provider.approveDevice(session.next_action.user_code)
    const command = watch.start(['login', 'device', '--connection', 'other', '--verbose'])
    await provider.approveDevice(await command.said(/and enter the code (\S+)/))
    watch.rememberProcess(command.process.pid, 'broker login')
    watch.assertUnseen()
    assert.equal((await command.ended).code, 0)
    assert.equal((await watch.call('POST', `${path}/resume`, { input: {} })).body.status, 'completed')
    watch.assertUnseen()
  })

  it('in a login with a client that the provider registers, with a secret and a token to change it', async () => {
    await register('registering', {}, { flow: 'dcr_pkce' })
    const login = watch.start(['login', 'registering', '--verbose'])
    assert.equal((await comeBack(await login.said(LED_ON))).status, 200)
    assert.equal((await login.ended).code, 0)
    watch.assertUnseen()
    const { body } = await ada.call('GET', '/api/connections/registering/default?reveal=true')
    assert.ok(tap.secrets().includes(body.credential.client_secret))
  })

  it('in a login that the provider refuses, or that is cancelled', async () => {
    await registerPublic('refusing')
    provider.settings.consent = 'declined'
    const declined = watch.start(['login', 'refusing', '--verbose'])
    await comeBack(await declined.said(LED_ON))
    assert.equal((await declined.ended).code, 2)
    provider.settings.consent = 'granted'

    tap.answer('/token', { status: 400, body: { error: 'invalid_grant', error_description: 'The code has ended' } })
    const failing = watch.start(['login', 'refusing', '--verbose', '--json'])
    assert.equal((await comeBack(await failing.said(LED_ON))).status, 400)
    assert.equal((await failing.ended).code, 2)
    tap.answer('/token', undefined)

    const cancelled = watch.start(['login', 'refusing', '--verbose'])
    const url = await cancelled.said(LED_ON)
    watch.expectUrl(url)
    cancelled.process.kill('SIGINT')
    assert.equal((await cancelled.ended).code, 2)
    assert.equal((await comeBack(url)).status, 400)

    const deleted = await begin('refusing')
    await watch.call('DELETE', `/api/auth/sessions/${deleted.id}`)
    await comeBack(deleted.next_action.url)
    for (const query of ['', `?code=${[...own].at(-1)}`, `?error=${[...own].at(-1)}&state=${[...own].at(-1)}`])
      assert.equal((await watch.visit('GET', `/auth/callback/oauth${query}`)).status, 400)
    assert.equal(
      (await watch.call('GET', '/api/audit/events?provider=refusing')).body.events.filter(
        ({ event }: { event: string }) => event === 'provider.login_failed',
      ).length,
      4,
    )
    watch.assertUnseen()
  })

  it('shows the token where it is asked for, and redacts it everywhere else', async () => {
    const revealed = await ada.call('GET', '/api/connections/by-api/default?reveal=true')
    const { access_token: token, refresh_token: refreshToken } = revealed.body.credential
    assert.ok(tap.secrets().includes(token) && tap.secrets().includes(refreshToken))
    assert.equal((await resolve('by-api')).body.headers.Authorization, `Bearer ${token}`)
    for (const { provider: name, connection } of (await watch.call('GET', '/api/connections')).body.connections) {
      const { body } = await watch.call('GET', `/api/connections/${name}/${connection}`)
      assert.equal(body.credential.refresh_token, '[redacted]')
    }
    watch.assertUnseen()
  })

  it('in a refresh that works, is refused, or finds nobody', async () => {
    for (const name of ['refused', 'absent']) {
      await registerPublic(name)
      await connected(name)
    }
    const token = (await resolve('by-api')).body.headers.Authorization
    expireTokens(world.home)
    assert.notEqual((await resolve('by-api')).body.headers.Authorization, token)
    assert.equal((await resolve('registering')).status, 200)
    watch.assertUnseen()

    const down: readonly (readonly [string, Parameters<OAuthTap['answer']>[1], number])[] = [
      ['absent', { raw: (response) => response.destroy() }, 502],
      ['absent', { status: 503, headers: { 'retry-after': '1' }, body: '<html>' }, 502],
      ['refused', { status: 400, body: { error: 'invalid_grant' } }, 502],
      ['refused', undefined, 409],
    ]
    for (const [name, answer, status] of down) {
      tap.answer('/token', answer)
      expireTokens(world.home)
      const failed = await watch.call('POST', '/api/credentials/resolve', { host: `api.${name}.example` })
      assert.equal(failed.status, status, failed.text)
    }
    tap.answer('/token', undefined)
    watch.assertUnseen()
  })

  it('in a run whose token is refused and refreshed, to the system or to the child', async () => {
    const { body } = await ada.call('POST', '/api/credentials/resolve', { host: API })
    refused = String(body.headers.Authorization).replace('Bearer ', '')
    const run = await world.startAsking(['--verbose'])
    const answers = [await run.get(`https://${API}/v1/items`), await run.get(`https://${API}/v1/others`)]
    watch.rememberProcess(world.daemon.process.pid, 'the daemon')
    watch.rememberProcess(run.child.pid, 'the child')
    watch.rememberProcess(run.process.pid, 'broker run')
    watch.remember({ where: 'what the child sees', bytes: JSON.stringify([run.child.env, answers]) })
    const { stdout, stderr } = await run.end()
    watch.remember({ where: 'output of the run', bytes: stdout + stderr })

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    const [first, second] = api.received.map(({ headers }) => String(headers['authorization']))
    assert.equal(first, `Bearer ${refused}`)
    assert.ok(second !== first && tap.secrets().includes(second?.replace('Bearer ', '') ?? ''))
    watch.assertUnseen()
  })

  it('in any other command and route', async () => {
    const all: readonly (readonly [readonly string[], number])[] = [
      [['connections'], 0],
      [['connections', 'inspect', 'by-page'], 0],
      [['connections', 'inspect', 'registering', '--json'], 0],
      [['provider', 'list', '--json'], 0],
      [['provider', 'inspect', 'registering'], 0],
      [['log', '-n', '500'], 0],
      [['log', '-n', '500', '--json'], 0],
      [['log', '--raw', '-n', '100000'], 0],
      [['daemon', 'logs', '-n', '100000'], 0],
      [['doctor'], 1],
      [['doctor', '--json'], 1],
      [['login', 'by-page', '--json'], 6],
      [['login', 'http://127.0.0.1:9/mcp', '--json'], 8],
      [['whoami', '--json'], 0],
    ]
    for (const [args, code] of all)
      assert.equal((await watch.broker(['--verbose', ...args])).code, code, args.join(' '))
    for (const path of [
      '/api/audit/events?limit=500',
      '/api/proxy/routes?scope=all',
      '/api/providers',
      '/api/ready',
      '/oauth/client-metadata.json',
    ])
      await watch.call('GET', path)
    watch.assertUnseen()
  })

  it('in what ends it: revoked, revoked in vain, logged out, stopped', async () => {
    const token = (await resolve('registering')).body.headers.Authorization.replace('Bearer ', '')
    assert.equal((await watch.broker(['provider', 'revoke', 'registering', '--json', '--verbose'])).code, 0)
    assert.equal(await provider.isActive(token), false)
    tap.answer('/token/revocation', { status: 400, body: { error: 'invalid_request' } })
    assert.equal((await watch.broker(['provider', 'revoke', 'by-api', '--json', '--verbose'])).code, 8)
    assert.equal((await watch.call('POST', '/api/connections/device/revoke')).body.status, 'partial')
    assert.equal((await watch.broker(['logout', 'by-page', '--verbose'])).code, 0)
    await begin('by-page')
    watch.assertUnseen()
    assert.equal(await world.daemon.stop(), 0)
    watch.assertUnseen()
    assert.ok(tap.secrets().length > 30, `${tap.secrets().length} secrets were searched for`)
  })
})

/** As a person does who sits at a terminal. */
function startAtTerminal(world: BrokerHome, args: readonly string[]): RunningCommand {
  const command = `stty cols 250 rows 50; exec ${[BROKER, ...args].join(' ')}`
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: dirname(world.home),
    TMPDIR: world.temporary,
    TERM: 'xterm',
    BROKER_HOME: world.home,
    BROKER_PORT: String(world.daemon.port),
  }
  const child = spawn('script', ['-qefc', command, '/dev/null'], { env, cwd: world.folder })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return { process: child, ended }
}
