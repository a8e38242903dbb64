import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, beforeEach, describe, it, type TestContext } from 'node:test'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { type Postgres, startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { type EncryptionMode, Secret } from '../../protocol/index.ts'
import { openStore, type Store, type StoreLocation } from '../store/index.ts'
import { systemKeyring } from './keyring.ts'
import { openVault, type RecordRef, type Vault } from './open-vault.ts'

const VAULT = 'vault'
const BOUND_TO = 'api.acme.test'
const COUNT = 250
const PASSPHRASE = new Secret('CNRY five words that differ')
const ref = (at: number): RecordRef => ({ vaultId: VAULT, kind: 'connection', id: `acme/${at}` })
const nothing = async () => undefined
const unsigned = async () => ({ newestRoot: 0 })

describe('the keys of a vault on SQLite', () => {
  let folder = ''
  let location: StoreLocation
  beforeEach((t) => {
    assert.ok('after' in t)
    folder = mkdtempSync(join(tmpdir(), 'broker-keys-'))
    location = { kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') }
    t.after(() => rmSync(folder, { recursive: true }))
  })
  promises(() => ({ location, folder, next: () => folder }))

  it('go through an end of the daemon between the store and the key file', async (t) => {
    const { store, vault } = await opened(t, { location, folder })
    await filled(store, vault)
    const old = readFileSync(join(folder, 'master.key'))
    await vault.rekey('local_key', {}, unsigned)
    // As if the store had been changed, and nothing after.
    renameSync(join(folder, 'master.key'), join(folder, 'master.key.next'))
    writeFileSync(join(folder, 'master.key'), old, { mode: 0o600 })
    await store.close()

    const again = await opened(t, { location, folder })
    assert.equal(again.vault.status().kind, 'open')
    await readAll(again)
    assert.equal(existsSync(join(folder, 'master.key.next')), false)
    assert.notDeepEqual(readFileSync(join(folder, 'master.key')), old)
  })

  it('go through an end of the daemon before the store: the key of before is the key', async (t) => {
    const { store, vault } = await opened(t, { location, folder })
    await filled(store, vault)
    const refused = vault.rekey('passphrase', { passphrase: PASSPHRASE }, () => Promise.reject(new Error('killed')))
    await assert.rejects(refused, /killed/)
    await store.close()
    const again = await opened(t, { location, folder })
    await readAll(again)
    assert.deepEqual((await again.vault.integrity(VAULT)).issues, [])
  })

  it('leave no old key file behind, also where it could not be removed at once', async (t) => {
    const { store, vault } = await opened(t, { location, folder })
    await filled(store, vault)
    const old = readFileSync(join(folder, 'master.key'))
    await vault.rekey('passphrase', { passphrase: PASSPHRASE }, unsigned)
    assert.equal(existsSync(join(folder, 'master.key')), false)
    await vault.lock()
    // An old key that is put back opens nothing, nor is it taken for anything.
    writeFileSync(join(folder, 'master.key'), old, { mode: 0o600 })
    assert.equal((await vault.unlockFor(undefined)).kind, 'sealed')
    assert.equal((await vault.unlockFor(PASSPHRASE)).kind, 'open')
  })

  it('are not changed where the vault is not what Broker wrote', async (t) => {
    const { store, vault } = await opened(t, { location, folder })
    await filled(store, vault)
    await store.db.deleteFrom('records').where('id', '=', ref(1).id).execute()
    await assert.rejects(
      vault.rekey('passphrase', { passphrase: PASSPHRASE }, unsigned),
      /was changed outside of Broker/,
    )
    assert.equal((await vault.standing(VAULT)).source, 'local_key')
    assert.equal((await vault.get(store.db, ref(2), BOUND_TO))?.plaintext.reveal(), 'CNRY 2')
  })
})

describe('the keys of a vault on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  let count = 0
  let folder = ''
  let location: StoreLocation
  before(async () => {
    postgres = await startPostgres(cleanup)
  })
  beforeEach(async (t) => {
    assert.ok('after' in t)
    count += 1
    folder = mkdtempSync(join(tmpdir(), 'broker-keys-'))
    location = { kind: 'postgres', url: new Secret(await postgres.newDatabase(`keys_${count}`)) }
    t.after(() => rmSync(folder, { recursive: true }))
  })
  promises(() => ({ location, folder, next: () => folder }))

  it('are followed by another daemon: it neither fails nor writes under an old key', async (t) => {
    const key = join(folder, 'key')
    writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 })
    const one = await opened(t, { location, folder, mode: 'env' })
    await filled(one.store, one.vault)
    const other = await opened(t, { location, folder, mode: 'env' })
    await readAll(other)

    let isOver = false
    const busy = (async () => {
      for (let at = 0; !isOver; at = (at + 1) % COUNT) {
        // As each request does.
        await other.vault.generation(other.store.db, VAULT)
        await other.vault.get(other.store.db, ref(at), BOUND_TO)
        await other.store.vaultTransaction(VAULT, (tx) =>
          other.vault.put(tx, ref(at), BOUND_TO, new Secret(`CNRY ${at}`)),
        )
      }
    })()
    await one.store.vaultTransaction(VAULT, (tx) => one.vault.rotate(tx, VAULT))
    while ((await one.vault.sealSomeAnew(VAULT, nothing)) !== 'done');
    isOver = true
    await busy
    assert.deepEqual((await other.vault.integrity(VAULT)).issues, [])
    assert.equal((await other.vault.standing(VAULT)).term, 2)

    writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 })
    await one.vault.rekey('env', {}, unsigned)
    // Its own transaction finds the other key before it writes anything.
    const late = other.store.vaultTransaction(VAULT, (tx) =>
      other.vault.put(tx, ref(0), BOUND_TO, new Secret('CNRY late')),
    )
    await assert.rejects(late, { name: 'DaemonUnavailableError', message: /another key at this moment/ })
    await other.vault.generation(other.store.db, VAULT)
    await other.store.vaultTransaction(VAULT, (tx) => other.vault.put(tx, ref(0), BOUND_TO, new Secret('CNRY 0')))
    await readAll(one)
    for (const { vault } of [one, other]) assert.deepEqual((await vault.integrity(VAULT)).issues, [])

    // One that has not got the key is sealed, and says so.
    const third = await opened(t, { location, folder, mode: 'env' })
    const stale = await opened(t, { location, folder, mode: 'env' })
    writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 })
    await third.vault.rekey('env', {}, unsigned)
    writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 })
    await stale.vault.generation(stale.store.db, VAULT)
    const status = stale.vault.status()
    assert.ok(status.kind === 'sealed')
    assert.match(status.cause, /not the one this vault was made with/)
  })
})

interface Place {
  readonly location: StoreLocation
  readonly folder: string
  readonly mode?: EncryptionMode
}

async function opened(
  t: TestContext,
  { location, folder, mode = 'local_key' }: Place,
): Promise<{ store: Store; vault: Vault }> {
  const store = await openStore(location)
  let isClosed = false
  const close = store.close.bind(store)
  const once: Store = Object.assign(store, {
    close: async () => {
      if (!isClosed) await close()
      isClosed = true
    },
  })
  t.after(() => once.close())
  const write = (path: string, text: Buffer) => writeFileSync(path, text, { mode: 0o600 })
  const vault = await openVault({
    store: once,
    masterKey: {
      mode,
      localKeyPath: join(folder, 'master.key'),
      masterKeyFile: join(folder, 'key'),
      command: { line: `cat '${join(folder, 'printed')}'`, environment: { PATH: process.env['PATH'] ?? '' } },
      createFile: (path, text) => existsSync(path) || write(path, text),
      files: { replace: write, move: renameSync, remove: (path) => rmSync(path, { force: true }) },
      // It answers nobody here.
      keyring: { ...systemKeyring(), set: () => Promise.reject(new Error('none')), get: nothing },
    },
    anchorFile: {
      read: () => (existsSync(join(folder, 'anchor')) ? readFileSync(join(folder, 'anchor'), 'utf8') : undefined),
      write: (text) => writeFileSync(join(folder, 'anchor'), text),
    },
  })
  return { store: once, vault }
}

async function filled(store: Store, vault: Vault): Promise<void> {
  await store.transaction((tx) => vault.create(tx, VAULT))
  await store.vaultTransaction(VAULT, async (tx) => {
    for (let at = 0; at < COUNT; at += 1) await vault.put(tx, ref(at), BOUND_TO, new Secret(`CNRY ${at}`))
  })
  await vault.anchorChanges()
}

async function readAll({ store, vault }: { readonly store: Store; readonly vault: Vault }): Promise<void> {
  for (let at = 0; at < COUNT; at += 1)
    assert.equal((await vault.get(store.db, ref(at), BOUND_TO))?.plaintext.reveal(), `CNRY ${at}`)
}

/** What holds on each kind of store. */
function promises(place: () => Place): void {
  it('are rotated while records are read and changed, and go on after a kill at any batch', async (t) => {
    const one = await opened(t, { ...place(), mode: 'local_key' })
    await filled(one.store, one.vault)
    const { version } = await one.store.db
      .selectFrom('records')
      .select('version')
      .where('id', '=', ref(7).id)
      .executeTakeFirstOrThrow()
    const before = await one.store.db
      .selectFrom('records')
      .selectAll()
      .where('id', '=', ref(7).id)
      .executeTakeFirstOrThrow()
    await one.store.vaultTransaction(VAULT, (tx) => one.vault.rotate(tx, VAULT))
    assert.equal(await one.vault.sealSomeAnew(VAULT, nothing), 'more')
    assert.deepEqual((await one.vault.integrity(VAULT)).issues, [])
    await one.store.close()

    const other = await opened(t, { ...place(), mode: 'local_key' })
    assert.deepEqual(await other.vault.unfinishedRotations(), [VAULT])
    await other.store.vaultTransaction(VAULT, (tx) => other.vault.put(tx, ref(3), BOUND_TO, new Secret('CNRY 3')))
    // To begin it again goes on with it.
    assert.equal(await other.store.vaultTransaction(VAULT, (tx) => other.vault.rotate(tx, VAULT)), 2)
    const killed = () => Promise.reject(new Error('killed'))
    const finish = async () => {
      for (;;) if ((await other.vault.sealSomeAnew(VAULT, killed)) !== 'more') return
    }
    await assert.rejects(finish(), /killed/)
    assert.deepEqual(await other.vault.unfinishedRotations(), [VAULT])
    let told = 0
    assert.equal(
      await other.vault.sealSomeAnew(VAULT, async () => {
        told += 1
      }),
      'done',
    )
    assert.equal(told, 1)
    assert.deepEqual(await other.vault.unfinishedRotations(), [])
    await readAll(other)
    const { issues, records } = await other.vault.integrity(VAULT)
    assert.deepEqual({ issues, records }, { issues: [], records: COUNT })
    const terms = await other.store.db.selectFrom('records').select('term').distinct().execute()
    assert.deepEqual(
      terms.map(({ term }) => term),
      [2],
    )
    const keys = await other.store.db.selectFrom('data_keys').select('term').where('vault_id', '=', VAULT).execute()
    assert.deepEqual(
      keys.map(({ term }) => term),
      [2],
    )

    // A refresh that has read the version meanwhile is not in the way.
    const now = await other.store.db
      .selectFrom('records')
      .selectAll()
      .where('id', '=', ref(7).id)
      .executeTakeFirstOrThrow()
    assert.equal(now.version, version)
    // Whoever read it just before finds it all the same; whoever puts it back is found.
    assert.equal((await other.vault.unseal(other.store.db, ref(7), BOUND_TO, before)).plaintext.reveal(), 'CNRY 7')
    const { term, sealed } = before
    await other.store.db.updateTable('records').set({ term, sealed }).where('id', '=', ref(7).id).execute()
    assert.notDeepEqual((await other.vault.integrity(VAULT)).issues, [])
  })

  it('come under a passphrase, a command, the environment and a file, and each time the key of before opens nothing', async (t) => {
    const { folder } = place()
    const one = await opened(t, { ...place(), mode: 'local_key' })
    await filled(one.store, one.vault)
    const first = readFileSync(join(folder, 'master.key'))
    writeFileSync(join(folder, 'printed'), `${randomBytes(32).toString('hex')}\n`)
    writeFileSync(join(folder, 'key'), randomBytes(32).toString('base64'), { mode: 0o600 })
    const signed: (string | undefined)[] = []

    for (const to of ['passphrase', 'command', 'env', 'local_key'] as const) {
      const given = to === 'passphrase' ? { passphrase: PASSPHRASE } : {}
      const root = signed.length + 1
      signed.push(one.vault.auditMac('a', root))
      await one.vault.rekey(to, given, async () => ({ newestRoot: root }))
      await readAll(one)
      assert.deepEqual((await one.vault.integrity(VAULT)).issues, [], to)
      assert.equal((await one.vault.standing(VAULT)).source, to)
      await one.vault.lock()
      assert.equal((await one.vault.unlockFor(to === 'passphrase' ? PASSPHRASE : undefined)).kind, 'open')
    }
    const macs = signed.map((_, at) => one.vault.auditMac('a', at + 1))
    assert.deepEqual(macs, signed)
    assert.equal(new Set([...signed, one.vault.auditMac('a', signed.length + 1)]).size, 5)
    await one.store.close()

    const again = await opened(t, place())
    await readAll(again)
    assert.deepEqual((await again.vault.integrity(VAULT)).issues, [])
    await again.store.close()
    writeFileSync(join(folder, 'master.key'), first, { mode: 0o600 })
    const old = await opened(t, place())
    assert.equal(old.vault.status().kind, 'sealed')
  })
}
