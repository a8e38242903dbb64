import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { type OpenIdProvider, startOpenIdProvider } from '../../../test/openid-provider.ts'
import { toPlainWire } from '../../injection/index.ts'
import { authority } from '../../network/index.ts'
import { secretInput } from '../../protocol/index.ts'
import { openAuthSessions } from '../auth-sessions/open-auth-sessions.ts'
import { attentionIn } from '../connections/index.ts'
import { type OpenedRooms, openRooms, temporaryFolder } from '../connections/rooms.fixture.ts'
import { type Flows, openFlows } from '../flows/index.ts'
import { parseCredential } from '../providers/index.ts'
import { type Credentials, openCredentials } from './open-credentials.ts'

const HOST = 'api.acme.example'
const ROTATED = 'ss-CNRY00rotated00rotated00rotated00'
const LIFETIME = 600
const AHEAD = (LIFETIME - 90) * 1_000

describe('tokens of a client that acts for itself', () => {
  let ahead = 0
  const now = () => Date.now() + ahead
  let provider: OpenIdProvider
  let rooms: OpenedRooms
  let flows: Flows
  let credentials: Credentials

  beforeEach(async (t) => {
    assert.ok('after' in t)
    ahead = 0
    provider = await startOpenIdProvider({ settings: { accessTokenLifetime: LIFETIME } })
    t.after(() => provider.close().catch(() => undefined))
    rooms = await openRooms({ folder: temporaryFolder(t), now })
    t.after(() => rooms.store.close())
    flows = openFlows({ hosted: false, version: '0', now })
    credentials = open()
    register({})
  })

  const open = () => openCredentials({ ...rooms, flows, onFailure: assert.ifError, now, random: () => 1 })

  function register(oauth: object, more: object = {}): void {
    const definition = rooms.providers.validate({
      schema_version: 1,
      name: 'acme',
      display_name: 'Acme',
      auth_type: 'oauth2',
      flow: 'api_key',
      hosts: [HOST],
      ...more,
      oauth: {
        grant: 'client_credentials',
        token_url: `${provider.issuer}/token`,
        revocation_url: `${provider.issuer}/token/revocation`,
        scopes: ['api:read'],
        ...oauth,
      },
    })
    void rooms.providers.register(definition, { force: true })
  }

  const service = () => ({ client_id: provider.clients.service.id, client_secret: provider.clients.service.secret })

  async function logIn(input: Readonly<Record<string, string>> = service(), more: object = {}) {
    const sessions = openAuthSessions({ ...rooms, flows, baseUrl: 'http://127.0.0.1:7998' })
    try {
      const session = await sessions.begin(rooms.actor, { provider: 'acme', force: true, ...more })
      return await sessions.resume(rooms.actor, session.id, secretInput(input))
    } finally {
      await sessions.close()
    }
  }

  const resolve = (more: { rejected_version?: number } = {}) =>
    credentials.resolve(rooms.actor, { host: HOST, path: '/', ...more }).then(toPlainWire)
  const token = async () => (await resolve()).headers['Authorization']?.replace('Bearer ', '') ?? ''
  const asked = () => provider.tokenRequests('client_credentials')
  const connection = async () => (await rooms.connections.list(rooms.actor))[0]
  const attention = async () => attentionIn(await rooms.connections.list(rooms.actor))

  async function events(): Promise<readonly string[]> {
    const { events } = await rooms.audit.page({ kind: 'all' }, {})
    return events.map(({ event, status, reason }) => [event, status, reason].filter(Boolean).join(' ')).reverse()
  }

  it('is logged in, and its token is a bearer token of its requests', async () => {
    const { status } = await logIn()
    assert.equal(status, 'completed')
    const { auth_type, flow, scopes, ...row } = (await connection()) ?? assert.fail()
    assert.deepEqual([auth_type, flow, scopes, row.status], ['oauth2', 'api_key', ['api:read'], 'connected'])
    const { headers, expires_at, version } = await resolve()
    assert.equal(await provider.isActive(headers['Authorization']?.replace('Bearer ', '') ?? ''), true)
    assert.ok(Date.parse(expires_at ?? '') > now() && version)
    const { routes } = await credentials.routes(rooms.actor, 'connected')
    assert.deepEqual(routes, [{ provider: 'acme', connection: 'default', host: HOST, port: 443 }])
    const why = await credentials.explain(rooms.actor, { ...authority(HOST, 443), path: '/', isPlain: false })
    assert.deepEqual([why.verdict, why.places], ['inject', ['header Authorization']])
  })

  it('is refused at login with a wrong secret: nothing is stored', async () => {
    await assert.rejects(logIn({ ...service(), client_secret: 'CNRYwrong-secret' }), (error: Error) => {
      assert.match(error.message, /^Acme refuses the id or secret \(invalid_client\)$/)
      return error.name === 'AuthenticationFailedError'
    })
    assert.equal(await connection(), undefined)
    assert.ok((await events()).includes('provider.login_failed failure invalid_client'))
  })

  it('asks at its login for the scopes that were wanted, and always for those after', async () => {
    await logIn(service(), { scopes: ['api:write'] })
    assert.deepEqual((await connection())?.scopes, ['api:write'])
    await token()
    assert.equal(asked(), 2)
  })

  it('is asked for once, however many want it', async () => {
    await logIn()
    const before = asked()
    const all = await Promise.all(Array.from({ length: 1_000 }, token))
    assert.equal(new Set(all).size, 1)
    assert.equal(asked() - before, 1)
  })

  it('is got anew ahead of its end, while the one at hand is used on', async () => {
    await logIn()
    const first = await token()
    const held = provider.holdTokenAnswers()
    ahead = AHEAD
    assert.equal(await token(), first)
    await held.arrived()
    assert.equal(await token(), first)
    held.release()
    while ((await token()) === first) await new Promise(setImmediate)
    assert.equal(asked(), 3)
    assert.equal((await events()).filter((event) => event === 'provider.refreshed success').length, 2)
  })

  it('is got anew where its host refuses it', async () => {
    await logIn()
    const { version = 0, headers } = await resolve()
    const second = await resolve({ rejected_version: version })
    assert.notEqual(second.headers['Authorization'], headers['Authorization'])
  })

  it('is asked for again by a daemon that was started again', async () => {
    await logIn()
    const first = await token()
    credentials = open()
    assert.notEqual(await token(), first)
  })

  it('needs a login once the provider takes its secret no more: said, and not tried again', async () => {
    await logIn()
    await token()
    provider.setService(ROTATED)
    ahead = LIFETIME * 1_000
    await assert.rejects(token(), { name: 'TokenExpiredError' })
    const before = asked()
    await assert.rejects(token(), { name: 'TokenExpiredError' })
    assert.equal(asked(), before)
    const [told] = await attention()
    assert.equal(told?.kind, 'needs_login')
    assert.equal(told?.reason, 'The provider gives its client no token any more (invalid_client).')
    assert.equal(told?.fix, 'broker login acme --connection default --force')
    assert.ok(Math.abs(Date.parse(told?.since ?? '') - now()) < 60_000)
    const why = await credentials.explain(rooms.actor, { ...authority(HOST, 443), path: '/', isPlain: false })
    assert.equal(why.verdict, 'refuse')
    assert.equal((await events()).at(-1), 'provider.refresh_failed failure invalid_client')
    await logIn({ ...service(), client_secret: ROTATED })
    await token()
    assert.deepEqual(await attention(), [])
  })

  it('is failing once no token is left, and no trouble before; a token ends that', async () => {
    await logIn()
    const first = await token()
    const { issuer: origin } = provider
    await provider.close()
    ahead = AHEAD
    assert.equal(await token(), first)
    while ((await events()).at(-1) !== 'provider.refresh_failed failure refused') await new Promise(setImmediate)
    assert.deepEqual(await attention(), [])
    ahead = LIFETIME * 1_000
    await assert.rejects(token(), { name: 'RefreshFailedError' })
    const [told] = await attention()
    assert.deepEqual([told?.kind, (await connection())?.status], ['refresh_failing', 'connected'])
    assert.match(told?.reason ?? '', /^Its token could not be refreshed, once: refused\.$/)
    provider = await startOpenIdProvider({ port: Number(new URL(origin).port) })
    ahead += 60 * 60_000
    await token()
    assert.deepEqual(await attention(), [])
  })

  it('is ended at the provider with its connection, where it can be told', async () => {
    await logIn()
    const first = await token()
    const revoked = await credentials.revoke(rooms.actor, 'acme')
    assert.deepEqual([revoked.status, revoked.remote, revoked.removed], ['ok', 'revoked', 1])
    assert.equal(await provider.isActive(first), false)
    await assert.rejects(token(), { name: 'ConnectionNotFoundError' })
  })

  it('leaves nothing to end where there was none', async () => {
    await logIn()
    const revoked = await credentials.revoke(rooms.actor, 'acme')
    assert.deepEqual([revoked.remote, revoked.removed], ['unsupported', 1])
  })

  it('goes on after a definition that moved its endpoint only once that is approved', async () => {
    await logIn()
    register({ token_url: 'https://evil.test/token' })
    await assert.rejects(token(), { name: 'OperationNotAllowedError' })
    assert.equal((await attention())[0]?.kind, 'needs_approval')
    const approval = await rooms.connections.approval(rooms.actor, { provider: 'acme', connection: 'default' })
    assert.deepEqual(approval.added.endpoints, ['token_url https://evil.test/token'])
    assert.deepEqual(approval.new_domains, ['evil.test'])
  })

  it('is shown with its id, and with nothing that is secret', async () => {
    await logIn()
    const { credential } = await rooms.connections.inspect(rooms.actor, 'acme', 'default')
    assert.deepEqual(credential, { client_id: provider.clients.service.id, client_secret: '[redacted]' })
  })

  it('is of an endpoint that was found by its issuer, and the same client all the same', async () => {
    register({ token_url: undefined, revocation_url: undefined, issuer: provider.issuer })
    await logIn()
    assert.equal(await provider.isActive(await token()), true)
    const { credential } = await rooms.connections.inspect(rooms.actor, 'acme', 'default')
    assert.equal(credential['token_url'], `${provider.issuer}/token`)
    const { definition } = rooms.providers.get('acme')
    const id = { provider: 'acme', connection: 'default' }
    assert.equal(
      await rooms.connections.holds(rooms.actor, id, parseCredential(definition, secretInput(service()))),
      true,
    )
    const revoked = await credentials.revoke(rooms.actor, 'acme')
    assert.equal(revoked.remote, 'revoked')
  })

  it('signs for itself anew each time', async () => {
    register({ token_auth_method: 'private_key_jwt' })
    const { id, ecPem } = provider.clients.signing
    await logIn({ client_id: id, private_key: ecPem })
    assert.equal(await provider.isActive(await token()), true)
    credentials = open()
    assert.equal(await provider.isActive(await token()), true)
    const { credential } = await rooms.connections.inspect(rooms.actor, 'acme', 'default')
    assert.deepEqual(credential, { client_id: id, private_key: '[redacted]' })
  })

  it('is beside a key of the same provider, each with the login that was asked for', async () => {
    register({}, { auth_type: 'api_key', api_key: { prefix: 'Key' } })
    await logIn({ api_key: 'CNRYkey' })
    assert.equal((await resolve()).headers['Authorization'], 'Key CNRYkey')
    await logIn(service(), { grant: 'client_credentials' })
    assert.equal(await provider.isActive(await token()), true)
    provider.setService(ROTATED)
    credentials = open()
    await assert.rejects(token(), { name: 'TokenExpiredError' })
    assert.match((await attention())[0]?.fix ?? '', /--client-credentials --force$/)
  })

  it('needs a login where the provider took keys before: no approval makes one of a key', async () => {
    register({}, { auth_type: 'api_key', api_key: { prefix: 'Key' } })
    await logIn({ api_key: 'CNRYkey' })
    register({})
    assert.deepEqual([(await attention())[0]?.kind, (await connection())?.status], ['needs_login', 'needs_login'])
    await assert.rejects(resolve(), { name: 'TokenExpiredError' })
    const approved = rooms.connections.approve(rooms.actor, { provider: 'acme', connection: 'default' })
    await assert.rejects(approved, { name: 'TokenExpiredError' })
    await logIn()
    assert.equal(await provider.isActive(await token()), true)
  })
})
