import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { generateSigningKey } from '../src/identity/index.ts'
import {
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  refusedDaemon,
  send,
  startDaemon,
  temporaryHome,
} from './daemon-under-test.ts'

const KEYS = { openai: `sk-CNRY${'a'.repeat(44)}`, groq: `gsk_CNRY${'c'.repeat(48)}` }

/** A home with two connections whose daemon has stopped, ready to be tampered with. */
async function stoppedHome(t: TestContext) {
  const daemon = await startDaemon(t)
  const ada = await owner(daemon)
  await connect(ada, 'openai', KEYS.openai)
  await connect(ada, 'groq', KEYS.groq)
  await daemon.stop()
  return { home: daemon.home, ada }
}

async function reopened(t: TestContext, home: string, ada: Caller, env = {}) {
  const daemon = await startDaemon(t, { home, env })
  return { daemon, ada: caller(daemon, ada.handle, ada.key) }
}

function tamper(home: string, sql: string): void {
  const database = new DatabaseSync(join(home, 'server/broker.db'))
  database.exec(sql)
  database.close()
}

async function assertDetected(t: TestContext, home: string, before: Caller, pattern: RegExp) {
  const { ada } = await reopened(t, home, before)
  const { body } = await ada.call('GET', '/api/ready')
  assert.equal(body.status, 'not_ready')
  assert.ok(body.checks.integrity === 'failed' || body.checks.connections === 'failed')
  assert.match(body.issues.join(' '), pattern)
  return ada
}

async function assertWithheld(ada: Caller, pattern: RegExp) {
  for (const [method, path, body] of [
    ['POST', '/api/credentials/resolve', { host: 'api.openai.com' }],
    ['GET', '/api/connections/openai/default?reveal=true', undefined],
  ] as const) {
    const answer = await ada.call(method, path, body)
    assert.equal(answer.status, 409, answer.text)
    assert.equal(answer.body.error, 'CredentialMissingError')
    assert.match(answer.body.message, pattern)
    assert.match(answer.body.hint, /--accept-restore/)
    assert.doesNotMatch(answer.text, /CNRY/)
  }
}

describe('the sealed records', () => {
  const sealedOf = (provider: string) => `(select sealed from records where id = '${provider}/default')`

  it('do not open when two ciphertexts are swapped', async (t) => {
    const { home, ada } = await stoppedHome(t)
    tamper(
      home,
      `create temp table s as select id, sealed, version from records;
       update records set sealed = (select sealed from s where s.id <> records.id),
                          version = (select version from s where s.id <> records.id)`,
    )
    const again = await assertDetected(t, home, ada, /changed outside of Broker/)
    const answer = await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })
    assert.equal(answer.status, 409)
    assert.equal(answer.body.error, 'CredentialMissingError')
    assert.doesNotMatch(answer.text, /CNRY/)
  })

  it('do not open under another name, in another vault, or bound to another destination', async (t) => {
    const changes = [
      `update records set id = 'openai/other' where id = 'openai/default';
       update connections set connection = 'other' where provider = 'openai'`,
      `update records set vault_id = 'another'; update connections set vault_id = 'another'`,
      `update records set binding = 'another' where id = 'openai/default'`,
      `update records set kind = 'probe' where id = 'openai/default'`,
      `update records set version = version + 1 where id = 'openai/default'`,
    ]
    for (const sql of changes) {
      const { home, ada } = await stoppedHome(t)
      tamper(home, sql)
      await assertDetected(t, home, ada, /changed outside|holds|has no credential|belongs to no/)
    }
  })

  it('show one that was deleted, copied, or put back in an older version', async (t) => {
    const { home, ada } = await stoppedHome(t)
    tamper(home, `delete from records where id = 'groq/default'; delete from connections where provider = 'groq'`)
    await assertDetected(t, home, ada, /holds 1 records, not 2/)
  })

  it('show an older version of the same record', async (t) => {
    const first = await stoppedHome(t)
    const path = join(first.home, 'server/broker.db')
    const old = new DatabaseSync(path)
    const row = old.prepare(`select sealed, version from records where id = 'openai/default'`).get()
    old.close()
    const { daemon, ada } = await reopened(t, first.home, first.ada)
    await connect(ada, 'openai', `sk-CNRY${'z'.repeat(44)}`, { force: true })
    await daemon.stop()
    const database = new DatabaseSync(path)
    database
      .prepare(`update records set sealed = ?, version = ? where id = 'openai/default'`)
      .run(row?.['sealed'] as Uint8Array, row?.['version'] as number)
    database.close()
    const again = await assertDetected(t, first.home, ada, /replaced by an older one/)
    await assertWithheld(again, /replaced by an older one/)
    assert.deepEqual((await again.call('POST', '/api/vault/restore')).body, { status: 'ok', lost: [] })
    assert.equal((await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
  })

  it('are withheld from the moment on at which one is put back in an older version, also while in use', async (t) => {
    const first = await stoppedHome(t)
    const { ada } = await reopened(t, first.home, first.ada)
    const database = new DatabaseSync(join(first.home, 'server/broker.db'))
    const row = database.prepare(`select sealed, version from records where id = 'openai/default'`).get()
    await connect(ada, 'openai', `sk-CNRY${'z'.repeat(44)}`, { force: true })
    assert.equal((await ada.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)

    database
      .prepare(`update records set sealed = ?, version = ? where id = 'openai/default'`)
      .run(row?.['sealed'] as Uint8Array, row?.['version'] as number)
    database.close()

    await assertWithheld(ada, /replaced by an older one/)
  })

  it('are withheld where the vault holds another number than it should, and a run is told', async (t) => {
    const { home, ada } = await stoppedHome(t)
    tamper(home, `delete from records where id = 'groq/default'; delete from connections where provider = 'groq'`)
    const { ada: again } = await reopened(t, home, ada)

    await assertWithheld(again, /holds 1 records, not 2/)

    const run = await again.call('POST', '/api/runs', { did: generateSigningKey().did })
    assert.equal(run.status, 201)
    assert.match(run.body.warnings.join(), /Nothing of this vault is given out[\s\S]*--accept-restore/)
  })

  it('show a whole store that is older than the last one seen', async (t) => {
    const first = await stoppedHome(t)
    const path = join(first.home, 'server/broker.db')
    copyFileSync(path, `${path}.backup`)
    const { daemon, ada } = await reopened(t, first.home, first.ada)
    await connect(ada, 'openai', `sk-CNRY${'z'.repeat(44)}`, { force: true })
    await daemon.stop()
    copyFileSync(`${path}.backup`, path)
    rmSync(`${path}-wal`, { force: true })
    const again = await assertDetected(t, first.home, ada, /older than the last one seen/)
    assert.deepEqual((await again.call('POST', '/api/vault/restore')).body, { status: 'ok', lost: [] })
    assert.equal((await again.call('GET', '/api/ready')).body.status, 'ready')
  })

  it('go on when the anchor cannot be written, and say so', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    // A folder stands where the file belongs.
    rmSync(join(daemon.home, 'server/vault-anchor.json'), { force: true })
    mkdirSync(join(daemon.home, 'server/vault-anchor.json/x'), { recursive: true })
    await connect(ada, 'openai', KEYS.openai)
    await connect(ada, 'groq', KEYS.groq)
    const ready = async () => (await ada.call('GET', '/api/ready')).body
    while ((await ready()).status === 'ready') await connect(ada, 'openai', KEYS.openai, { force: true })
    assert.match((await ready()).issues.join(), /vault-anchor\.json cannot be written/)
    assert.equal((await ada.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
  })

  it('can be taken as they are: what does not open is given up, and said', async (t) => {
    const { home, ada } = await stoppedHome(t)
    tamper(home, `update records set sealed = zeroblob(60) where id = 'openai/default'`)
    const again = await assertDetected(t, home, ada, /"openai\/default" was changed/)
    const forced = await again.call('POST', '/api/vault/restore')
    assert.deepEqual(forced.body, { status: 'ok', lost: [{ provider: 'openai', connection: 'default' }] })
    const { body } = await again.call('GET', '/api/ready')
    assert.deepEqual([body.status, body.issues], ['ready', undefined])
    assert.equal((await again.call('POST', '/api/credentials/resolve', { host: 'api.groq.com' })).status, 200)
    await connect(again, 'openai', KEYS.openai)
    assert.equal((await again.call('GET', '/api/ready')).body.status, 'ready')
    assert.equal((await again.call('GET', '/api/audit/events?event=vault.restored')).body.events.length, 1)
  })

  it('never give garbage for a flipped bit: every byte of one record is guarded', async (t) => {
    const { home, ada } = await stoppedHome(t)
    const database = new DatabaseSync(join(home, 'server/broker.db'))
    const { sealed } = database.prepare(`select sealed from records where id = 'openai/default'`).get() as {
      sealed: Uint8Array
    }
    database.close()
    const { ada: again } = await reopened(t, home, ada)
    const live = new DatabaseSync(join(home, 'server/broker.db'))
    const write = live.prepare(`update records set sealed = ? where id = 'openai/default'`)
    for (let at = 0; at < sealed.length; at++) {
      const flipped = Uint8Array.from(sealed)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
      write.run(flipped)
      const answer = await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })
      assert.equal(answer.status, 409, `byte ${at}`)
    }
    write.run(sealed)
    live.close()
    assert.equal((await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
  })

  it('are all that is on disk: no key, in no spelling, in any file', async (t) => {
    const { home } = await stoppedHome(t)
    const { readdirSync } = await import('node:fs')
    const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    assert.ok(files.length > 5)
    for (const file of files) {
      const bytes = readFileSync(join(file.parentPath, file.name))
      for (const key of Object.values(KEYS)) {
        for (const spelling of [
          key,
          Buffer.from(key).toString('base64').slice(4, -4),
          Buffer.from(key).toString('hex'),
        ]) {
          assert.equal(bytes.includes(spelling), false, file.name)
        }
      }
    }
  })

  it('are gone with their row: a logout leaves no ciphertext behind', async (t) => {
    const first = await stoppedHome(t)
    const path = join(first.home, 'server/broker.db')
    const database = new DatabaseSync(path)
    const { sealed } = database.prepare(`select ${sealedOf('openai')} as sealed`).get() as { sealed: Uint8Array }
    database.close()
    const { daemon, ada } = await reopened(t, first.home, first.ada)
    assert.equal((await ada.call('POST', '/api/connections/openai/default/logout')).status, 200)
    await daemon.stop()
    assert.equal(readFileSync(path).includes(Buffer.from(sealed)), false)
    assert.equal(existsSync(`${path}-wal`), false)
  })
})

describe('the master key', () => {
  const sealed = async (t: TestContext, home: string, ada: Caller, env: Record<string, string>, pattern: RegExp) => {
    const { daemon, ada: again } = await reopened(t, home, ada, env)
    const health = await again.call('GET', '/api/health')
    assert.equal(health.status, 200)
    const { body } = await again.call('GET', '/api/ready')
    assert.equal(body.status, 'not_ready')
    assert.equal(body.checks.vault, 'failed')
    assert.match(body.issues.join(' '), pattern)
    const answer = await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })
    assert.equal(answer.status, 503)
    assert.equal(answer.body.error, 'DaemonUnavailableError')
    await daemon.stop()
  }
  const key = (byte: number) =>
    Buffer.from(Array.from({ length: 32 }, (_, at) => (at * byte) & 0xff)).toString('base64')

  it('is never made anew for an existing vault: missing, wrong, cut short or repeated, it stays sealed', async (t) => {
    const { home, ada } = await stoppedHome(t)
    const path = join(home, 'server/master.key')
    const right = readFileSync(path, 'utf8')
    rmSync(path)
    await sealed(t, home, ada, {}, /key file "master.key" is missing/)
    assert.equal(existsSync(path), false)
    for (const [text, pattern] of [
      [key(7), /not the one this vault was made with/],
      [right.slice(0, 20), /must hold 32 bytes/],
      ['CNRY not a key', /must hold 32 bytes/],
      [Buffer.alloc(32).toString('base64'), /no key/],
    ] as const) {
      writeFileSync(path, text, { mode: 0o600 })
      await sealed(t, home, ada, {}, pattern)
    }
    writeFileSync(path, right, { mode: 0o600 })
    const { ada: again } = await reopened(t, home, ada)
    assert.equal((await again.call('GET', '/api/ready')).body.status, 'ready')
    assert.equal((await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
  })

  it('that is missing leaves nobody to be believed: only why is told, until it is back', async (t) => {
    const { home, ada } = await stoppedHome(t)
    const path = join(home, 'server/master.key')
    const right = readFileSync(path, 'utf8')
    rmSync(path)
    const { daemon, ada: again } = await reopened(t, home, ada)

    const { status, body } = await again.call('GET', '/api/ready')
    assert.deepEqual([status, body.status, body.sealed, body.checks.vault], [200, 'not_ready', true, 'failed'])
    assert.doesNotMatch(JSON.stringify(body), /openai|groq/)
    assert.equal((await caller(daemon, 'ada').call('GET', '/api/ready')).status, 401)
    const eve = caller(daemon, 'eve')
    const answers = await Promise.all([
      again.call('GET', '/api/whoami'),
      again.call('GET', '/api/connections'),
      again.call('POST', '/api/vault/restore'),
      eve.call('POST', '/api/identities/register', { handle: 'eve', did: eve.key.did }),
      send(daemon, 'GET', '/api/me', '', { cookie: `broker_session=${'A'.repeat(43)}` }),
    ])
    assert.deepEqual(
      new Set(answers.map((one) => `${one.status} ${one.body.error}`)),
      new Set(['503 DaemonUnavailableError']),
    )

    writeFileSync(path, right, { mode: 0o600 })
    assert.equal((await again.call('GET', '/api/ready')).body.status, 'ready')
    assert.equal((await again.call('GET', '/api/whoami')).status, 200)
  })

  it('is not replaced by one from the environment that is another', async (t) => {
    const { home, ada } = await stoppedHome(t)
    const env = { BROKER_ENCRYPTION_MODE: 'env', BROKER_MASTER_KEY: key(5) }
    await sealed(t, home, ada, env, /not the one this vault was made with/)
    await sealed(t, home, ada, { BROKER_ENCRYPTION_MODE: 'env' }, /neither BROKER_MASTER_KEY nor/)
  })

  it('comes from the environment in base64 or hex, and opens the vault it made', async (t) => {
    const env = { BROKER_MASTER_KEY: key(5) }
    const daemon = await startDaemon(t, { env })
    const ada = await owner(daemon)
    await connect(ada, 'openai', KEYS.openai)
    assert.equal((await ada.call('GET', '/api/health')).body.effective_encryption_source, 'env')
    await daemon.stop()
    assert.equal(existsSync(join(daemon.home, 'server/master.key')), false)
    const hex = Buffer.from(key(5), 'base64').toString('hex')
    const { ada: again, daemon: second } = await reopened(t, daemon.home, ada, { BROKER_MASTER_KEY: hex })
    assert.equal((await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
    await second.stop()
    // `auto` stays with the source that the vault was made with.
    await sealed(t, daemon.home, ada, {}, /neither BROKER_MASTER_KEY nor/)
  })

  it('warns of a key file that others may read, and refuses one that others may write', async (t) => {
    const { home, ada } = await stoppedHome(t)
    const path = join(home, 'server/master.key')
    chmodSync(path, 0o644)
    const { daemon, ada: again } = await reopened(t, home, ada)
    const { body } = await again.call('GET', '/api/ready')
    assert.equal(body.status, 'ready')
    assert.match(body.warnings.join(' '), /master\.key.*0644/)
    await daemon.stop()
    chmodSync(path, 0o666)
    await sealed(t, home, ada, {}, /may be written by others/)
  })

  it('is not read through a symbolic link', async (t) => {
    const { home, ada } = await stoppedHome(t)
    const path = join(home, 'server/master.key')
    copyFileSync(path, join(home, 'elsewhere'))
    rmSync(path)
    symlinkSync(join(home, 'elsewhere'), path)
    await sealed(t, home, ada, {}, /cannot be opened/)
  })
})

describe('a damaged home', () => {
  const refused = async (home: string, file: RegExp, path: string) => {
    const before = readFileSync(path)
    const { code, output } = await refusedDaemon(home)
    assert.notEqual(code, 0)
    assert.match(output, file)
    assert.deepEqual(readFileSync(path), before)
  }

  it('is refused with the name of the file, and left as it is', async (t) => {
    const { home } = await stoppedHome(t)
    const database = join(home, 'server/broker.db')
    const good = readFileSync(database)
    const broken = Buffer.from(good)
    broken.fill(0x5a, 4096, 8192)
    for (const bytes of [broken, Buffer.from('CNRY this is no database at all'), good.subarray(0, 6000)]) {
      writeFileSync(database, bytes)
      await refused(home, /broker\.db/, database)
    }
    writeFileSync(database, good)
    for (const [file, text] of [
      ['server/config.json', '{"schema_version":'],
      ['server/config.json', '[]'],
      ['server/daemon.key', 'CNRY no key'],
      ['client/config.json', '{nonsense'],
    ] as const) {
      const path = join(home, file)
      const before = existsSync(path) ? readFileSync(path) : undefined
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, text)
      await refused(home, file === 'server/daemon.key' ? /key/ : new RegExp(file.replace('.', '\\.')), path)
      if (before) writeFileSync(path, before)
      else rmSync(path)
    }
    const daemon = await startDaemon(t, { home })
    assert.ok(daemon.port > 0)
  })

  it('with a garbled write-ahead log opens at the last whole transaction, or not at all', async (t) => {
    const first = await startDaemon(t)
    const ada = await owner(first)
    await connect(ada, 'openai', KEYS.openai)
    await first.stop('SIGKILL')
    const wal = join(first.home, 'server/broker.db-wal')
    writeFileSync(wal, readFileSync(wal).subarray(0, -3000))
    const { ada: again } = await reopened(t, first.home, ada)
    const whoami = await again.call('GET', '/api/whoami')
    assert.ok([200, 401].includes(whoami.status))
    if (whoami.status === 200) {
      const { body } = await again.call('GET', '/api/ready')
      assert.ok(body.status === 'ready' || body.issues.length > 0)
    }
  })

  it('with a broken definition names it, and everything else works', async (t) => {
    const { home, ada } = await stoppedHome(t)
    mkdirSync(join(home, 'providers'), { mode: 0o700 })
    writeFileSync(join(home, 'providers', 'broken.json'), '{"name":"CNRY', { mode: 0o600 })
    const { ada: again } = await reopened(t, home, ada)
    const { body } = await again.call('GET', '/api/ready')
    assert.equal(body.checks.providers, 'failed')
    assert.match(body.issues.join(' '), /broken\.json/)
    assert.doesNotMatch(JSON.stringify(body), /CNRY/)
    assert.equal((await again.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
  })

  it('written by a newer version is refused, and not changed', async (t) => {
    const { home } = await stoppedHome(t)
    tamper(
      home,
      `insert into kysely_migration (name, timestamp) values ('9999_from_the_future', '2030-01-01T00:00:00.000Z')`,
    )
    const { code, output } = await refusedDaemon(home)
    assert.equal(code, 9)
    assert.match(output, /newer version/)
  })
})

describe('the files of a home', () => {
  it('are for their owner alone, however loose the mask', async (t) => {
    const home = temporaryHome(t)
    const before = process.umask(0)
    t.after(() => process.umask(before))
    const daemon: DaemonUnderTest = await startDaemon(t, { home })
    await owner(daemon)
    const { readdirSync, statSync } = await import('node:fs')
    for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
      assert.equal(mode & 0o077, 0, `${entry.name} has mode ${mode.toString(8)}`)
    }
  })
})

describe('the log of the daemon', () => {
  for (const kind of ['a link', 'a FIFO']) {
    it(`is not written through ${kind}`, async (t) => {
      const { home } = await stoppedHome(t)
      const log = join(home, 'server/logs/daemon.log')
      const target = join(home, 'target')
      rmSync(log)
      if (kind === 'a link') symlinkSync(target, log)
      else execFileSync('mkfifo', [log])

      const { code, output } = await refusedDaemon(home)

      assert.equal(code, 4)
      assert.match(output, /daemon\.log[\s\S]*a link, or no regular file[\s\S]*Remove it/)
      assert.equal(existsSync(target), false)
    })
  }
})
