import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { caller, connect, owner, refusedDaemon, startDaemon, temporaryHome } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const OWN_FILES = ['config.json', 'daemon.key', 'daemon.json', 'bootstrap.secret', 'master.key', 'vault-anchor.json']
const LOCAL_KEY = { BROKER_ENCRYPTION_MODE: 'local_key' }

describe('a first start that was cut off', () => {
  it('between the making and the writing of its files, by a version that did both, is a first start again', async (t) => {
    const home = temporaryHome(t)
    mkdirSync(join(home, 'server'), { recursive: true, mode: 0o700 })
    for (const name of OWN_FILES) writeFileSync(join(home, 'server', name), '', { mode: 0o600 })
    writeFileSync(join(home, 'server', 'master.key.0123456789ab.tmp'), 'CNRY', { mode: 0o600 })

    const daemon = await startDaemon(t, { home, env: LOCAL_KEY })
    const ada = await owner(daemon)
    await connect(ada, 'openai', markedSecret('sk-'))

    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
    // While it runs, it writes drafts of its own.
    await daemon.stop()
    assert.deepEqual(
      readdirSync(join(home, 'server')).filter((name) => name.endsWith('.tmp')),
      [],
    )
    const again = caller(await startDaemon(t, { home, env: LOCAL_KEY }), 'ada', ada.key)
    assert.equal((await again.call('GET', '/api/ready')).body.status, 'ready')
  })
})

describe('a first start that was cut off before the ledger of used proofs was made', () => {
  it('takes the first proof in the very second that it begins', async (t) => {
    const first = await startDaemon(t)
    await first.stop('SIGKILL')
    for (const ending of ['', '-wal', '-shm']) rmSync(join(first.home, 'server', `replay.db${ending}`), { force: true })

    const ada = await owner(await startDaemon(t, { home: first.home }))

    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
  })
})

describe('a daemon that cannot write who it is, once it listens', () => {
  it('ends with the reason, and listens no more', async (t) => {
    const home = temporaryHome(t)
    mkdirSync(join(home, 'server', 'daemon.json', 'full'), { recursive: true, mode: 0o700 })

    const { code, output } = await refusedDaemon(home, LOCAL_KEY)

    assert.equal(code, 4)
    assert.match(output, /^broker: Cannot use the file "[^"]*daemon\.json": it cannot be written \(\w+\)/)
  })
})

describe('a home that is in use', () => {
  it('gets no new master key for an empty file: the vault stays sealed and says so', async (t) => {
    const daemon = await startDaemon(t, { env: LOCAL_KEY })
    const ada = await owner(daemon)
    await connect(ada, 'openai', markedSecret('sk-'))
    await daemon.stop()
    const path = join(daemon.home, 'server', 'master.key')
    writeFileSync(path, '')

    const again = caller(await startDaemon(t, { home: daemon.home }), 'ada', ada.key)

    const { body } = await again.call('GET', '/api/ready')
    assert.equal(body.status, 'not_ready')
    assert.match(body.issues.join(' '), /the key file "master\.key" is empty: put it back from a backup/)
    assert.equal(readFileSync(path, 'utf8'), '')
  })

  it('gets no new key of the daemon for an empty file: clients know it by the one that was there', async (t) => {
    const daemon = await startDaemon(t)
    await owner(daemon)
    await daemon.stop()
    const path = join(daemon.home, 'server', 'daemon.key')
    writeFileSync(path, '')

    const { code, output } = await refusedDaemon(daemon.home)

    assert.equal(code, 4)
    assert.match(output, /daemon\.key": it is empty\n {2}.*put it back from a backup/)
    assert.equal(readFileSync(path, 'utf8'), '')
  })
})
