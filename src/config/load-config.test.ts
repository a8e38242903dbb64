import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { loadConfig } from './load-config.ts'

const NOWHERE = '/nonexistent'
const load = (env: Record<string, string>) => loadConfig(env, NOWHERE)

describe('the configuration', () => {
  it('of an empty environment is the one that is documented', () => {
    const { paths, baseUrl, baseUrlSource, baseUrlIsOwn, daemon, proxy } = load({})
    assert.equal(paths.home, '/nonexistent/.broker')
    assert.deepEqual([baseUrl, baseUrlSource, baseUrlIsOwn], ['http://127.0.0.1:7998', 'default', true])
    assert.deepEqual(daemon, {
      hosts: ['127.0.0.1', '::1'],
      port: 7998,
      encryptionMode: 'auto',
      registration: 'open',
      overrides: 'allow',
      releaseTo: 'identities',
      logLevel: 'info',
    })
    assert.deepEqual(proxy, {})
  })

  it('closes registration where the daemon is hosted, unless told otherwise', () => {
    const hosted = { BROKER_PUBLIC_URL: 'https://broker.example.com' }
    assert.equal(load(hosted).daemon.registration, 'closed')
    assert.equal(load({ ...hosted, BROKER_REGISTRATION: 'open' }).daemon.registration, 'open')
    assert.throws(() => load({ BROKER_REGISTRATION: 'ajar' }), { name: 'InvalidRequestError' })
  })

  it('takes the proxies that are trusted between commas', () => {
    const { daemon } = load({ BROKER_TRUSTED_PROXIES: '10.0.0.0/8, ::1,,' })
    assert.deepEqual(daemon.trustedProxies, ['10.0.0.0/8', '::1'])
  })

  it('takes an empty variable for one that is not set', () => {
    assert.equal(load({ BROKER_PORT: '', BROKER_BASE_URL: '', BROKER_HOST: '' }).baseUrl, 'http://127.0.0.1:7998')
  })

  it('takes a "~" that no shell has expanded for the user’s home folder', () => {
    const { paths, proxy, daemon } = load({
      BROKER_HOME: '~/x',
      BROKER_PROXY_CA_FILE: '~/ca.pem',
      BROKER_MASTER_KEY_FILE: '~/key',
    })
    assert.deepEqual(
      [paths.home, proxy.caFile, daemon.masterKeyFile],
      ['/nonexistent/x', '/nonexistent/ca.pem', '/nonexistent/key'],
    )
    assert.equal(load({ BROKER_HOME: '~' }).paths.home, NOWHERE)
    assert.throws(() => load({ BROKER_HOME: '~ada/x' }), /BROKER_HOME begins with the home folder of a user by name/)
    assert.throws(() => loadConfig({ BROKER_HOME: '~/x' }, ''), /BROKER_HOME begins with "~", and HOME names no folder/)
  })

  it('knows which address is that of the home’s own daemon', () => {
    const own = (env: Record<string, string>) => load(env).baseUrlIsOwn
    assert.equal(own({ BROKER_PORT: '7000' }), true)
    assert.equal(own({ BROKER_BASE_URL: 'http://localhost:7998' }), true)
    assert.equal(own({ BROKER_BASE_URL: 'http://[::1]:7998/' }), true)
    assert.equal(own({ BROKER_BASE_URL: 'http://127.0.0.1:7999' }), false)
    assert.equal(own({ BROKER_BASE_URL: 'https://broker.example.com' }), false)
  })

  it('takes the port of the home’s daemon from its own file, unless another is named or somebody else could have written it', (t) => {
    const home = mkdtempSync(join(tmpdir(), 'broker-test-'))
    t.after(() => rmSync(home, { recursive: true }))
    mkdirSync(join(home, 'server'))
    const file = join(home, 'server/daemon.json')
    const info = { pid: 1, port: 9000, started_at: '2026-11-22T00:00:00.000Z', version: '0.1.0', did: 'did:key:z' }
    const portOf = (text: string, mode = 0o600, env: Record<string, string> = {}) => {
      writeFileSync(file, text)
      chmodSync(file, mode)
      const { baseUrl, baseUrlIsOwn, ownPort, daemon } = load({ BROKER_HOME: home, ...env })
      return [baseUrl, baseUrlIsOwn, ownPort, daemon.port]
    }

    const found = ['http://127.0.0.1:9000', true, 9000]
    assert.deepEqual(portOf(JSON.stringify(info)), [...found, 7998])
    assert.deepEqual(portOf(JSON.stringify(info), 0o600, { BROKER_PORT: '0' }), [...found, 0])
    const named = ['http://127.0.0.1:7000', true, 7000, 7000]
    assert.deepEqual(portOf(JSON.stringify(info), 0o600, { BROKER_PORT: '7000' }), named)
    const usual = ['http://127.0.0.1:7998', true, 7998, 7998]
    assert.deepEqual(portOf(JSON.stringify(info), 0o666), usual)
    for (const other of [
      '',
      '{',
      '[]',
      ...[0, -1, 1.5, 65_536, '9000'].map((port) => JSON.stringify({ ...info, port })),
    ])
      assert.deepEqual(portOf(other), usual, other)
  })

  const refused: readonly [string, string][] = [
    ['BROKER_BASE_URL', 'http://broker.example.com'],
    ['BROKER_BASE_URL', 'http://127.0.0.1.evil.test:7998'],
    ['BROKER_BASE_URL', 'ftp://127.0.0.1'],
    ['BROKER_BASE_URL', 'http://user:CNRYpass@127.0.0.1:7998'],
    ['BROKER_BASE_URL', 'http://127.0.0.1:7998/path'],
    ['BROKER_BASE_URL', 'CNRY'],
    ['BROKER_HOST', '0.0.0.0'],
    ['BROKER_HOST', '::'],
    ['BROKER_HOST', '192.0.2.7'],
    ['BROKER_PORT', '65536'],
    ['BROKER_PORT', '-1'],
    ['BROKER_PORT', '0x50'],
    ['BROKER_PUBLIC_URL', 'http://localhost:1'],
    ['BROKER_DATABASE_URL', 'mysql://CNRY@host/db'],
    ['BROKER_DATABASE_POOL', '0'],
    ['BROKER_DATABASE_WRITE_POOL', '3.5'],
    ['BROKER_REDIS_URL', 'CNRY'],
    ['BROKER_REDIS_URL', 'http://user:CNRYpass@host'],
    ['BROKER_REDIS_URL', 'redis://user:CNRYpass@host:0x1'],
    ['BROKER_REDIS_URL', 'redis://user:CNRYpass@host/first'],
    ['BROKER_REDIS_URL', 'redis://user:CNRYpass@host/1?db=2'],
    ['BROKER_REDIS_URL', 'redis://user:CNRY%ff@host'],
    ['BROKER_REDIS_URL', 'redis:///1'],
    ['BROKER_ENCRYPTION_MODE', 'none'],
    ['BROKER_PASSPHRASE_FILE', 'relative/CNRY'],
    ['BROKER_AUTO_LOCK', '15'],
    ['BROKER_AUTO_LOCK', '999h'],
    ['BROKER_MASTER_KEY_FILE', 'relative/key'],
    ['BROKER_LOG_LEVEL', 'loud'],
  ]
  for (const [name, value] of refused) {
    it(`refuses ${name}=${value.replace(/CNRY/g, '…')}, names the variable and does not repeat its value`, () => {
      assert.throws(
        () => load({ [name]: value }),
        (error: Error) =>
          error.name === 'InvalidRequestError' && error.message.includes(name) && !/CNRY/.test(error.message),
      )
    })
  }

  it('opens the daemon to the network only behind https', () => {
    const { daemon } = load({ BROKER_HOST: '0.0.0.0', BROKER_PUBLIC_URL: 'https://broker.example.com' })
    assert.deepEqual([daemon.hosts, daemon.publicUrl], [['0.0.0.0'], 'https://broker.example.com'])
  })

  it('gives the child of a run everything but what is Broker’s own, and its Node options back', () => {
    const { inherited } = load({
      PATH: '/bin',
      EMPTY: '',
      BROKER_MASTER_KEY: 'CNRY',
      BROKER_INHERITED_NODE_OPTIONS: '--max-old-space-size=64',
    })
    assert.deepEqual(inherited, { PATH: '/bin', EMPTY: '', NODE_OPTIONS: '--max-old-space-size=64' })
  })

  it('takes the saved daemon unless the environment names one, and refuses a damaged file by its name', (t) => {
    const home = mkdtempSync(join(tmpdir(), 'broker-config-'))
    t.after(() => rmSync(home, { recursive: true }))
    mkdirSync(join(home, 'client'), { mode: 0o700 })
    const save = (text: string) => writeFileSync(join(home, 'client/config.json'), text, { mode: 0o600 })
    save('{"daemon_base_url":"https://broker.example.com"}')
    assert.equal(load({ BROKER_HOME: home }).baseUrl, 'https://broker.example.com')
    assert.equal(load({ BROKER_HOME: home, BROKER_BASE_URL: 'http://localhost:1' }).baseUrlSource, 'environment')
    for (const text of ['{', '[]', 'null', '{"active_identity":7}', '{"active_identity":"No Such"}']) {
      save(text)
      assert.throws(() => load({ BROKER_HOME: home }), /client\/config\.json/)
    }
  })
})
