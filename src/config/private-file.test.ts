import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { generateSigningKey, signingKeyFromPem } from '../identity/index.ts'
import { BrokerError, Secret } from '../protocol/index.ts'
import { folderOfHome, homePaths, privateFolder, refuseOtherThanFolder } from './home.ts'
import { createIdentity, readIdentity, readIdentityKey, removeIdentity } from './identities.ts'
import { createPrivateFile, readPrivateFile, sweepDrafts, writePrivateFile } from './private-file.ts'
import { ensureBootstrapSecret, ensureDaemonKey, ensureServerConfig, sweepHome } from './server-files.ts'

const DRAFT = 'config.json.0123456789ab.tmp'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function home(t: TestContext) {
  const paths = homePaths(join(folder(t), 'home'))
  privateFolder(paths.home)
  privateFolder(paths.server)
  return paths
}

describe('a private file', () => {
  it('is made once: who comes second leaves what the first one wrote', (t) => {
    const path = join(folder(t), 'a')
    assert.equal(createPrivateFile(path, 'one'), true)
    assert.equal(createPrivateFile(path, 'two'), false)
    assert.equal(readFileSync(path, 'utf8'), 'one')
  })

  it('is readable by its owner alone, and leaves nothing beside it', (t) => {
    const at = folder(t)
    createPrivateFile(join(at, 'a'), 'one')
    writePrivateFile(join(at, 'b'), 'two')
    assert.deepEqual(readdirSync(at).sort(), ['a', 'b'])
    assert.deepEqual(
      ['a', 'b'].map((name) => statSync(join(at, name)).mode & 0o777),
      [0o600, 0o600],
    )
  })

  it('that is empty is as good as none', (t) => {
    const path = join(folder(t), 'a')
    writeFileSync(path, '', { mode: 0o600 })
    assert.equal(createPrivateFile(path, 'one'), true)
    assert.equal(readFileSync(path, 'utf8'), 'one')
  })

  it('is not written through a link, and what that leads to stays as it is', (t) => {
    const at = folder(t)
    writeFileSync(join(at, 'target'), '')
    symlinkSync(join(at, 'target'), join(at, 'a'))
    assert.throws(() => createPrivateFile(join(at, 'a'), 'one'), /it is a link/)
    writePrivateFile(join(at, 'a'), 'one')
    assert.equal(readFileSync(join(at, 'target'), 'utf8'), '')
    assert.equal(readFileSync(join(at, 'a'), 'utf8'), 'one')
  })

  it('that cannot be put in its place leaves no draft', (t) => {
    const at = folder(t)
    mkdirSync(join(at, 'a', 'b'), { recursive: true })
    assert.throws(() => writePrivateFile(join(at, 'a'), 'one'))
    assert.deepEqual(readdirSync(at), ['a'])
  })
})

describe('what was planted in the place of a private file', () => {
  const plants: Readonly<Record<string, (place: string, at: string) => void>> = {
    'a link to a file': (place, at) => symlinkSync(join(at, 'target'), place),
    'a link to a device': (place) => symlinkSync('/dev/zero', place),
    'a FIFO': (place) => void execFileSync('mkfifo', [place]),
    'a device': (place) => void execFileSync('mknod', [place, 'c', '1', '5'], { stdio: 'ignore' }),
  }

  for (const [kind, plant] of Object.entries(plants)) {
    it(`is not read, not waited for and not written to, but replaced by a whole file: ${kind}`, (t) => {
      const at = folder(t)
      const path = join(at, 'a')
      writeFileSync(join(at, 'target'), 'CNRY')
      if (!isMade(() => plant(path, at))) return t.skip('this user, or this system, may make no device')

      assert.throws(() => readPrivateFile(path), /it is a link/)
      assert.throws(() => createPrivateFile(path, 'one'), /it is a link/)
      assert.throws(() => folderOfHome(path), /it is a link, or no folder/)
      assert.throws(() => refuseOtherThanFolder(path), /it is a link, or no folder/)
      writePrivateFile(path, 'one')

      assert.equal(readPrivateFile(path), 'one')
      assert.equal(readFileSync(join(at, 'target'), 'utf8'), 'CNRY')
    })
  }

  it('is no folder of the home where it is a link to one, and nothing is swept behind it', (t) => {
    const at = folder(t)
    mkdirSync(join(at, 'target'))
    writeFileSync(join(at, 'target', DRAFT), 'CNRY')
    symlinkSync(join(at, 'target'), join(at, 'a'))

    assert.throws(() => folderOfHome(join(at, 'a')), /it is a link, or no folder/)
    sweepDrafts(join(at, 'a'))

    assert.deepEqual(readdirSync(join(at, 'target')), [DRAFT])
  })
})

/** Root alone makes devices, and not in every container. */
function isMade(plant: () => void): boolean {
  try {
    plant()
    return true
  } catch {
    return false
  }
}

describe('a private file that cannot be written', () => {
  it('is named with the reason', (t) => {
    const at = folder(t)
    mkdirSync(join(at, 'a', 'b'), { recursive: true })
    assert.throws(() => writePrivateFile(join(at, 'a'), 'one'), {
      name: 'OperationNotAllowedError',
      message: `Cannot use the file "${join(at, 'a')}": it cannot be written (EISDIR)`,
    })
  })
})

describe('drafts that a crash has left', () => {
  it('are removed once they are old: files of ours, by the names of drafts, and no links', (t) => {
    const at = folder(t)
    for (const name of [DRAFT, 'acme.json.4711.tmp', 'mine.tmp', 'config.json']) writeFileSync(join(at, name), 'CNRY')
    symlinkSync(join(at, 'config.json'), join(at, 'x.json.aaaaaaaaaaaa.tmp'))
    mkdirSync(join(at, 'y.json.bbbbbbbbbbbb.tmp'))
    sweepDrafts(at, 60_000)
    assert.equal(readdirSync(at).length, 6)
    sweepDrafts(at)
    assert.deepEqual(readdirSync(at).sort(), [
      'config.json',
      'mine.tmp',
      'x.json.aaaaaaaaaaaa.tmp',
      'y.json.bbbbbbbbbbbb.tmp',
    ])
  })

  it('of the daemon go at its start; those of a command that may be writing now stay', (t) => {
    const paths = home(t)
    privateFolder(paths.identities)
    const [own, young, old] = [
      join(paths.server, 'master.key.0123456789ab.tmp'),
      join(paths.identities, 'ada.key.0123456789ab.tmp'),
      join(paths.identities, 'bob.key.0123456789ab.tmp'),
    ]
    for (const path of [own, young, old]) writeFileSync(path, 'CNRY')
    const yesterday = Date.now() / 1000 - 86_400
    utimesSync(old, yesterday, yesterday)
    // A clock that was set back: what the daemon's draft says of its age is not asked.
    utimesSync(own, Date.now() / 1000 + 60, Date.now() / 1000 + 60)
    sweepHome(paths)
    assert.deepEqual([own, young, old].map(existsSync), [false, true, false])
  })
})

describe('an empty file of the daemon', () => {
  it('is made anew at a first start', (t) => {
    const paths = home(t)
    for (const path of [paths.serverConfig, paths.bootstrapSecret, paths.daemonKey])
      writeFileSync(path, '', { mode: 0o600 })
    assert.deepEqual(ensureServerConfig(paths), { schemaVersion: 1 })
    assert.equal(ensureBootstrapSecret(paths).reveal(), ensureBootstrapSecret(paths).reveal())
    const key = ensureDaemonKey(paths, () => new Secret('CNRY-key'), false)
    assert.equal(ensureDaemonKey(paths, () => new Secret('CNRY-other'), true).reveal(), key.reveal())
  })

  it('is not made anew where clients know the daemon by what was in it', (t) => {
    const paths = home(t)
    writeFileSync(paths.daemonKey, '', { mode: 0o600 })
    assert.throws(
      () => ensureDaemonKey(paths, () => new Secret('CNRY-key'), true),
      (error) => error instanceof BrokerError && /daemon\.key": it is empty/.test(error.message),
    )
    assert.equal(readFileSync(paths.daemonKey, 'utf8'), '')
  })
})

describe('an identity', () => {
  const make = (paths: ReturnType<typeof home>) => createIdentity(paths, 'ada', generateSigningKey)

  it('whose making was cut off behind its key is made with that', (t) => {
    const paths = home(t)
    const key = generateSigningKey()
    writeFileSync(join(privateFolder(paths.identities), 'ada.key'), key.toPem().reveal(), { mode: 0o600 })
    assert.equal(make(paths)?.did, key.did)
    assert.equal(readIdentity(paths, 'ada')?.did, key.did)
  })

  it('whose files are empty is made anew', (t) => {
    const paths = home(t)
    privateFolder(paths.identities)
    for (const name of ['ada.key', 'ada.json']) writeFileSync(join(paths.identities, name), '', { mode: 0o600 })
    const made = make(paths)
    assert.equal(signingKeyFromPem(readIdentityKey(paths, 'ada') ?? new Secret(''), 'ada').did, made?.did)
    assert.deepEqual(readIdentity(paths, 'ada'), made)
  })

  it('that is there keeps its key, or the lack of it', (t) => {
    const paths = home(t)
    const made = make(paths)
    assert.equal(make(paths), undefined)
    assert.equal(signingKeyFromPem(readIdentityKey(paths, 'ada') ?? new Secret(''), 'ada').did, made?.did)
    rmSync(join(paths.identities, 'ada.key'))
    assert.equal(make(paths), undefined)
    assert.equal(readIdentityKey(paths, 'ada'), undefined)
  })

  it('whose removal was cut off leaves no key for a later one', (t) => {
    const paths = home(t)
    const made = make(paths)
    rmSync(join(paths.identities, 'ada.json'))
    mkdirSync(join(paths.identities, 'ada.json'))
    assert.throws(() => removeIdentity(paths, 'ada'))
    rmSync(join(paths.identities, 'ada.json'), { recursive: true })
    assert.notEqual(make(paths)?.did, made?.did)
  })
})
