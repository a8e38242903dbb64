import assert from 'node:assert/strict'
import { generateKeyPairSync, verify } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  type ScriptedServer,
  startScriptedServer,
} from '../../../test/scripted-oauth-server.ts'
import { toPlainWire } from '../../injection/index.ts'
import { secretInput } from '../../protocol/index.ts'
import { type OpenedRooms, openRooms, temporaryFolder } from '../connections/rooms.fixture.ts'
import { openFlows } from '../flows/index.ts'
import { parseCredential } from '../providers/index.ts'
import { type Credentials, openCredentials } from './open-credentials.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const KEY_FILE = JSON.stringify({
  type: 'service_account',
  client_email: 'agent@acme.iam.example',
  private_key_id: 'kid-1',
  private_key: PEM,
})
const HOUR = 3_600_000

/** The claims of an assertion with a good signature. */
function claimsOf(assertion: string): Readonly<Record<string, unknown>> {
  const [header = '', claims = '', signature = ''] = assertion.split('.')
  const isGood = verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
  return isGood ? JSON.parse(Buffer.from(claims, 'base64url').toString()) : {}
}

describe('a token that is got with a key', () => {
  let now = Date.now()
  const clock = () => now
  let server: ScriptedServer
  let rooms: OpenedRooms
  let credentials: Credentials
  let answer: ((request: ScriptedRequest) => ScriptedAnswer) | undefined

  beforeEach(async (t) => {
    assert.ok('after' in t)
    answer = undefined
    let count = 0
    server = await startScriptedServer((request) => {
      if (answer) return answer(request)
      count += 1
      if (request.path === '/token') {
        const { iss } = claimsOf(request.form.get('assertion') ?? '')
        if (iss !== 'agent@acme.iam.example') return { status: 400, body: { error: 'invalid_grant' } }
        return { body: { access_token: `CNRYgoogle-${count}`, expires_in: 3600, token_type: 'Bearer' } }
      }
      const { iss } = claimsOf((request.headers.authorization ?? '').replace('Bearer ', ''))
      if (iss !== '12345' || request.path !== '/app/installations/678/access_tokens') return { status: 401, body: {} }
      const expiresAt = new Date(now + HOUR).toISOString()
      return { status: 201, body: { token: `CNRYghs-${count}`, expires_at: expiresAt, permissions: {} } }
    })
    t.after(() => server.close())
    rooms = await openRooms({ folder: temporaryFolder(t), now: clock })
    t.after(() => rooms.store.close())
    const flows = openFlows({ hosted: false, version: '0', now: clock })
    credentials = openCredentials({ ...rooms, flows, onFailure: assert.ifError, now: clock, random: () => 1 })
    register('acme-cloud', {
      signing: { type: 'google_service_account', token_url: `${server.origin}/token`, scopes: ['read', 'write'] },
    })
    register('acme-git', {
      hosts: ['api.acme-git.example', 'acme-git.example'],
      api_key: { prefix: 'Bearer' },
      signing: {
        type: 'github_app',
        token_url: `${server.origin}/app/installations/{installation_id}/access_tokens`,
      },
      injections: [
        { type: 'basic', username: 'x-access-token', password: '{access_token}', hosts: ['acme-git.example'] },
      ],
    })
  })

  function register(name: string, more: object): void {
    const definition = rooms.providers.validate({
      schema_version: 1,
      name,
      display_name: name,
      auth_type: 'api_key',
      flow: 'api_key',
      hosts: [`api.${name}.example`],
      ...more,
    })
    void rooms.providers.register(definition, { force: true })
  }

  async function logIn(
    name: string,
    input: Readonly<Record<string, string>>,
    section: 'api_key' | 'signing' = 'signing',
  ) {
    const provider = rooms.providers.get(name)
    await rooms.connections.put(rooms.actor, {
      provider,
      connection: 'default',
      flow: 'api_key',
      credential: { kind: section, fields: parseCredential(provider.definition, secretInput(input), section) },
      scopes: [],
      existing: 'replace',
      source: 'login',
    })
  }

  const logInToCloud = () => logIn('acme-cloud', { service_account: KEY_FILE })
  const logInToGit = () => logIn('acme-git', { app_id: '12345', installation_id: '678', private_key: PEM })

  function resolve(host: string, more: { rejected_version?: number } = {}): Promise<ReturnType<typeof toPlainWire>> {
    return credentials
      .resolve(rooms.actor, {
        host,
        path: '/',
        ...more,
      })
      .then(toPlainWire)
  }

  const tokenFor = async (host: string) => (await resolve(host)).headers['Authorization']

  async function events() {
    const { events } = await rooms.audit.page({ kind: 'all' }, {})
    return events.map(({ event, status, reason }) => [event, status, reason].filter(Boolean).join(' '))
  }

  it('of a service account is asked for with an assertion, once for all who want it', async () => {
    await logInToCloud()
    const asked = Array.from({ length: 20 }, () => tokenFor('api.acme-cloud.example'))
    assert.deepEqual([...new Set(await Promise.all(asked))], ['Bearer CNRYgoogle-1'])
    const [request] = server.requests
    assert.equal(server.requests.length, 1)
    assert.equal(request?.form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { aud, scope } = claimsOf(request?.form.get('assertion') ?? '')
    assert.deepEqual([aud, scope], [`${server.origin}/token`, 'read write'])
  })

  it('of an app goes to the API as a bearer token and to git as a password', async () => {
    await logInToGit()
    assert.equal(await tokenFor('api.acme-git.example'), 'Bearer CNRYghs-1')
    const basic = Buffer.from('x-access-token:CNRYghs-1').toString('base64')
    assert.equal(await tokenFor('acme-git.example'), `Basic ${basic}`)
  })

  it('is made anew ahead of its end, and meanwhile used on', async () => {
    await logInToCloud()
    await tokenFor('api.acme-cloud.example')
    now += HOUR - 4 * 60_000
    assert.equal(await tokenFor('api.acme-cloud.example'), 'Bearer CNRYgoogle-1')
    while ((await tokenFor('api.acme-cloud.example')) !== 'Bearer CNRYgoogle-2') await new Promise(setImmediate)
    now += 2 * HOUR
    assert.equal(await tokenFor('api.acme-cloud.example'), 'Bearer CNRYgoogle-3')
  })

  it('is made anew where its host refuses it, and not for each request', async () => {
    await logInToCloud()
    const first = await resolve('api.acme-cloud.example')
    const second = await resolve('api.acme-cloud.example', { rejected_version: first.version ?? 0 })
    assert.equal(second.headers['Authorization'], 'Bearer CNRYgoogle-2')
    const third = await resolve('api.acme-cloud.example', { rejected_version: second.version ?? 0 })
    assert.equal(third.version, second.version)
    now += 60_000
    const fourth = await resolve('api.acme-cloud.example', { rejected_version: second.version ?? 0 })
    assert.equal(fourth.headers['Authorization'], 'Bearer CNRYgoogle-3')
  })

  it('is not asked for again and again where the provider gives none, and nothing sent is repeated', async () => {
    await logInToGit()
    answer = ({ headers }) => ({ status: 401, body: { message: `Bad ${headers.authorization}`, status: '401' } })
    const refused = () =>
      assert.rejects(resolve('api.acme-git.example'), (error: Error) => {
        assert.equal(error.name, 'RefreshFailedError')
        assert.doesNotMatch(error.message, /eyJ|CNRY/)
        return true
      })
    await refused()
    await refused()
    assert.equal(server.requests.length, 1)
    answer = undefined
    now += 60_000
    assert.equal(await tokenFor('api.acme-git.example'), 'Bearer CNRYghs-1')
    assert.deepEqual(await events(), [
      'provider.refreshed success',
      'provider.refresh_failed failure 401',
      'provider.login success',
    ])
  })

  it('is gone with its connection, and of another key after another login', async () => {
    await logInToCloud()
    await tokenFor('api.acme-cloud.example')
    await logInToCloud()
    assert.equal(await tokenFor('api.acme-cloud.example'), 'Bearer CNRYgoogle-2')
    const revoked = await credentials.revoke(rooms.actor, 'acme-cloud')
    assert.deepEqual([revoked.removed, revoked.remote], [1, 'unsupported'])
    await assert.rejects(resolve('api.acme-cloud.example'), { name: 'ConnectionNotFoundError' })
  })

  it('needs approval where tokens would go elsewhere, which an API key of the same provider does not', async () => {
    await logInToGit()
    const change = () =>
      register('acme-git', {
        hosts: ['api.acme-git.example', 'acme-git.example'],
        api_key: { prefix: 'Bearer' },
        signing: { type: 'github_app', token_url: 'https://evil.test/{installation_id}/t' },
        injections: [
          { type: 'basic', username: 'x-access-token', password: '{access_token}', hosts: ['acme-git.example'] },
        ],
      })
    change()
    await assert.rejects(resolve('api.acme-git.example'), { name: 'OperationNotAllowedError' })
    assert.equal(server.requests.length, 0)
    await logIn('acme-git', { api_key: 'CNRYkey' }, 'api_key')
    assert.equal(await tokenFor('api.acme-git.example'), 'Bearer CNRYkey')
  })

  it('leaves the key where it is: what is listed and shown of the connection', async () => {
    await logInToGit()
    const [listed] = await rooms.connections.list(rooms.actor)
    assert.deepEqual([listed?.signing, listed?.status, listed?.auth_type], ['github_app', 'connected', 'api_key'])
    assert.deepEqual((await rooms.connections.inspect(rooms.actor, 'acme-git', 'default')).credential, {
      app_id: '12345',
      installation_id: '678',
      private_key: '[redacted]',
    })
    const { routes } = await credentials.routes(rooms.actor, 'connected')
    assert.ok(
      routes.every(({ signs }) => signs === undefined),
      'only requests to AWS are signed themselves',
    )
  })

  for (const [what, input, wrong] of [
    ['no key at all', { app_id: '1', installation_id: '2' }, 'private_key is required'],
    [
      'a key that is none',
      { app_id: '1', installation_id: '2', private_key: 'CNRYno' },
      'private_key must be an RSA key',
    ],
    [
      'a number with a slash',
      { app_id: '1', installation_id: '2/CNRY', private_key: PEM },
      'installation_id does not look',
    ],
  ] as const)
    it(`is not to be had with ${what}`, () => {
      const { definition } = rooms.providers.get('acme-git')
      assert.throws(
        () => parseCredential(definition, secretInput(input), 'signing'),
        (error: Error & { options: { hint: string } }) => {
          assert.match(error.options.hint, new RegExp(`^${wrong}`))
          assert.doesNotMatch(`${error.message}${error.options.hint}`, /CNRY/)
          return true
        },
      )
    })
})
