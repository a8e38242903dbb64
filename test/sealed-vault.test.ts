import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, describe, it } from 'node:test'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { owner, send, startDaemon, suiteCleanup, temporaryHome } from './daemon-under-test.ts'

const PASSPHRASE = 'CNRY five words that differ'
const JSON_TYPE = { 'content-type': 'application/json' }

const unlock = (daemon: { readonly port: number }, body: object, from?: string, headers = {}) =>
  send(daemon, 'POST', '/api/vault/unlock', JSON.stringify(body), { ...JSON_TYPE, ...headers }, from)

describe('a vault under a passphrase', () => {
  let world: BrokerHome
  const cleanup = suiteCleanup()
  const status = async () => JSON.parse((await world.broker(['vault', 'status', '--json'])).stdout)

  before(async () => {
    world = await onboarded(cleanup, { BROKER_ENCRYPTION_MODE: 'passphrase' }, async (fresh) => {
      // Before there is one, nobody but the daemon's own user chooses it.
      assert.equal((await unlock(fresh.daemon, { passphrase: PASSPHRASE })).status, 401)
      const short = await fresh.broker(['unlock', '--json'], { input: 'CNRY\n' })
      assert.equal(short.code, 2, short.stdout)
      const chosen = await fresh.broker(['unlock'], { input: `${PASSPHRASE}\n` })
      assert.equal(chosen.code, 0, chosen.stderr)
    })
    await logIn(world, 'openai', `sk-CNRY${'a'.repeat(40)}`)
  })

  it('says how it stands', async () => {
    const { generation, ...rest } = await status()
    assert.deepEqual(rest, { sealed: false, source: 'passphrase', term: 1, records: 1 })
    assert.ok(generation > 0)
    assert.equal(existsSync(join(world.home, 'server', 'master.key')), false)
  })

  it('is locked by an admin: then nothing is answered but how it is, and everything else names the way out', async () => {
    const locked = await world.broker(['lock', '--json'])
    assert.equal(locked.code, 0, locked.stderr)
    assert.equal(JSON.parse(locked.stdout).sealed, true)

    const refused = await world.broker(['connections', '--json'])
    assert.equal(refused.code, 9)
    const { error, hint } = JSON.parse(refused.stdout)
    assert.equal(error, 'DaemonUnavailableError')
    assert.match(hint, /`broker unlock`/)
    for (const path of ['/', '/openapi.json', '/api/connections', '/api/auth/sessions/x/input'])
      assert.equal((await send(world.daemon, 'GET', path)).status, 503, path)
    assert.equal((await send(world.daemon, 'GET', '/api/health')).status, 200)

    assert.equal((await status()).sealed, true)
    const doctor = await world.broker(['doctor', '--json'])
    assert.equal(doctor.code, 1)
    assert.equal(JSON.parse(doctor.stdout).checks.vault.status, 'failed')
    // To look at it does not open it.
    assert.equal((await status()).sealed, true)
  })

  it('is opened by its passphrase and by no other, however often one is tried', async () => {
    const wrong = await world.broker(['unlock', '--json'], { input: 'CNRY something else\n' })
    assert.equal(wrong.code, 2)
    assert.equal(JSON.parse(wrong.stdout).error, 'AuthenticationFailedError')
    const tries = await Promise.all(
      Array.from({ length: 12 }, () => unlock(world.daemon, { passphrase: 'CNRY guessed' }, '127.0.0.9')),
    )
    assert.deepEqual([...new Set(tries.map((one) => one.status))].sort(), [401, 429])
    assert.ok(tries.some(({ headers }) => Number(headers['retry-after']) > 0))

    assert.equal((await unlock(world.daemon, { passphrase: PASSPHRASE })).status, 200)
    assert.equal((await status()).sealed, false)
    assert.equal((await world.broker(['connections'])).code, 0)
  })

  it('is brought under new data keys, and under other master keys, and the log has it', async () => {
    const rotated = await world.broker(['vault', 'rotate', '--json'])
    assert.equal(rotated.code, 0, rotated.stderr)
    const { generation, ...rest } = JSON.parse(rotated.stdout)
    assert.deepEqual(rest, { status: 'ok', term: 2, records: 1 })
    assert.ok(generation > 0)

    const key = randomBytes(32).toString('base64')
    const given = await world.broker(['vault', 'rekey', '--to', 'env', '--json'], { env: { BROKER_MASTER_KEY: key } })
    assert.deepEqual(JSON.parse(given.stdout), { status: 'ok', source: 'env' })
    assert.equal((await world.broker(['vault', 'rekey', '--to', 'command', '--json'])).code, 2)
    assert.equal((await world.broker(['vault', 'rekey', '--to', 'local_key'])).code, 0)
    assert.ok(existsSync(join(world.home, 'server', 'master.key')))
    const back = await world.broker(['vault', 'rekey', '--to', 'passphrase'], { input: `${PASSPHRASE}\n` })
    assert.equal(back.code, 0, back.stderr)
    assert.equal(existsSync(join(world.home, 'server', 'master.key')), false)
    assert.equal((await world.broker(['doctor'])).code, 0)

    const log = JSON.parse((await world.broker(['log', '--json', '--event', 'vault.rekeyed'])).stdout)
    assert.deepEqual(
      log.map((one: { reason: string }) => one.reason),
      ['passphrase', 'local_key', 'env'].map((source) => `the key is in ${source} now`),
    )
    const [event] = JSON.parse((await world.broker(['log', '--json', '--event', 'vault.rotated'])).stdout)
    assert.equal(event.status, 'success')
    assert.doesNotMatch(`${given.stdout}${given.stderr}${back.stdout}${back.stderr}`, /five words/)
    assert.equal(`${given.stdout}${given.stderr}`.includes(key), false)
  })

  it('starts sealed, and is what it was once it is opened', async () => {
    await world.daemon.stop()
    world = { ...world, daemon: await world.restart(cleanup) }
    assert.equal((await status()).sealed, true)
    assert.equal((await world.broker(['connections'])).code, 9)
    const opened = await world.broker(['unlock', '--json'], { input: `${PASSPHRASE}\n` })
    assert.deepEqual(JSON.parse(opened.stdout), { status: 'ok', sealed: false })
    assert.equal((await world.broker(['doctor'])).code, 0)
  })

  it('has told of each, and keeps the passphrase nowhere', async () => {
    const log = await world.broker(['log', '--json', '-n', '100'])
    const events = JSON.parse(log.stdout).map((one: Record<string, string>) => `${one['event']} ${one['status']}`)
    for (const event of ['vault.locked success', 'vault.unlocked success', 'vault.unlocked failure'])
      assert.ok(events.includes(event), event)
    assert.doesNotMatch(log.stdout, /five words/)
    await world.daemon.stop()
    for (const name of ['broker.db', 'broker.db-wal', 'logs/daemon.log']) {
      const path = join(world.home, 'server', name)
      if (existsSync(path)) assert.doesNotMatch(readFileSync(path, 'latin1'), /five words/, name)
    }
  })

  it('does not believe a store that would have it opened with less work', async () => {
    const database = new DatabaseSync(join(world.home, 'server', 'broker.db'))
    const wrapped = database.prepare(`select wrapped from data_keys where vault_id = 'passphrase'`).get()
    const stored = JSON.parse(Buffer.from(wrapped?.['wrapped'] as Uint8Array).toString())
    const weaker = Buffer.from(JSON.stringify({ ...stored, memory: 8, passes: 1 }))
    database.prepare(`update data_keys set wrapped = ? where vault_id = 'passphrase'`).run(weaker)
    database.close()
    world = { ...world, daemon: await world.restart(cleanup) }
    assert.equal((await world.broker(['unlock'], { input: `${PASSPHRASE}\n` })).code, 9)
  })
})

describe('a daemon that nobody sits at', () => {
  let world: BrokerHome
  const cleanup = suiteCleanup()

  it('takes its passphrase from a file that is its own alone', async () => {
    const home = temporaryHome(cleanup)
    const path = join(home, '..', 'passphrase')
    writeFileSync(path, `${PASSPHRASE}\n`, { mode: 0o600 })
    const env = { BROKER_ENCRYPTION_MODE: 'passphrase', BROKER_PASSPHRASE_FILE: path }
    world = await onboarded(cleanup, env)
    assert.equal(JSON.parse((await world.broker(['vault', 'status', '--json'])).stdout).sealed, false)

    await world.daemon.stop()
    chmodSync(path, 0o640)
    world = { ...world, daemon: await world.restart(cleanup) }
    const open = await world.broker(['unlock', '--json'], { input: '' })
    assert.equal(open.code, 9, open.stdout)
    assert.match(open.stdout, /mode 0640/)
    chmodSync(path, 0o600)
    assert.equal((await world.broker(['unlock'])).code, 0)
  })
})

describe('a key that a command prints', () => {
  const cleanup = suiteCleanup()

  it('opens the vault, in an environment without what is Broker’s; one that fails leaves it sealed', async () => {
    const home = temporaryHome(cleanup)
    const folder = join(home, '..')
    const key = join(folder, 'key')
    writeFileSync(key, Buffer.from('CNRY this is a key of 32 bytes..').toString('base64'))
    const seen = join(folder, 'seen')
    const env = {
      BROKER_ENCRYPTION_MODE: 'command',
      BROKER_MASTER_KEY_COMMAND: `env > '${seen}'; cat '${key}' | cat`,
    }
    const daemon = await startDaemon(cleanup, { home, env })
    const ada = await owner(daemon)
    assert.doesNotMatch(readFileSync(seen, 'utf8'), /BROKER_/)
    assert.equal((await ada.call('GET', '/api/vault/status')).body.source, 'command')

    assert.equal((await ada.call('POST', '/api/vault/lock', {})).body.sealed, true)
    const operator = readFileSync(join(home, 'server', 'operator.secret'), 'utf8').trim()
    assert.equal((await unlock(daemon, {})).status, 401)
    writeFileSync(key, 'CNRY no key')
    const failed = await unlock(daemon, {}, undefined, { 'x-broker-operator': operator })
    assert.equal(failed.status, 503)
    assert.match(failed.body.message, /must hold 32 bytes/)
    assert.doesNotMatch(failed.text, /CNRY/)
    writeFileSync(key, Buffer.from('CNRY this is a key of 32 bytes..').toString('base64'))
    const headers = { 'x-broker-operator': operator }
    assert.equal((await unlock(daemon, {}, undefined, headers)).status, 200)
  })
})
