import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type LocalApi, startLocalApi } from '../demo/local-api.ts'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { type DaemonUnderTest, send, suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'
import { filesBelow, markedSecret, searchForSecrets, type Trace } from './search-for-secret.ts'

const HOSTS = { acme: 'api.acme.example', signed: 'api.signed.example' }
const NEW_SECRET = markedSecret('ss-', 32)
const OTHER_SECRET = markedSecret('ss-', 32)

describe('a client that acts for itself, behind broker run', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  const traces: Trace[] = []
  let provider: OpenIdProvider
  let api: LocalApi
  let world: BrokerHome
  let daemon: DaemonUnderTest

  before(async () => {
    provider = await startOpenIdProvider()
    cleanup.after(() => provider.close())
    api = await startLocalApi(Object.values(HOSTS), provider.isActive)
    cleanup.after(() => api.close())
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, api.caPem)
    world = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: api.hosts.map((host) => `${host}:443:127.0.0.1:${api.port}`).join(),
      BROKER_PROXY_CA_FILE: authority,
    })
    daemon = world.daemon
    await register('acme', {}, { env: { ACME_CLIENT_ID: 'client_id', ACME_CLIENT_SECRET: 'client_secret' } })
    await register('signed', { token_auth_method: 'private_key_jwt' })
  })

  async function register(name: keyof typeof HOSTS, oauth: object, more: object = {}): Promise<void> {
    const file = join(world.folder, `${name}.json`)
    const definition = {
      schema_version: 1,
      name,
      display_name: name,
      auth_type: 'oauth2',
      flow: 'api_key',
      hosts: [HOSTS[name]],
      ...more,
      oauth: {
        grant: 'client_credentials',
        token_url: `${provider.issuer}/token`,
        revocation_url: `${provider.issuer}/token/revocation`,
        scopes: ['api:read'],
        ...oauth,
      },
    }
    writeFileSync(file, JSON.stringify(definition))
    assert.equal((await broker(['provider', 'register', file, '--force'])).code, 0)
  }

  async function broker(args: readonly string[], input?: object, env: Readonly<Record<string, string>> = {}) {
    const done = await world.broker(args, { env, ...(input && { input: JSON.stringify(input) }) })
    traces.push({ where: `broker ${args.join(' ')}`, bytes: done.stdout + done.stderr })
    return done
  }

  const service = () => ({ client_id: provider.clients.service.id, client_secret: provider.clients.service.secret })

  async function statusFor(host: string): Promise<number | undefined> {
    const run = await world.startAsking()
    const { status } = await run.get(`https://${host}/`)
    await run.end()
    return status
  }

  async function connection(name: string) {
    const { stdout } = await broker(['connections', '--json'])
    return JSON.parse(stdout).connections.find((one: { provider: string }) => one.provider === name)
  }

  it('is refused at login with a wrong secret', async () => {
    const done = await broker(['login', 'acme', '--json'], { ...service(), client_secret: OTHER_SECRET })
    assert.equal(done.code, 2)
    const { error, message } = JSON.parse(done.stdout)
    assert.deepEqual([error, message], ['AuthenticationFailedError', 'acme refuses the id or secret (invalid_client)'])
    assert.equal(await connection('acme'), undefined)
  })

  it('is told what is missing, as what it is called', async () => {
    const done = await broker(['login', 'acme'], { client_id: 'me' })
    assert.equal(done.code, 2)
    assert.match(done.stderr, /client_secret is required/)
  })

  it('logs in by a pipe, and a command uses its tokens', async () => {
    assert.equal((await broker(['login', 'acme'], service())).code, 0)
    const { auth_type, flow, status } = await connection('acme')
    assert.deepEqual([auth_type, flow, status], ['oauth2', 'api_key', 'connected'])
    const run = await world.startAsking()
    assert.equal(run.child.env['ACME_CLIENT_ID'], provider.clients.service.id)
    assert.equal(run.child.env['ACME_CLIENT_SECRET'], 'broker-proxy-managed')
    assert.equal((await run.get(`https://${HOSTS.acme}/`)).status, 200)
    await run.end()
    assert.match((await broker(['why', `https://${HOSTS.acme}/`])).stdout, /header Authorization/)
  })

  it('logs in with a key, and signs for each token', async () => {
    const { id, rsaPem } = provider.clients.signing
    assert.equal((await broker(['login', 'signed'], { client_id: id, private_key: rsaPem, kid: 'key-0' })).code, 0)
    assert.equal(await statusFor(HOSTS.signed), 200)
  })

  it('logs in at the page, which says that the provider is asked', async () => {
    const login = world.start(['login', 'acme', '--force', '--browser', '--connection', 'page'], {
      env: { BROWSER: '/bin/true' },
    })
    let said = ''
    const url = await new Promise<string>((resolve) => {
      login.process.stderr?.on('data', (chunk) => {
        said += chunk
        const found = /http:\S+\/input/.exec(said)?.[0]
        if (found) resolve(found)
      })
    })
    const { pathname } = new URL(url)
    const page = await send(daemon, 'GET', pathname, undefined, { accept: 'text/html' })
    assert.match(page.text, /type="password"[^>]*>/)
    assert.match(page.text, /asks acme for a token at once/)
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const post = (values: Readonly<Record<string, string>>) =>
      send(daemon, 'POST', pathname, new URLSearchParams({ csrf, ...values }).toString(), {
        accept: 'text/html',
        'content-type': 'application/x-www-form-urlencoded',
        origin: daemon.origin,
      })
    const refused = await post({ ...service(), client_secret: OTHER_SECRET })
    assert.match(refused.text, /acme refuses the id or secret/)
    const done = await post(service())
    assert.equal(done.status, 200, done.text)
    traces.push({ where: 'pages', bytes: page.text + refused.text + done.text })
    assert.equal((await login.ended).code, 0)
    assert.equal((await broker(['logout', 'acme', '--connection', 'page'])).code, 0)
  })

  it('is found by onboard where both of its variables are there, and taken if the provider takes it', async () => {
    assert.equal((await broker(['logout', 'acme'])).code, 0)
    const id = provider.clients.service.id
    const wrong = await broker(['onboard', '--json'], undefined, {
      ACME_CLIENT_ID: id,
      ACME_CLIENT_SECRET: OTHER_SECRET,
    })
    assert.equal(wrong.code, 0, wrong.stderr)
    assert.match(wrong.stderr, /ACME_CLIENT_ID .*ACME_CLIENT_SECRET .* not imported: acme refuses the id or secret/)
    const found = { ACME_CLIENT_ID: id, ACME_CLIENT_SECRET: provider.clients.service.secret }
    assert.deepEqual(JSON.parse((await broker(['onboard', '--json'], undefined, found)).stdout).imported, ['acme'])
    const again = JSON.parse((await broker(['onboard', '--json'], undefined, found)).stdout)
    assert.deepEqual(
      again.results.map(({ env_var, status }: Record<string, string>) => [env_var, status]),
      [
        ['ACME_CLIENT_ID', 'unchanged'],
        ['ACME_CLIENT_SECRET', 'unchanged'],
      ],
    )
    assert.equal(await statusFor(HOSTS.acme), 200)
  })

  it('asks anew after the daemon was killed', async () => {
    await statusFor(HOSTS.acme)
    const before = provider.tokenRequests('client_credentials')
    await daemon.stop('SIGKILL')
    daemon = await world.restart(cleanup)
    assert.equal(await statusFor(HOSTS.acme), 200)
    assert.equal(provider.tokenRequests('client_credentials'), before + 1)
  })

  it('needs a login once its secret is another, and everything says so', async () => {
    provider.setService(NEW_SECRET)
    await daemon.stop('SIGKILL')
    daemon = await world.restart(cleanup)
    const run = await world.startAsking()
    const answer = await run.get(`https://${HOSTS.acme}/`)
    assert.equal(answer.status, 403)
    assert.match(JSON.stringify(answer.body), /TokenExpiredError.*broker login acme --connection default --force/)
    await run.end()
    assert.equal((await connection('acme')).status, 'needs_login')
    const doctor = await broker(['doctor', '--json'])
    assert.equal(doctor.code, 1)
    assert.match(
      JSON.parse(doctor.stdout).checks.attention.message,
      /gives its client no token any more \(invalid_client\)/,
    )
    assert.equal((await broker(['login', 'acme', '--force'], { ...service(), client_secret: NEW_SECRET })).code, 0)
    assert.equal(await statusFor(HOSTS.acme), 200)
  })

  it('ends its token at the provider when it is revoked', async () => {
    await statusFor(HOSTS.acme)
    const token = api.received.at(-1)?.headers['authorization']?.toString().replace('Bearer ', '') ?? ''
    assert.equal(await provider.isActive(token), true)
    const { code, stdout } = await broker(['provider', 'revoke', 'acme', '--yes', '--json'])
    assert.deepEqual([code, JSON.parse(stdout).remote], [0, 'revoked'])
    assert.equal(await provider.isActive(token), false)
  })

  it('leaves its secret, its key and its tokens nowhere', async () => {
    await broker(['connections', 'inspect', 'signed', '--json'])
    await broker(['log', '--json'])
    const tokens = api.received.map(({ headers }) => headers['authorization']?.toString().replace('Bearer ', '') ?? '')
    const key = provider.clients.signing.rsaPem.split('\n')[10] ?? ''
    const secrets = [provider.clients.service.secret, NEW_SECRET, OTHER_SECRET, key, ...new Set(tokens)]
    const left = [
      ...traces,
      ...filesBelow(world.home),
      ...filesBelow(world.temporary),
      { where: 'daemon', bytes: world.daemon.output() + daemon.output() },
    ]
    assert.ok(tokens.length > 3)
    assert.deepEqual(searchForSecrets(left, secrets), [])
  })
})
