import assert from 'node:assert/strict'
import { generateKeyPairSync, verify } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createCertificateAuthority } from '../src/proxy/index.ts'
import { type AccessKey, type TakenRequest, takeRequest } from './aws-service.ts'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { gitEnvironment, makeRepository, startGitServer } from './git-server.ts'
import type { NamedServer } from './named-server.ts'
import { type ScriptedServer, startScriptedServer } from './scripted-oauth-server.ts'
import { filesBelow, markedSecret, searchForSecrets } from './search-for-secret.ts'

const KEY: AccessKey = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: markedSecret(), sessionToken: markedSecret() }
const AWS_HOSTS = ['sts.eu-west-1.amazonaws.com', 'bucket.s3.eu-west-1.amazonaws.com']
const INSTALLATION_TOKEN = markedSecret('ghs_')
const CLOUD_TOKEN = markedSecret('ya29.')
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
/** From the middle of the key: searched for as any other secret. */
const OF_THE_KEY = PEM.split('\n')[10] ?? ''
const KEY_FILE = JSON.stringify(
  { type: 'service_account', client_email: 'agent@acme.iam.example', private_key: PEM, private_key_id: 'kid-1' },
  undefined,
  2,
)

function isSigned(jwt: string): boolean {
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  return verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
}

describe('keys that sign, behind broker run', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  const taken: TakenRequest[] = []
  let tokens: ScriptedServer
  let git: NamedServer
  let world: BrokerHome

  before(async () => {
    const folder = dirname(temporaryHome(cleanup))
    const authority = createCertificateAuthority(['*.amazonaws.com', 'storage.cloud.example'], new Date())
    const service = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
    service.on('request', async (request, response) => {
      const one = await takeRequest(request, KEY)
      taken.push(one)
      const isCloud = one.host === 'storage.cloud.example'
      const problem = isCloud ? one.headers.authorization !== `Bearer ${CLOUD_TOKEN}` && 'not let in' : one.problem
      response.writeHead(problem ? 403 : 200).end(JSON.stringify({ problem: problem || 'none' }))
    })
    service.listen(0, '127.0.0.1')
    await once(service, 'listening')
    cleanup.after(() => {
      service.close()
      service.closeAllConnections()
    })
    tokens = await startScriptedServer(({ path, form, headers }) => {
      const isGrant = path === '/token'
      const assertion = isGrant ? form.get('assertion') : headers.authorization?.replace('Bearer ', '')
      if (!isSigned(assertion ?? '')) return { status: 401, body: { error: 'invalid_grant' } }
      const expires_at = new Date(Date.now() + 3_600_000).toISOString()
      return isGrant
        ? { body: { access_token: CLOUD_TOKEN, token_type: 'Bearer', expires_in: 3600 } }
        : { status: 201, body: { token: INSTALLATION_TOKEN, expires_at } }
    })
    cleanup.after(() => tokens.close())
    mkdirSync(join(folder, 'repositories'))
    makeRepository(join(folder, 'repositories'), 'tools.git')
    const basic = Buffer.from(`x-access-token:${INSTALLATION_TOKEN}`).toString('base64')
    git = await startGitServer(join(folder, 'repositories'), { 'github.com': `Basic ${basic}` })
    cleanup.after(() => git.close())
    const roots = join(folder, 'authorities.pem')
    writeFileSync(roots, authority.caPem + git.caPem)
    const address = service.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const elsewhere = [...AWS_HOSTS, 'storage.cloud.example'].map((host) => `${host}:443:127.0.0.1:${port}`)
    world = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: [...elsewhere, git.connectTo].join(),
      BROKER_PROXY_CA_FILE: roots,
    })
  })

  const broker = async (args: readonly string[], input?: string) => {
    const done = await world.broker(args, input === undefined ? {} : { input })
    assert.equal(done.code, 0, `${done.stdout}${done.stderr}`)
    return done
  }

  async function register(definition: object): Promise<void> {
    const file = join(world.folder, 'definition.json')
    writeFileSync(file, JSON.stringify({ schema_version: 1, auth_type: 'api_key', flow: 'api_key', ...definition }))
    await broker(['provider', 'register', file, '--force'])
  }

  it('sign each request to AWS; the child has the id of the key, and placeholders for what is secret', async () => {
    const { accessKeyId, secretAccessKey, sessionToken } = KEY
    const fields = { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken }
    await broker(['login', 'aws'], JSON.stringify(fields))
    const run = await world.startAsking()
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = run.child.env
    assert.deepEqual(
      [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN],
      [accessKeyId, 'broker-proxy-managed', 'broker-proxy-managed'],
    )
    for (const host of AWS_HOSTS)
      assert.deepEqual((await run.get(`https://${host}/a%20b?x=%2F&a=1`)).body, { problem: 'none' })
    await run.end()
    assert.deepEqual(
      taken.map(({ headers }) => headers.authorization?.split('/').slice(2, 4)),
      [
        ['eu-west-1', 'sts'],
        ['eu-west-1', 's3'],
      ],
    )
  })

  it('are the key file of a service account, piped in, that gets a token', async () => {
    await register({
      name: 'cloud',
      display_name: 'Cloud',
      hosts: ['storage.cloud.example'],
      signing: { type: 'google_service_account', token_url: `${tokens.origin}/token`, scopes: ['storage'] },
    })
    await broker(['login', 'cloud'], KEY_FILE)
    const run = await world.startAsking()
    assert.deepEqual((await run.get('https://storage.cloud.example/')).body, { problem: 'none' })
    assert.deepEqual((await run.get('https://storage.cloud.example/')).body, { problem: 'none' })
    await run.end()
    assert.equal(tokens.requestsTo('/token').length, 1)
  })

  it('are the key of an app, whose installation git clones with', async () => {
    await register({
      name: 'github',
      display_name: 'GitHub',
      hosts: ['api.github.com', 'github.com'],
      api_key: { prefix: 'Bearer' },
      signing: {
        type: 'github_app',
        token_url: `${tokens.origin}/app/installations/{installation_id}/access_tokens`,
      },
      injections: [
        { type: 'basic', username: 'x-access-token', password: '{api_key}', hosts: ['github.com'] },
        { type: 'basic', username: 'x-access-token', password: '{access_token}', hosts: ['github.com'] },
      ],
    })
    const fields = { app_id: '12345', installation_id: '678', private_key: PEM }
    await broker(['login', 'github', '--signing-key'], JSON.stringify(fields))
    const cloned = await world.broker(
      ['run', '--', 'git', 'clone', 'https://github.com/tools.git', join(world.folder, 'clone')],
      { env: gitEnvironment(world.folder) },
    )
    assert.equal(cloned.code, 0, cloned.stderr)
    assert.equal(tokens.requestsTo('/app/installations/678/access_tokens').length, 1)
  })

  it('refuse what cannot be one, and say nothing of it', async () => {
    for (const [provider, input] of [
      ['aws', '{"access_key_id":"AKIA1","secret_access_key":"CNRY two words"}'],
      ['aws', 'CNRYnot json'],
      ['cloud', '{"type":"service_account","private_key":"CNRY"}'],
    ] as const) {
      const done = await world.broker(['login', provider, '--force'], { input })
      assert.equal(done.code, 2, provider)
      assert.doesNotMatch(`${done.stdout}${done.stderr}`, /CNRY/)
    }
  })

  it('and what they get are nowhere but in the vault, and in memory', async () => {
    const shown = await broker(['connections', 'inspect', 'github', '--json'])
    const log = await broker(['log', '--json'])
    const traces = [
      ...filesBelow(world.home),
      ...filesBelow(world.temporary),
      { where: 'connections inspect', bytes: shown.stdout },
      { where: 'log', bytes: log.stdout },
      { where: 'daemon', bytes: world.daemon.output() },
    ]
    const secrets = [KEY.secretAccessKey, KEY.sessionToken ?? '', OF_THE_KEY, INSTALLATION_TOKEN, CLOUD_TOKEN]
    assert.deepEqual(searchForSecrets(traces, secrets), [])
    assert.match(log.stdout, /provider\.refreshed/)
  })
})
