import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { atTerminal } from './at-terminal.ts'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { caller, type DaemonUnderTest, owner, send, startDaemon, suiteCleanup } from './daemon-under-test.ts'
import { cookiesOf, signedIn } from './signed-in-browser.ts'

const ADA = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
const EVE = { email: 'eve@example.com', password: 'CNRY another long phrase' }
const NEW = 'CNRY what the operator typed'
const PATH = '/api/admin/reset-password'

const login = (daemon: DaemonUnderTest, one: typeof ADA, { from = '127.0.0.1', cookie = '' } = {}) =>
  send(
    daemon,
    'POST',
    '/api/auth/login',
    JSON.stringify(one),
    { 'content-type': 'application/json', accept: 'application/json', cookie },
    from,
  )

const reset = (
  daemon: DaemonUnderTest,
  body: object,
  headers: Readonly<Record<string, string>> = {},
  from = '127.0.0.1',
) => send(daemon, 'POST', PATH, JSON.stringify(body), { 'content-type': 'application/json', ...headers }, from)

const secretOf = ({ home }: DaemonUnderTest) => readFileSync(join(home, 'server', 'operator.secret'), 'utf8').trim()

describe('broker admin reset-password', () => {
  let world: BrokerHome
  const cleanup = suiteCleanup()
  before(async () => {
    world = await onboarded(cleanup)
  })

  const command = (args: readonly string[], input = `${NEW}\n`) =>
    world.broker(['admin', 'reset-password', ...args], { input })

  it('lets in by the new password, and ends sessions, links, known browsers and waits of before', async () => {
    const { daemon } = world
    const ada = await signedIn(daemon, 'register', ADA)
    const eve = await signedIn(daemon, 'register', EVE)
    const known = cookiesOf(await login(daemon, ADA))
    const guess = () => login(daemon, { ...ADA, password: 'CNRY guessed' }, { from: '127.0.0.2' })
    await Promise.all([guess(), guess(), guess(), guess(), guess()])
    assert.equal((await login(daemon, ADA, { from: '127.0.0.2' })).status, 429)

    const done = await command([' ADA@example.com', '--json'])

    assert.equal(done.code, 0, done.stdout + done.stderr)
    assert.deepEqual(JSON.parse(done.stdout), {
      status: 'ok',
      email: ADA.email,
      principal_id: ada.principalId,
    })
    assert.equal((await ada.call('GET', '/api/me')).status, 401)
    assert.equal((await eve.call('GET', '/api/me')).status, 200)
    assert.equal((await login(daemon, { ...ADA, password: NEW }, { from: '127.0.0.2' })).status, 200)
    assert.equal((await login(daemon, ADA)).status, 401)
    // A stranger now: wrong ones from its place count against it.
    await Promise.all([1, 2, 3, 4, 5].map(() => login(daemon, ADA, { from: '127.0.0.4' })))
    const refused = await login(daemon, { ...ADA, password: NEW }, { from: '127.0.0.4', cookie: known })
    assert.equal(refused.status, 429)
  })

  it('is written down, as the act of the operator on that account', async () => {
    const again = await signedIn(world.daemon, 'login', { ...ADA, password: NEW })
    const { events } = (await again.call('GET', '/api/audit/events?event=account.password_reset')).body
    assert.equal(events.length, 1)
    assert.equal(events[0].identity, '(operator)')
    assert.equal(events[0].principal_id, again.principalId)
    assert.equal(events[0].status, 'success')
  })

  it('says that there is no such account, and what is wrong with a password', async () => {
    const nobody = await command(['nobody@example.com', '--json'])
    assert.equal(nobody.code, 1)
    assert.equal(JSON.parse(nobody.stdout).error, 'NotFoundError')
    for (const bad of ['short', 'password123', 'eve@example.com', 'two\nlines', '']) {
      const refused = await command([EVE.email, '--json'], `${bad}\n`)
      assert.equal(refused.code, 2, bad)
      assert.equal(JSON.parse(refused.stdout).error, 'InvalidRequestError')
    }
    assert.equal((await login(world.daemon, EVE)).status, 200)
  })

  it('takes no password as an argument', async () => {
    assert.equal((await command([EVE.email, NEW])).code, 2)
    assert.equal((await command([EVE.email, '--password', NEW])).code, 2)
  })

  it('asks at a terminal, masked, twice', { skip: whyNot('python3') }, async (t) => {
    const answer = async (first: string, second: string) => {
      const args = ['admin', 'reset-password', EVE.email]
      const terminal = atTerminal(t, args, { cwd: world.folder, env: world.env })
      await terminal.firstOf(/New password of eve@example\.com/)
      terminal.type(`${first}\r`)
      await terminal.firstOf(/The same again/)
      terminal.type(`${second}\r`)
      const code = await terminal.ended
      assert.ok(!(await terminal.all).includes('CNRY'))
      return code
    }
    assert.equal(await answer('CNRY one long phrase', 'CNRY another one'), 2)
    assert.equal((await login(world.daemon, EVE)).status, 200)
    assert.equal(await answer(' CNRY with spaces ', ' CNRY with spaces '), 0)
    assert.equal((await login(world.daemon, { ...EVE, password: ' CNRY with spaces ' })).status, 200)
  })

  it('works where the commands of this home call another daemon', async () => {
    const env = { BROKER_BASE_URL: 'https://broker.example' }
    const done = await world.broker(['admin', 'reset-password', EVE.email], { input: `${NEW}\n`, env })
    assert.equal(done.code, 0, done.stderr)
  })

  it('exits 9 where no daemon of this home runs', async (t) => {
    const other = await onboarded(t)
    await other.daemon.stop()
    const done = await other.broker(['admin', 'reset-password', ADA.email, '--json'], { input: `${NEW}\n` })
    assert.equal(done.code, 9)
    assert.equal(JSON.parse(done.stdout).error, 'DaemonUnavailableError')
  })
})

describe('the route of the operator', () => {
  const body = { email: ADA.email, password: NEW }
  const hosted = { BROKER_PUBLIC_URL: 'https://broker.example', BROKER_REGISTRATION: 'open' }

  it('opens to the secret of the home alone, which nobody else can read', async (t) => {
    const daemon = await startDaemon(t)
    await signedIn(daemon, 'register', ADA)
    assert.equal(statSync(join(daemon.home, 'server', 'operator.secret')).mode & 0o777, 0o600)
    assert.equal((await reset(daemon, body)).status, 401)
    const bootstrap = readFileSync(join(daemon.home, 'server', 'bootstrap.secret'), 'utf8').trim()
    for (const wrong of ['CNRY-guess', bootstrap, `${secretOf(daemon)}x`]) {
      const answer = await reset(daemon, body, { 'x-broker-operator': wrong })
      assert.equal(answer.status, 401)
      assert.doesNotMatch(answer.text, /CNRY/)
    }
    assert.equal((await reset(daemon, body, { 'x-broker-operator': secretOf(daemon) })).status, 200)
  })

  it('is none for agents and browsers, an admin’s neither', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await signedIn(daemon, 'register', ADA)
    const robot = await owner(daemon, 'robot')
    assert.equal((await ada.call('POST', PATH, body)).status, 401)
    assert.equal((await robot.call('POST', PATH, body)).status, 403)
    const secret = { 'x-broker-operator': secretOf(daemon) }
    assert.equal((await robot.call('POST', PATH, body, secret)).status, 403)
    assert.equal((await caller(daemon, 'nobody').call('POST', PATH, body, secret)).status, 403)
  })

  it('takes no more guesses than a few, and the right secret always', async (t) => {
    const daemon = await startDaemon(t)
    await signedIn(daemon, 'register', ADA)
    const guess = () => reset(daemon, body, { 'x-broker-operator': 'CNRY-guess' })
    const all = await Promise.all(Array.from({ length: 20 }, guess))
    assert.equal(all.filter(({ status }) => status === 401).length, 5)
    assert.equal(all.filter(({ status }) => status === 429).length, 15)
    assert.equal((await reset(daemon, body, { 'x-broker-operator': secretOf(daemon) })).status, 200)
  })

  it('is on the machine itself, also where the daemon is hosted, and behind no proxy', async (t) => {
    const daemon = await startDaemon(t, { env: { ...hosted, BROKER_HOST: '0.0.0.0' } })
    const registered = await send(daemon, 'POST', '/api/auth/register', JSON.stringify(ADA), {
      host: 'broker.example',
      'content-type': 'application/json',
      accept: 'application/json',
    })
    assert.equal(registered.status, 201)
    const secret = { 'x-broker-operator': secretOf(daemon) }
    for (const name of ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']) {
      assert.equal((await reset(daemon, body, { ...secret, [name]: 'for=127.0.0.1' })).status, 403, name)
    }
    assert.equal((await reset(daemon, body, { ...secret, host: 'broker.example' })).status, 403)
    assert.equal((await reset(daemon, body, secret)).status, 200)
  })
})
