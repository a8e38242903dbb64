import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, beforeEach, describe, it } from 'node:test'
import { createCertificateAuthority } from '../src/proxy/index.ts'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { type Caller, owner, suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { type LeakWatch, openLeakWatch } from './leak-watch.ts'
import { expireTokens } from './oauth-login.ts'
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  type ScriptedServer,
  startScriptedServer,
} from './scripted-oauth-server.ts'
import { markedSecret } from './search-for-secret.ts'

const API = 'api.echo.example'
/** Short and without a digit: nothing but being sent gives it away. */
const CLIENT_SECRET = markedSecret('', 14)
const JSON_ONLY = { accept: 'application/json' }

/** An answer out of the secrets that were sent. */
type Echo = (secrets: readonly string[]) => ScriptedAnswer

const bad = (body: object): ScriptedAnswer => ({ status: 400, body })
/** Those that are no words in any encoding: what looks like one is compared as it is. */
const long = (all: readonly string[]) => all.filter(({ length }) => length > 24)
const said = (text: string) => bad({ error: 'invalid_request', error_description: text })

const ECHOES: Readonly<Record<string, Echo>> = {
  'as the error': ([one = '']) => bad({ error: one }),
  'as the error, in lower case': ([one = '']) => bad({ error: one.toLowerCase() }),
  'as the error, with status 200': ([one = '']) => ({ body: { error: one } }),
  'as the last secret in the error': (all) => bad({ error: `bad_${all.at(-1)}` }),
  'in the description': (all) => said(`Got ${all.join(' and ')}`),
  'in the description, in capitals': (all) => said(all.join('; ').toUpperCase()),
  'in the description, percent-encoded': (all) => said(all.map((one) => `%20${encodeURIComponent(one)}`).join('')),
  'in the description, far behind': (all) => said(`${'well '.repeat(39)}${all.join(' ')}`),
  'in the description, backwards': (all) =>
    said(
      long(all)
        .map((one) => one.split('').reverse().join(''))
        .join(' '),
    ),
  'in the description, as base64': (all) =>
    said(
      long(all)
        .map((one) => btoa(one))
        .join(' '),
    ),
  'in the description, as hex': (all) =>
    said(
      long(all)
        .map((one) => Buffer.from(one).toString('hex'))
        .join(' '),
    ),
  'in the address of an error': (all) =>
    bad({ error: 'invalid_request', error_uri: `https://a.example/?${all.join('&')}` }),
  'as members': (all) =>
    bad({ error: 'invalid_request', ...Object.fromEntries(all.map((one) => [one, { [one]: one }])) }),
  'in an error object': ([one = '', ...more]) => bad({ error: { code: one, type: one, message: more.join(' ') } }),
  'as the status': ([one = '']) => bad({ status: one, message: one, msg: one }),
  'in a form': ([one = '']) => ({
    status: 400,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ error: one, error_description: one, [one]: one }).toString(),
  }),
  'in a page': (all) => ({ status: 400, headers: { 'content-type': 'text/html' }, body: `<h1>${all.join('<br>')}` }),
  'in a page of a gateway': (all) => ({ status: 502, headers: { 'content-type': 'text/html' }, body: all.join() }),
  'in JSON that breaks off': ([one = '']) => ({
    headers: { 'content-type': 'application/json' },
    body: `{"access_token":"${one}`,
  }),
  'where a redirect leads': (all) => ({ status: 302, headers: { location: `https://a.example/?${all.join('&')}` } }),
  'in headers': ([one = '']) => ({
    status: 401,
    headers: {
      'www-authenticate': `Bearer error="${one}", error_description="${one}"`,
      'retry-after': one,
      date: one,
      'content-type': `application/${one}`,
      'set-cookie': `session=${one}`,
      [`x-${one}`]: one,
    },
  }),
  'in the status line': ([one = '']) => ({
    raw: (response) => response.writeHead(400, one, { 'content-type': 'text/plain' }).end(one),
  }),
  'as a token that cannot be one': ([one = '']) => ({ body: { access_token: `${one} ${one}`, token_type: one } }),
  'as the type of a token': ([one = '']) => ({ body: { access_token: one, token_type: one, expires_in: one } }),
}

describe('a provider that repeats what it was told', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  const secrets = new Set<string>([CLIENT_SECRET])
  /** Those of the test at hand; of all tests in the last one. */
  let inPlay = new Set<string>()
  let server: ScriptedServer
  let world: BrokerHome
  let ada: Caller
  let watch: LeakWatch
  let echo: Echo | undefined
  /** What tokens come with. */
  let beside: (tokens: Readonly<Record<string, string>>) => object = () => ({})

  before(async () => {
    server = await startScriptedServer(answer)
    cleanup.after(() => server.close())
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, createCertificateAuthority([API], new Date()).caPem)
    world = await onboarded(cleanup, {
      BROKER_LOG_LEVEL: 'debug',
      BROKER_PROXY_CA_FILE: authority,
      BROKER_PROXY_CONNECT_TO: `${API}:443:127.0.0.1:1`,
    })
    ada = await owner(world.daemon)
    watch = openLeakWatch(world, ada, () => [CLIENT_SECRET, ...inPlay])
    const { origin } = server
    const definition = {
      schema_version: 1,
      name: 'echo',
      display_name: 'Echo',
      auth_type: 'oauth2',
      flow: 'pkce',
      hosts: [API],
      oauth: {
        authorization_url: `${origin}/authorize`,
        token_url: `${origin}/token`,
        device_authorization_url: `${origin}/device`,
        registration_url: `${origin}/register`,
        revocation_url: `${origin}/revoke`,
        userinfo_url: `${origin}/me`,
        scopes: ['read'],
        token_auth_method: 'client_secret_post',
        quirks: ['tokens_in_body', 'api_url_in_instance_url'],
      },
    }
    assert.equal((await watch.call('POST', '/api/providers', { definition })).status, 201)
    await connected('first')
  })

  beforeEach(() => {
    inPlay = new Set()
  })

  function answer(request: ScriptedRequest): ScriptedAnswer | undefined {
    const { path, form, headers } = request
    const sent = ['refresh_token', 'code', 'device_code', 'token', 'code_verifier', 'client_secret']
      .flatMap((name) => form.get(name) ?? [])
      .concat(/^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? [])
    for (const secret of sent) known(secret)
    if (echo && path !== '/me') return echo(sent)
    if (path === '/me') return { body: { id: sent[0], login: `Token ${sent[0]}`, name: 'Ada' } }
    if (path === '/device') return { body: device() }
    if (path !== '/token') return undefined
    const tokens = { access_token: secret('at-'), refresh_token: secret('rt-') }
    return {
      body: { ...tokens, token_type: 'bearer', expires_in: 3600, instance_url: `https://${API}`, ...beside(tokens) },
    }
  }

  function device(): object {
    const device_code = secret('dc-')
    const verification_uri = `${server.origin}/enter`
    const verification_uri_complete = `${verification_uri}?user_code=${device_code.toLowerCase()}`
    return { device_code, user_code: 'ABCD-EFGH', verification_uri, verification_uri_complete, interval: 1 }
  }

  function secret(prefix = ''): string {
    return known(markedSecret(prefix))
  }

  function known(value: string): string {
    secrets.add(value)
    inPlay.add(value)
    return value
  }

  /** A login up to where the browser would come back; what it would bring. */
  async function led(connection: string): Promise<{ readonly id: string; readonly state: string }> {
    const wanted = { provider: 'echo', connection, force: true }
    const { body } = await watch.call('POST', '/api/auth/sessions', wanted)
    const app = { client_id: 'client-1', client_secret: CLIENT_SECRET }
    const { next_action: next } =
      body.next_action.type === 'form'
        ? (await ada.call('POST', `/api/auth/sessions/${body.id}/resume`, { input: app })).body
        : body
    watch.expectUrl(next.url)
    return { id: body.id, state: new URL(next.url).searchParams.get('state') ?? '' }
  }

  const comeBack = (query: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) =>
    watch.visit('GET', `/auth/callback/oauth?${new URLSearchParams(query)}`, '', headers)

  async function connected(connection: string): Promise<void> {
    const { state } = await led(connection)
    const { status, text } = await comeBack({ code: secret(), state })
    assert.equal(status, 200, text)
  }

  async function echoing(one: Echo, work: () => Promise<void>): Promise<void> {
    echo = one
    try {
      await work()
    } finally {
      echo = undefined
    }
  }

  for (const [where, one] of Object.entries(ECHOES))
    it(`${where}, is not repeated`, async () => {
      await connected('echoed')
      await echoing(one, async () => {
        expireTokens(world.home)
        const refused = await watch.call('POST', '/api/credentials/resolve', { host: API, connection: 'echoed' })
        assert.equal(refused.status, 502, refused.text)
        for (const headers of [undefined, JSON_ONLY]) {
          const { id, state } = await led('another')
          assert.ok((await comeBack({ code: secret(), state }, headers)).status >= 400)
          assert.equal((await watch.call('GET', `/api/auth/sessions/${id}`)).body.status, 'failed')
        }
        const device = { provider: 'echo', connection: 'another', flow: 'device_code' }
        assert.notEqual((await watch.call('POST', '/api/auth/sessions', device)).status, 201)
      })
      const events = await watch.call('GET', '/api/audit/events?status=failure&limit=4')
      assert.equal(events.body.events.length, 4)
      watch.assertUnseen()
    })

  it('through the browser, is not repeated', async () => {
    const told = [...secrets].filter((one) => /^rt-|^at-/.test(one)).slice(0, 2)
    for (const one of told) known(one)
    const echoes: readonly ((state: string) => Readonly<Record<string, string>>)[] = [
      (state) => ({ error: state, error_description: `The state ${state} is wrong` }),
      () => ({ error: CLIENT_SECRET, error_description: CLIENT_SECRET.toLowerCase(), error_uri: CLIENT_SECRET }),
      () => ({ error: told[0] ?? '', error_description: told.join(' ') }),
      () => ({ error: 'access_denied', error_description: `\u001b]8;;x\u0007<b>${CLIENT_SECRET}</b>\r\n`.repeat(50) }),
      (state) => ({ code: secret(), iss: `https://${CLIENT_SECRET}.example`, [CLIENT_SECRET]: state }),
    ]
    for (const query of echoes) {
      for (const headers of [undefined, JSON_ONLY]) {
        const { id, state } = await led('another')
        assert.equal((await comeBack({ state, ...query(state) }, headers)).status, 400)
        assert.equal((await watch.call('GET', `/api/auth/sessions/${id}`)).body.status, 'failed')
      }
    }
    watch.assertUnseen()
  })

  it('beside tokens that work, is not taken for a scope, an account, or the address of the API', async () => {
    beside = ({ access_token = '', refresh_token = '' }) => ({
      scope: `read ${refresh_token} ${access_token.toLowerCase()}`,
      instance_url: `https://${API}/${access_token}?${refresh_token}`,
      [refresh_token]: access_token,
    })
    await connected('beside')
    expireTokens(world.home)
    await ada.call('POST', '/api/credentials/resolve', { host: API, connection: 'beside' })
    beside = () => ({})
    const { body } = await watch.call('GET', '/api/connections/echo/beside')
    assert.deepEqual([body.scopes, body.account], [['read'], { label: 'Ada' }])
    watch.assertUnseen()
  })

  it('of a device code, is not shown as what to open, nor told when it is asked', async () => {
    const { body } = await watch.call('POST', '/api/auth/sessions', {
      provider: 'echo',
      connection: 'device',
      flow: 'device_code',
    })
    assert.equal(body.next_action.verification_uri, `${server.origin}/enter`)
    assert.equal(body.next_action.verification_uri_complete, undefined)
    await watch.visit('GET', `/api/auth/sessions/${body.id}/device`)
    await echoing(
      (all) => bad({ error: all[0], error_description: all.join(' ') }),
      async () => {
        const asked = await watch.call('POST', `/api/auth/sessions/${body.id}/resume`, { input: {} })
        assert.equal(asked.body.status, 'failed')
        assert.match(asked.body.error.message, /it refused \(unknown_error\)$/)
      },
    )
    watch.assertUnseen()
  })

  it('of a registration, is not repeated', async () => {
    const definition = {
      ...(await ada.call('GET', '/api/providers/echo')).body,
      name: 'registering',
      flow: 'dcr_pkce',
      hosts: ['api.registering.example'],
    }
    const { source: _, connections: __, ...own } = definition
    const registered = await watch.call('POST', '/api/providers', { definition: own })
    assert.equal(registered.status, 201, registered.text)
    const made = { client_id: 'client-2', client_secret: secret('cs-'), registration_access_token: secret('ra-') }
    const answers: readonly ScriptedAnswer[] = [
      bad({ error: made.client_secret, error_description: `Made ${Object.values(made).join(' ')}`, ...made }),
      { status: 500, body: JSON.stringify(made) },
      { status: 403, body: made },
      { status: 201, body: { ...made, client_id: made.client_secret } },
      { status: 201, body: { ...made, client_id: `c.${made.registration_access_token}` } },
      { status: 201, body: { ...made, redirect_uris: [`https://a.example/${made.client_secret}`] } },
      { status: 201, body: { ...made, token_endpoint_auth_method: made.client_secret } },
    ]
    for (const one of answers)
      await echoing(
        () => one,
        async () => {
          const { body } = await watch.call('POST', '/api/auth/sessions', { provider: 'registering' })
          // One that takes no strangers leaves it to the user to make an app.
          assert.equal(body.next_action?.type ?? body.error, one.status === 403 ? 'form' : body.error)
        },
      )
    watch.assertUnseen()
  })

  it('at the command line, and to the child of a run, is not repeated', async () => {
    const one: Echo = (all) => bad({ error: all[0], error_description: `Got ${all.join(' ')}`, error_uri: all[0] })
    await connected('default')
    await echoing(one, async () => {
      for (const flags of [['--json'], []]) {
        const login = watch.start(['login', 'echo', '--force', '--verbose', ...flags])
        const url = await login.said(/Log in with your browser:\s+(\S+)/)
        watch.expectUrl(url)
        await comeBack({ code: secret(), state: new URL(url).searchParams.get('state') ?? '' })
        assert.equal((await login.ended).code, 2)
      }
      expireTokens(world.home)
      const run = await world.startAsking(['--verbose', '--connection', 'echo=default'])
      const refused = await run.get(`https://${API}/`)
      const { stdout, stderr } = await run.end()
      assert.equal(refused.status, 502)
      watch.remember({ where: 'what the child is told', bytes: JSON.stringify(refused) })
      watch.remember({ where: 'output of the run', bytes: stdout + stderr })
      assert.equal((await watch.broker(['provider', 'revoke', 'echo', '--verbose'])).code, 8)
    })
    await watch.broker(['log', '-n', '500', '--json'])
    await watch.broker(['daemon', 'logs', '-n', '100000'])
    await watch.broker(['log', '--raw', '-n', '100000'])
    await watch.call('GET', '/api/audit/events?limit=500')
    assert.equal(await world.daemon.stop(), 0)
    inPlay = secrets
    watch.assertUnseen()
  })
})
