import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DaemonUnderTest, owner, refusedDaemon, send, startDaemon, temporaryHome } from './daemon-under-test.ts'
import { registerFrom } from './register-from.ts'
import { signedIn } from './signed-in-browser.ts'

async function statuses(daemon: DaemonUnderTest, count: number, from: string, headers = {}) {
  const all: number[] = []
  for (let at = 0; at < count; at += 1) {
    all.push(
      (await registerFrom(daemon, `flood-${from.replaceAll('.', '-')}-${all.length}-${at}`, from, headers)).status,
    )
  }
  return all
}

const counted = (all: readonly number[], wanted: number) => all.filter((status) => status === wanted).length

describe('anonymous registrations', () => {
  for (const count of [50, 500]) {
    it(`of ${count} from one source cost that source 429, and nobody else`, async (t) => {
      const daemon = await startDaemon(t)
      const all = await statuses(daemon, count, '127.0.0.2')
      assert.equal(counted(all, 201), 50)
      assert.equal(counted(all, 429), count - 50)
      const refused = await registerFrom(daemon, 'one-more', '127.0.0.2')
      assert.equal(refused.status, 429)
      assert.equal(refused.body.error, 'RateLimitedError')
      assert.ok(Number(refused.headers['retry-after']) > 0)
      assert.equal((await registerFrom(daemon, 'honest', '127.0.0.3')).status, 201)
      assert.equal((await owner(daemon, 'the-owner')).handle, 'the-owner')
    })
  }

  it('are counted on by another daemon, and after a restart', async (t) => {
    const daemon = await startDaemon(t)
    await statuses(daemon, 50, '127.0.0.2')
    await daemon.stop()
    const again = await startDaemon(t, { home: daemon.home })
    assert.equal((await registerFrom(again, 'one-more', '127.0.0.2')).status, 429)
    assert.equal((await registerFrom(again, 'honest', '127.0.0.3')).status, 201)
  })

  it('are of the client that a listed proxy names, and of nobody that another one does', async (t) => {
    const daemon = await startDaemon(t, { env: { BROKER_TRUSTED_PROXIES: '127.0.0.5, 10.0.0.0/8' } })
    const by = (client: string) => ({ forwarded: `for=198.51.100.1, for=${client}` })
    await statuses(daemon, 50, '127.0.0.5', by('192.0.2.1'))
    assert.equal((await registerFrom(daemon, 'again', '127.0.0.5', by('192.0.2.1'))).status, 429)
    assert.equal((await registerFrom(daemon, 'honest', '127.0.0.5', by('192.0.2.2'))).status, 201)
    await statuses(daemon, 50, '127.0.0.6', by('192.0.2.3'))
    assert.equal((await registerFrom(daemon, 'third', '127.0.0.5', by('192.0.2.3'))).status, 201)
    assert.equal((await registerFrom(daemon, 'liar', '127.0.0.6', by('192.0.2.4'))).status, 429)
  })
})

describe('a hosted daemon', () => {
  const env = { BROKER_PUBLIC_URL: 'https://broker.example', BROKER_REGISTRATION: 'open' }

  it('limits by source what is open to everybody', async (t) => {
    const daemon = await startDaemon(t, { env })
    const get = (path: string, from: string) => send(daemon, 'GET', path, '', { accept: 'application/json' }, from)
    const many = await Promise.all(
      Array.from({ length: 200 }, (_, at) => get(`/auth/callback/oauth?state=guess${at}`, '127.0.0.2')),
    )
    const refused = many.filter(({ status }) => status === 429)
    assert.ok(refused.length >= 70 && refused.length <= 80, `${refused.length} refused`)
    for (const { body, headers } of refused.slice(0, 1)) {
      assert.equal(body.error, 'RateLimitedError')
      assert.ok(Number(headers['retry-after']) > 0)
    }
    for (const path of ['/api/claim/guess', '/api/auth/sessions/guess/input', '/api/session/guess']) {
      assert.equal((await get(path, '127.0.0.2')).status, 429, path)
      assert.equal((await get(path, '127.0.0.3')).status, 404, path)
    }
    assert.equal((await get('/api/health', '127.0.0.2')).status, 200)
  })

  it('limits accounts by source before a password is hashed', async (t) => {
    const daemon = await startDaemon(t, { env })
    const make = (at: number, from: string) =>
      send(
        daemon,
        'POST',
        '/api/auth/register',
        JSON.stringify({ email: `p${at}@example.com`, password: at < 0 ? 'CNRY a long phrase' : 'password' }),
        { 'content-type': 'application/json', accept: 'application/json' },
        from,
      )
    const many = await Promise.all(Array.from({ length: 100 }, (_, at) => make(at, '127.0.0.2')))
    assert.ok(many.filter(({ status }) => status === 429).length >= 35)
    assert.equal((await make(-1, '127.0.0.3')).status, 201)
  })

  it('warns where it does not know its proxy', async (t) => {
    const ready = async (more: Readonly<Record<string, string>>) => {
      const daemon = await startDaemon(t, { env: { ...env, ...more } })
      const ada = await signedIn(daemon, 'register', { email: 'ada@example.com', password: 'CNRY a long phrase' })
      return String((await ada.call('GET', '/api/ready')).body.warnings)
    }
    assert.match(await ready({}), /BROKER_TRUSTED_PROXIES is not set/)
    assert.doesNotMatch(await ready({ BROKER_TRUSTED_PROXIES: '10.0.0.1' }), /BROKER_TRUSTED_PROXIES/)
  })

  it('has browsers come by https alone from then on, whatever it answers', async (t) => {
    const daemon = await startDaemon(t, { env })
    const { headers: shell } = await send(daemon, 'GET', '/', '', { host: 'broker.example' })
    assert.match(String(shell['strict-transport-security']), /^max-age=(\d+)$/)
    assert.ok(Number(/\d+/.exec(String(shell['strict-transport-security']))?.[0]) >= 31_536_000)
    const paths = ['/api/health', '/openapi.json', '/none', '/api/me', '/dashboard/x.js', '/pages.css', '/api/claim/x']
    for (const path of paths) {
      const { headers } = await send(daemon, 'GET', path, '', { host: 'broker.example' })
      assert.ok(headers['strict-transport-security'], path)
    }
    assert.ok((await send(daemon, 'GET', '/', '', { host: 'evil.test' })).headers['strict-transport-security'])
    assert.ok((await send(daemon, 'GET', '/', '', { host: 'x'.repeat(20_000) })).headers['strict-transport-security'])
  })
})

describe('a daemon on loopback', () => {
  it('says nothing of https, and limits no page', async (t) => {
    const daemon = await startDaemon(t)
    const get = (path: string) => send(daemon, 'GET', path, '', { accept: 'application/json' })
    const many = await Promise.all(Array.from({ length: 200 }, () => get('/api/claim/guess')))
    assert.ok(many.every(({ status, headers }) => status === 404 && !headers['strict-transport-security']))
  })

  it('does not start with a list of proxies that is none', async (t) => {
    const { code, output } = await refusedDaemon(temporaryHome(t), { BROKER_TRUSTED_PROXIES: '10.0.0.0/8, nginx' })
    assert.equal(code, 2)
    assert.match(output, /BROKER_TRUSTED_PROXIES must be addresses or CIDRs/)
  })
})
