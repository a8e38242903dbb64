import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import type { RefreshLease } from './open-refreshes.ts'
import { type OpenedRooms, openRooms, temporaryFolder, tokenProvider } from './rooms.fixture.ts'

const ID = { provider: 'acme', connection: 'default' }
const HOUR = 3_600_000
const START = Date.parse('2026-11-21T12:00:00.000Z')

describe('the lease on a refresh token', () => {
  let rooms: OpenedRooms
  let folder: string
  let now: number
  const clock = () => now

  beforeEach(async (t) => {
    assert.ok('after' in t)
    now = START
    folder = temporaryFolder(t)
    rooms = await openRooms({ folder, now: clock })
    t.after(() => rooms.store.close())
    await rooms.providers.register(tokenProvider('http://127.0.0.1:9'), { force: false })
    await logIn('CNRYfirst')
    now += HOUR
  })

  async function logIn(token: string): Promise<void> {
    await rooms.connections.put(rooms.actor, {
      provider: rooms.providers.get('acme'),
      connection: 'default',
      flow: 'pkce',
      credential: tokens(token),
      scopes: ['read'],
      expiresAt: now + HOUR,
      existing: 'replace',
      source: 'login',
    })
  }

  function tokens(token: string) {
    const fields = { access_token: new Secret(`${token}-access`), refresh_token: new Secret(`${token}-refresh`) }
    return { kind: 'oauth2', fields } as const
  }

  async function used() {
    return rooms.connections.use(rooms.actor, rooms.providers.get('acme'), undefined)
  }

  async function leased(cause: 'due' | 'rejected' | 'revoke' = 'due'): Promise<RefreshLease> {
    const beginning = await rooms.refreshes.begin(rooms.actor, ID, (await used()).version, cause)
    assert.equal(beginning.kind, 'leased')
    return beginning.kind === 'leased' ? beginning.lease : assert.fail()
  }

  async function again(cause: 'due' | 'rejected' | 'revoke' = 'due') {
    const { version } = await used()
    return rooms.refreshes.begin(rooms.actor, ID, version, cause)
  }

  const store = (lease: RefreshLease, name: string) =>
    rooms.refreshes.succeed(rooms.actor, lease, { credential: tokens(name), scopes: [] })

  async function events(): Promise<readonly string[]> {
    const { events: all } = await rooms.audit.page({ kind: 'all' }, {})
    return all.map(({ event, reason }) => (reason ? `${event} ${reason}` : event)).reverse()
  }

  it('is one holder’s at a time', async () => {
    await leased()
    assert.deepEqual(await again(), { kind: 'busy' })
  })

  it('goes to the next when it has run out, with a higher epoch and the word that somebody was interrupted', async () => {
    const first = await leased()
    now += 4_001
    const second = await leased()
    assert.ok(second.epoch > first.epoch)
    assert.deepEqual([first.interrupted, second.interrupted], [false, true])
  })

  it('goes to a daemon that starts alone at once: whoever held it is gone', async () => {
    await leased()
    await rooms.store.close()
    rooms = await openRooms({ folder, now: clock })
    assert.equal((await leased()).interrupted, true)
  })

  it('stores what was granted, as a new version, before anybody can use it', async () => {
    const lease = await leased()
    now += 1_000
    const refreshed = { credential: tokens('CNRYsecond'), expiresAt: now + HOUR, scopes: ['read', 'write'] }
    assert.equal(await rooms.refreshes.succeed(rooms.actor, lease, refreshed), 'stored')
    const after = await used()
    assert.ok(after.version > lease.version)
    assert.equal(after.credential.fields['access_token']?.reveal(), 'CNRYsecond-access')
    const [view] = await rooms.connections.list(rooms.actor)
    assert.deepEqual([view?.scopes, view?.expires_at], [['read', 'write'], new Date(now + HOUR).toISOString()])
    assert.deepEqual(await events(), ['provider.login', 'provider.refreshed'])
  })

  it('tells one who saw the credential before that there is another', async () => {
    const lease = await leased()
    await rooms.refreshes.succeed(rooms.actor, lease, { credential: tokens('CNRYsecond'), scopes: [] })
    assert.deepEqual(await rooms.refreshes.begin(rooms.actor, ID, lease.version, 'due'), { kind: 'changed' })
  })

  it('is held for as long as its holder renews it, and lapses four seconds after', async () => {
    const lease = await leased()
    for (let second = 0; second < 25; second++) {
      now += 1_000
      await rooms.refreshes.renew(rooms.actor, lease)
    }
    now += 3_999
    assert.deepEqual(await again(), { kind: 'busy' })
    now += 1
    assert.equal((await again()).kind, 'leased')
  })

  it('is not renewed once it has ended, or is another’s', async () => {
    const first = await leased()
    now += 4_001
    const second = await leased()
    now += 3_000
    await rooms.refreshes.renew(rooms.actor, first)
    now += 1_001
    const third = await leased()
    await rooms.refreshes.succeed(rooms.actor, third, { credential: tokens('CNRYthird'), scopes: [] })
    await rooms.refreshes.renew(rooms.actor, third)
    assert.ok(third.epoch > second.epoch)
    assert.equal((await again()).kind, 'leased')
  })

  it('keeps what was granted even where it ran out meanwhile: it is never thrown away for an older one', async () => {
    const late = await leased()
    now += 4_001
    assert.equal(await store(late, 'CNRYlate'), 'stored')
    assert.equal((await used()).credential.fields['access_token']?.reveal(), 'CNRYlate-access')
  })

  it('lets nobody who was paused write over the one who is at it now', async () => {
    const late = await leased()
    now += 4_001
    const next = await leased()
    assert.equal(await store(late, 'CNRYlate'), 'contested')
    assert.equal(await store(next, 'CNRYnext'), 'stored')
    assert.equal(await store(late, 'CNRYlate'), 'outdated')
    assert.equal((await used()).credential.fields['access_token']?.reveal(), 'CNRYnext-access')
  })

  it('goes by what the paused one was granted, where the one after it was refused for that very reason', async () => {
    const late = await leased()
    now += 4_001
    const next = await leased()
    assert.equal(await store(late, 'CNRYlate'), 'contested')
    assert.equal(await rooms.refreshes.reject(rooms.actor, next, 'invalid_grant'), true)
    assert.equal(await store(late, 'CNRYlate'), 'stored')
    assert.equal((await used()).credential.fields['access_token']?.reveal(), 'CNRYlate-access')
  })

  it('is not had for a token that is not due: it is another daemon’s, stored a moment ago', async () => {
    const { version } = await used()
    now = START
    assert.deepEqual(await rooms.refreshes.begin(rooms.actor, ID, version, 'due'), { kind: 'changed' })
    assert.equal((await rooms.refreshes.begin(rooms.actor, ID, version, 'rejected')).kind, 'leased')
  })

  it('gives way to a login that came in between', async () => {
    const lease = await leased()
    await logIn('CNRYlogin')
    assert.equal(
      await rooms.refreshes.succeed(rooms.actor, lease, { credential: tokens('CNRYold'), scopes: [] }),
      'outdated',
    )
    assert.equal((await used()).credential.fields['access_token']?.reveal(), 'CNRYlogin-access')
  })

  it('brings nothing back that was logged out in between', async () => {
    const lease = await leased()
    await rooms.connections.logout(rooms.actor, 'acme', 'default')
    assert.equal(
      await rooms.refreshes.succeed(rooms.actor, lease, { credential: tokens('CNRYold'), scopes: [] }),
      'outdated',
    )
    assert.deepEqual(await rooms.connections.list(rooms.actor), [])
  })

  it('lets one whose lease is another’s by now condemn nothing', async () => {
    const late = await leased()
    now += 4_001
    await leased()
    assert.equal(await rooms.refreshes.reject(rooms.actor, late, 'invalid_grant'), false)
    assert.equal((await used()).version, late.version)
  })

  it('is not ended by one who failed with the credential before a login', async () => {
    const before = await leased()
    await logIn('CNRYsecond')
    now += HOUR
    await leased()
    await rooms.refreshes.fail(rooms.actor, before, { reason: 'time_limit', answered: false })
    assert.deepEqual(await again(), { kind: 'busy' })
    assert.deepEqual(await events(), ['provider.login', 'provider.login'])
  })

  it('says needs_login after the provider’s last word, and is not given out again', async () => {
    const lease = await leased()
    assert.equal(await rooms.refreshes.reject(rooms.actor, lease, 'invalid_grant'), true)
    const [view] = await rooms.connections.list(rooms.actor)
    assert.equal(view?.status, 'needs_login')
    await assert.rejects(used(), { name: 'TokenExpiredError' })
    const beginning = await rooms.refreshes.begin(rooms.actor, ID, lease.version, 'due')
    assert.deepEqual(beginning, { kind: 'needs_login' })
    assert.deepEqual(await events(), ['provider.login', 'provider.refresh_failed invalid_grant'])
  })

  it('calls it an interrupted rotation where an answer may have been lost', async () => {
    await leased()
    now += 4_001
    await rooms.refreshes.reject(rooms.actor, await leased(), 'invalid_grant')
    assert.deepEqual(await events(), ['provider.login', 'provider.refresh_failed rotation_interrupted'])
  })

  it('is usable again after a login', async () => {
    await rooms.refreshes.reject(rooms.actor, await leased(), 'invalid_grant')
    await logIn('CNRYlogin')
    now += HOUR
    const lease = await leased()
    assert.equal(lease.interrupted, false)
  })

  it('rests after a failure, longer after each, and as long as the provider asks', async () => {
    const failure = { reason: 'http_503', answered: true }
    assert.equal((await rooms.refreshes.fail(rooms.actor, await leased(), failure)).wait, 1_000)
    assert.deepEqual(await again(), { kind: 'resting', wait: 1_000 })
    now += 1_000
    assert.equal((await rooms.refreshes.fail(rooms.actor, await leased(), failure)).wait, 2_000)
    now += 2_000
    assert.equal((await rooms.refreshes.fail(rooms.actor, await leased(), { ...failure, retryAfter: 60 })).wait, 60_000)
    now += 60_000
    const lease = await leased()
    assert.equal(lease.interrupted, false)
    await rooms.refreshes.succeed(rooms.actor, lease, { credential: tokens('CNRYsecond'), scopes: [] })
    assert.equal((await rooms.refreshes.fail(rooms.actor, await leased(), failure)).wait, 1_000)
  })

  it('remembers that an answer may have been lost for as long as none has come', async () => {
    await rooms.refreshes.fail(rooms.actor, await leased(), { reason: 'timeout', answered: false })
    now += 1_000
    const second = await leased()
    assert.equal(second.interrupted, true)
    await rooms.refreshes.fail(rooms.actor, second, { reason: 'http_503', answered: true })
    now += 2_000
    assert.equal((await leased()).interrupted, true)
  })

  it('is not forced twice at once by a host that refuses every token', async () => {
    const first = await leased('rejected')
    await rooms.refreshes.succeed(rooms.actor, first, { credential: tokens('CNRYsecond'), scopes: [] })
    assert.deepEqual(await again('rejected'), { kind: 'resting', wait: 5_000 })
    now += 5_000
    const second = await leased('rejected')
    await rooms.refreshes.succeed(rooms.actor, second, { credential: tokens('CNRYthird'), scopes: [] })
    assert.deepEqual(await again('rejected'), { kind: 'resting', wait: 10_000 })
    assert.equal((await leased('due')).interrupted, false)
  })

  it('is had again at once after a clock that was hours ahead is right: no pause is that long', async () => {
    const ahead = 2 * HOUR
    now += ahead
    await rooms.refreshes.fail(rooms.actor, await leased(), { reason: 'http_503', answered: true })
    now += 1_000
    const lease = await leased('rejected')
    await rooms.refreshes.fail(rooms.actor, lease, { reason: 'http_503', answered: true, retryAfter: 60 })
    now -= ahead
    assert.equal((await again()).kind, 'leased')
    now += 4_001
    assert.equal((await again('rejected')).kind, 'leased')
    assert.equal((await rooms.connections.dueForRefresh(1)).length, 0)
    now += 4_001
    assert.equal((await rooms.connections.dueForRefresh(1)).length, 1)
  })

  for (const [what, ahead] of [
    ['a minute', 60_000],
    ['an hour', HOUR],
    ['ten years', 87_600 * HOUR],
  ] as const) {
    it(`is had again at once where a clock was ${what} ahead: after a failure, and with a lease that nobody ended`, async () => {
      now += ahead
      await rooms.refreshes.fail(rooms.actor, await leased(), { reason: 'http_503', answered: true })
      now -= ahead
      await leased()
      now += ahead + 4_001
      await leased()
      now -= ahead
      assert.equal((await again()).kind, 'leased')
    })

    it(`is had at once for a token that was stored by a clock ${what} ahead: nobody knows when it ends`, async () => {
      now += ahead
      const lease = await leased()
      const refreshed = { credential: tokens('CNRYahead'), expiresAt: now + 2 * HOUR, scopes: [] }
      await rooms.refreshes.succeed(rooms.actor, lease, refreshed)
      now -= ahead
      assert.equal((await again()).kind, ahead > 5 * 60_000 ? 'leased' : 'changed')
    })
  }

  it('needs a login where the provider refuses in words of its own, and is asked again, ever more rarely', async () => {
    const refusal = { reason: 'access_denied', answered: true, refused: true } as const
    await rooms.refreshes.fail(rooms.actor, await leased(), refusal)
    const since = new Date(now).toISOString()
    const [view] = await rooms.connections.list(rooms.actor)
    assert.equal(view?.status, 'needs_login')
    assert.deepEqual([view?.attention?.kind, view?.attention?.since], ['needs_login', since])
    assert.match(view?.attention?.reason ?? '', /refuses to refresh it \(access_denied\)/)
    await assert.rejects(used(), { name: 'TokenExpiredError' })
  })

  it('serves to its end the token of a connection that cannot be refreshed in words of the provider’s own', async () => {
    now = START + HOUR - 1_000
    const refusal = { reason: 'answer_401', answered: true, refused: true } as const
    await rooms.refreshes.fail(rooms.actor, await leased(), refusal)
    assert.equal((await rooms.connections.list(rooms.actor))[0]?.status, 'connected')
    assert.equal((await used()).credential.fields['access_token']?.reveal(), 'CNRYfirst-access')
  })

  it('heals by itself where the provider thinks again', async () => {
    const { version } = await used()
    const begin = () => rooms.refreshes.begin(rooms.actor, ID, version, 'due')
    const { wait } = await rooms.refreshes.fail(rooms.actor, await leased(), {
      reason: 'answer_401',
      answered: true,
      refused: true,
    })
    assert.deepEqual(await begin(), { kind: 'needs_login' })
    now += wait
    assert.deepEqual((await rooms.connections.dueForRefresh(1)).length, 1)
    const beginning = await begin()
    assert.equal(beginning.kind, 'leased')
    if (beginning.kind === 'leased') await store(beginning.lease, 'CNRYsecond')
    assert.equal((await rooms.connections.list(rooms.actor))[0]?.status, 'connected')
    assert.equal((await used()).credential.fields['access_token']?.reveal(), 'CNRYsecond-access')
  })

  it('is had for a revocation also while it rests, and keeps refreshes from beginning meanwhile', async () => {
    await rooms.refreshes.fail(rooms.actor, await leased(), { reason: 'http_503', answered: true })
    await leased('revoke')
    now += 3_000
    assert.deepEqual(await again(), { kind: 'busy' })
  })

  it('is no longer than its connection', async () => {
    await rooms.connections.logout(rooms.actor, 'acme', 'default')
    await assert.rejects(rooms.refreshes.begin(rooms.actor, ID, 1, 'due'), { name: 'ConnectionNotFoundError' })
    const rows = await rooms.store.db.selectFrom('refreshes').selectAll().execute()
    assert.deepEqual(rows, [])
  })

  it('is asked for ahead of time for what is in use, and once a day for what is not', async () => {
    now = START
    const due = async () => (await rooms.connections.dueForRefresh(10)).map(({ connection }) => connection)
    assert.deepEqual(await due(), [])
    now += HOUR
    assert.deepEqual(await due(), [])
    await used()
    assert.deepEqual(await due(), ['default'])
    const lease = await leased()
    now += 1
    const refreshed = { credential: tokens('CNRYsecond'), expiresAt: now + HOUR, scopes: [] }
    await rooms.refreshes.succeed(rooms.actor, lease, refreshed)
    now += HOUR
    assert.deepEqual(await due(), [])
    now += 24 * HOUR
    assert.deepEqual(await due(), ['default'])
  })
  it('is not asked for ahead of time where it would not be had: others come first', async () => {
    const due = async () => (await rooms.connections.dueForRefresh(1)).map(({ connection }) => connection)
    const lease = await leased()
    assert.deepEqual(await due(), [])
    await rooms.refreshes.fail(rooms.actor, lease, { reason: 'http_503', retryAfter: 60, answered: true })
    assert.deepEqual(await due(), [])
    now += 60_000
    assert.deepEqual(await due(), ['default'])
    await rooms.providers.register(tokenProvider('http://127.0.0.1:10'), { force: true })
    assert.deepEqual(await due(), [])
  })
})
