import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { signingKeyFromPem } from '../src/identity/index.ts'
import { DEFAULT_PLACEHOLDER, Secret } from '../src/protocol/index.ts'
import { type AcmeHome, acmeHome, bearerDefinition } from './acme-home.ts'
import { logIn } from './broker-command.ts'
import { caller, suiteCleanup } from './daemon-under-test.ts'

const KEY = 'CNRY-acme-key-4711'
const HOSTS = { acme: 'api.acme.test', other: 'api.other.test' }

describe('a connection whose definition has changed', () => {
  const cleanup = suiteCleanup()
  let home: AcmeHome
  before(async () => {
    home = await acmeHome(cleanup, { providers: HOSTS, key: KEY })
  })

  const broker = (args: readonly string[]) => home.world.broker(args)
  async function register(change: object): Promise<void> {
    const file = join(home.world.folder, 'changed.json')
    writeFileSync(file, JSON.stringify({ ...bearerDefinition('acme', HOSTS.acme), ...change }))
    const { code, stderr } = await broker(['provider', 'register', file, '--force'])
    assert.equal(code, 0, stderr)
  }
  async function ada() {
    const { stdout } = await broker(['whoami', '--json'])
    const { identity } = JSON.parse(stdout)
    const pem = new Secret(readFileSync(join(home.world.home, 'identities', `${identity}.key`), 'utf8'))
    return caller(home.world.daemon, identity, signingKeyFromPem(pem, identity))
  }
  async function statusOfAcme(): Promise<{ readonly status: string; readonly attention?: { readonly kind: string } }> {
    const { stdout } = await broker(['connections', '--json'])
    return JSON.parse(stdout).connections.find((one: { provider: string }) => one.provider === 'acme')
  }

  it('goes on where its credential goes to the same places: fixed headers and names are none', async () => {
    await register({ display_name: 'Acme Inc.', headers: { 'Acme-Version': '2026-11-01' } })
    const run = await home.world.startAsking()
    assert.equal((await run.get(`https://${HOSTS.acme}/`)).status, 200)
    await run.end()
    assert.equal((await statusOfAcme()).status, 'connected')
  })

  it('is said by run, doctor, connections and readiness, and its host is answered by us', async () => {
    await register({ hosts: [HOSTS.acme, 'upload.acme.test'] })
    const run = await home.world.startAsking()
    assert.equal(run.child.env['ACME_API_KEY'], DEFAULT_PLACEHOLDER)
    const answer = await run.get(`https://${HOSTS.acme}/`)
    assert.equal(answer.status, 403)
    assert.match(JSON.stringify(answer.body), /OperationNotAllowedError.*broker connections approve acme/)
    const { stderr } = await run.end()
    assert.match(stderr, /Connection "default" of acme will not serve: .* Mend it: broker connections approve acme\n/)
    assert.doesNotMatch(stderr, /of other will not serve/)

    const doctor = await broker(['doctor', '--json'])
    assert.equal(doctor.code, 1)
    const { status, checks } = JSON.parse(doctor.stdout)
    assert.deepEqual([status, checks.attention.status], ['failed', 'failed'])
    assert.match(checks.attention.message, /broker connections approve acme/)

    const list = await broker(['connections'])
    assert.match(list.stdout, /acme +default +yes +needs_approval/)
    assert.match(list.stderr, /broker connections approve acme/)
    assert.equal((await statusOfAcme()).attention?.kind, 'needs_approval')
  })

  it('is not asked about where nobody can answer, but shows what would change', async () => {
    const { code, stderr } = await broker(['connections', 'approve', 'acme'])
    assert.equal(code, 2)
    assert.match(stderr, /\+ upload\.acme\.test\n[\s\S]*--yes/)
    assert.equal((await statusOfAcme()).status, 'needs_approval')
  })

  it('has its hosts refused, not passed bare, where its definition is gone or broken', async () => {
    const path = join(home.world.home, 'providers', 'other.json')
    const definition = readFileSync(path, 'utf8')
    for (const text of [undefined, '{"name":']) {
      if (text === undefined) rmSync(path)
      else writeFileSync(path, text)
      const run = await home.world.startAsking()
      const { status, body } = await run.get(`https://${HOSTS.other}/`)
      assert.equal(status, 403)
      assert.match(JSON.stringify(body), /OperationNotAllowedError.*no definition of .*other/)
      assert.equal((await broker(['connections', 'approve', 'other', '--yes'])).code, 4)
      const { stderr } = await run.end()
      assert.match(stderr, /Connection "default" of other will not serve: .*its hosts are refused/)
      const why = await broker(['why', `https://${HOSTS.other}/`, '--json'])
      assert.deepEqual([why.code, JSON.parse(why.stdout).verdict], [4, 'refuse'])
    }
    writeFileSync(path, definition)
    const run = await home.world.startAsking()
    assert.equal((await run.get(`https://${HOSTS.other}/`)).status, 200)
    await run.end()
  })

  it('has the hosts that it was for refused, not passed bare, where the definition has moved or was narrowed', async () => {
    for (const hosts of [['api.elsewhere.test'], ['upload.acme.test']]) {
      await register({ hosts })
      const run = await home.world.startAsking()
      const { status, body } = await run.get(`https://${HOSTS.acme}/`)
      assert.equal(status, 403)
      assert.match(JSON.stringify(body), /OperationNotAllowedError.*broker connections approve acme/)
      await run.end()
      const why = await broker(['why', `https://${HOSTS.acme}/`, '--json'])
      const { verdict, fix } = JSON.parse(why.stdout)
      assert.deepEqual([why.code, verdict, fix], [4, 'refuse', 'broker connections approve acme'])
    }
  })

  it('is said by the command that puts it to rest', async () => {
    const file = join(home.world.folder, 'moved.json')
    writeFileSync(file, JSON.stringify({ ...bearerDefinition('acme', 'api.elsewhere.test') }))
    const { stderr } = await broker(['provider', 'register', file, '--force'])
    assert.match(stderr, /Connection "default" of acme will not serve: .* Mend it: broker connections approve acme/)
    await register({ hosts: [HOSTS.acme, 'upload.acme.test'] })
  })

  it('serves again once it is approved, without its key', async () => {
    const { code, stdout } = await broker(['connections', 'approve', '--all', '--yes', '--json'])
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout).approved, [
      { status: 'ok', provider: 'acme', connection: 'default', allowed: { added: ['upload.acme.test'], removed: [] } },
    ])
    const run = await home.world.startAsking()
    assert.equal((await run.get(`https://${HOSTS.acme}/`)).status, 200)
    assert.doesNotMatch((await run.end()).stderr, /will not serve/)
    assert.equal((await broker(['doctor'])).code, 0)
    const { stdout: log } = await broker(['log', '--event', 'connection.approved', '--json'])
    assert.match(log, /"provider": ?"acme"/)
    const again = await broker(['connections', 'approve', 'acme'])
    assert.deepEqual([again.code, /Nothing to approve/.test(again.stdout + again.stderr)], [0, true])
  })

  it('is not approved where the definition has changed since it was looked at, nor kept from it by others', async () => {
    await register({ hosts: [HOSTS.acme, 'upload.acme.test', 'files.acme.test'] })
    const { body: shown } = await (await ada()).call('GET', '/api/connections/acme/default/approval')
    await register({ hosts: [HOSTS.acme, 'upload.acme.test', 'collect.evil.test'] })
    const { status, body } = await (await ada()).call('POST', '/api/connections/acme/default/approve', {
      version: shown.version,
    })
    assert.deepEqual([status, body.error], [409, 'ConflictError'])

    rmSync(join(home.world.home, 'providers', 'other.json'))
    const { code, stdout, stderr } = await broker(['connections', 'approve', '--all', '--yes', '--json'])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /There is no definition of "other"[\s\S]*provider register/)
    assert.deepEqual(
      JSON.parse(stdout).approved.map(({ provider }: { provider: string }) => provider),
      ['acme'],
    )
    await register({ hosts: [HOSTS.acme, 'upload.acme.test'] })
    assert.equal((await broker(['connections', 'approve', 'acme', '--yes'])).code, 0)
  })

  it('says so where the credential would go to a domain that it never was for', async () => {
    await register({ hosts: [HOSTS.acme, 'collect.evil.test'] })
    const { stderr } = await broker(['connections', 'approve'])
    assert.match(stderr, /- upload\.acme\.test\n[\s\S]*never for evil\.test/)
    assert.equal((await broker(['connections', 'approve', '--yes'])).code, 0)
  })
})

describe('the default connection of a provider', () => {
  const cleanup = suiteCleanup()
  let home: AcmeHome
  before(async () => {
    home = await acmeHome(cleanup, { providers: HOSTS, key: KEY })
    for (const name of ['work', 'home']) await logIn(home.world, 'acme', KEY, ['--connection', name])
  })

  const broker = (args: readonly string[]) => home.world.broker(args)

  it('is missed by all where it is logged out and several are left', async () => {
    const logout = await broker(['logout', 'acme'])
    assert.equal(logout.code, 0)
    assert.match(logout.stderr, /broker connections set-default acme <connection>/)

    const run = await home.world.startAsking()
    assert.equal((await run.get(`https://${HOSTS.acme}/`)).status, 403)
    assert.match((await run.end()).stderr, /Provider acme will not serve: .*set-default acme/)
    const doctor = await broker(['doctor'])
    assert.equal(doctor.code, 1)
    assert.match(doctor.stdout, /attention +failed +Provider acme will not serve/)
  })

  it('is the last one left', async () => {
    assert.equal((await broker(['connections', 'set-default', 'acme', 'work'])).code, 0)
    const logout = await broker(['logout', 'acme', '--connection', 'work', '--json'])
    assert.deepEqual(JSON.parse(logout.stdout), {
      status: 'ok',
      provider: 'acme',
      connection: 'work',
      new_default: 'home',
    })
    const run = await home.world.startAsking()
    assert.equal((await run.get(`https://${HOSTS.acme}/`)).status, 200)
    assert.doesNotMatch((await run.end()).stderr, /will not serve/)
    assert.equal((await broker(['doctor'])).code, 0)
  })
})

describe('broker provider remove', () => {
  const cleanup = suiteCleanup()
  let home: AcmeHome
  before(async () => {
    home = await acmeHome(cleanup, { providers: HOSTS, key: KEY })
  })

  it('says on standard error which connections went, where nobody was asked', async () => {
    const { code, stdout, stderr } = await home.world.broker(['provider', 'remove', 'acme', '--json'])
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout), { status: 'ok', provider: 'acme', action: 'removed', connections_removed: 1 })
    assert.match(stderr, /Removed 1 connection of acme: default/)
  })

  it('has nothing to reset in a bundled definition that is as it was shipped', async () => {
    const said = await home.world.broker(['provider', 'remove', 'github'])
    assert.equal(said.code, 0)
    assert.match(said.stdout + said.stderr, /Nothing to reset/)
    const { stdout } = await home.world.broker(['provider', 'remove', 'github', '--json'])
    assert.deepEqual(JSON.parse(stdout), { status: 'ok', provider: 'github', action: 'reset', connections_removed: 0 })
  })
})

describe('broker why', () => {
  const cleanup = suiteCleanup()
  let home: AcmeHome
  before(async () => {
    home = await acmeHome(cleanup, { providers: HOSTS, key: KEY })
  })

  async function why(...args: readonly string[]) {
    const { code, stdout, stderr } = await home.world.broker(['why', ...args, '--json'])
    return { code, stderr, ...(stdout === '' ? {} : JSON.parse(stdout)) }
  }

  it('explains a request that gets a credential, by its URL or its host', async () => {
    for (const target of [`https://${HOSTS.acme}/v1/x?key=CNRYq`, HOSTS.acme]) {
      const { code, verdict, provider, connection, places, steps, stderr } = await why(target)
      assert.deepEqual(
        [code, verdict, provider, connection, places, stderr],
        [0, 'inject', 'acme', 'default', ['header Authorization'], ''],
      )
      assert.deepEqual(
        steps.map(({ step }: { step: string }) => step),
        ['provider', 'connection', 'state', 'injection'],
      )
    }
  })

  it('names what stands in the way, and what mends it', async () => {
    for (const port of ['', ':443']) {
      const plain = await why(`http://${HOSTS.acme}${port}/`)
      assert.deepEqual([plain.code, plain.verdict, plain.steps.at(-1).step], [4, 'refuse', 'transport'])
    }
    const unknown = await why('https://example.com/')
    assert.deepEqual([unknown.code, unknown.verdict, unknown.provider], [4, 'tunnel', undefined])
    const unconnected = await why('https://api.github.com/user')
    assert.deepEqual(
      [unconnected.code, unconnected.verdict, unconnected.provider, unconnected.fix],
      [3, 'tunnel', 'github', 'broker login github'],
    )
  })

  it('knows the agents of its principal, and no others', async () => {
    assert.equal((await why(HOSTS.acme, '--agent', 'nobody')).code, 1)
    assert.equal((await home.world.broker(['agent', 'create', 'ci'])).code, 0)
    assert.equal((await why(HOSTS.acme, '--agent', 'ci')).verdict, 'inject')
  })

  it('refuses what is no request', async () => {
    for (const target of ['', 'ftp://x.test/', 'https://']) assert.equal((await why(target)).code, 2, target)
  })
})
