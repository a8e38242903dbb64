import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { generateSigningKey } from '../src/identity/index.ts'
import { type Caller, caller, owner, send, suiteCleanup } from './daemon-under-test.ts'
import {
  type AttackedHome,
  atStore,
  BOSS,
  bootstrapOf,
  copyOf,
  EVE,
  makePeople,
  type Row,
  type Served,
  type Store,
  serve,
  signInStatus,
} from './rights-world.ts'
import { browserWith } from './signed-in-browser.ts'

const SOON = '2099-01-01T00:00:00.000Z'
const NOW = '2026-11-22T09:00:00.000Z'
const TOKEN = 'CNRY a token that the thief made'
/** In the shape of a session's. */
const STOLEN = 'A'.repeat(43)

const mallory = generateSigningKey()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

interface Attack {
  readonly title: string
  readonly write: (store: Store, home: AttackedHome) => void
  /** What `doctor` says to an admin. */
  readonly named: RegExp
  /** That it conferred nothing. */
  readonly confersNothing: (served: Served, home: AttackedHome) => Promise<void>
}

const identity = (store: Store, handle: string) => one(store, `select * from identities where handle = '${handle}'`)
const one = (store: Store, query: string): Row => store.all(query)[0] ?? assert.fail(query)

async function isNobody(who: Caller): Promise<void> {
  const answer = await who.call('GET', '/api/whoami')
  assert.deepEqual([answer.status, answer.body.error], [401, 'AuthenticationFailedError'], answer.text)
  const key = await who.call('GET', '/api/connections/openai/default?reveal=true')
  assert.equal(key.status, 401)
  assert.doesNotMatch(key.text, /CNRY/)
}

async function isNoSession({ daemon }: Served, token: string): Promise<void> {
  const browser = browserWith(daemon, `broker_session=${token}`, TOKEN)
  assert.equal((await browser('GET', '/api/me')).status, 401)
  assert.equal((await browser('GET', '/api/connections/openai/default?reveal=true')).status, 401)
}

const malloryAt = ({ daemon }: Served, handle = 'mallory') => caller(daemon, handle, mallory)

const attacks: readonly Attack[] = [
  {
    title: 'an identity with the principal of its victim',
    write: (store) => {
      const { principal_id = '' } = identity(store, 'ada')
      store.insert('identities', { id: 'm', handle: 'mallory', did: mallory.did, principal_id, created_at: NOW })
    },
    named: /integrity: .*The stored identity "mallory" was changed outside of Broker\./,
    confersNothing: (served) => isNobody(malloryAt(served)),
  },
  {
    title: 'an identity with everything of its victim but the key, its MAC too',
    write: (store) =>
      store.insert('identities', { ...identity(store, 'ada'), id: 'm', handle: 'mallory', did: mallory.did }),
    named: /The stored identity "mallory" was changed outside of Broker\./,
    confersNothing: (served) => isNobody(malloryAt(served)),
  },
  {
    title: "an identity whose key was exchanged for the thief's",
    write: (store) => store.run(`update identities set did = ? where handle = 'helper'`, mallory.did),
    named: /The stored identity "helper" was changed outside of Broker\./,
    confersNothing: async (served) => {
      await isNobody(malloryAt(served, 'helper'))
      await isNobody(served.helper)
    },
  },
  {
    title: 'an identity under another id',
    write: (store) => store.run(`update identities set id = 'another' where handle = 'helper'`),
    named: /The stored identity "helper" was changed outside of Broker\./,
    confersNothing: (served) => isNobody(served.helper),
  },
  {
    title: "the thief's own identity, moved to another principal",
    write: (store) => {
      const { principal_id = '' } = identity(store, 'ada')
      store.run(`update identities set principal_id = ? where handle = 'ci'`, principal_id)
    },
    named: /The stored identity "ci" was changed outside of Broker\./,
    confersNothing: (served) => isNobody(served.ci),
  },
  {
    title: 'an identity that nobody claimed, made claimed',
    write: (store) => {
      const { principal_id = '' } = identity(store, 'ada')
      store.run(`update identities set principal_id = ? where handle = 'stray'`, principal_id)
    },
    named: /The stored identity "stray" was changed outside of Broker\./,
    confersNothing: (served) => isNobody(served.stray),
  },
  {
    title: 'the role of a principal',
    write: (store, { people }) =>
      store.run(`update principals set role = 'admin' where id = ?`, people.eve.principalId),
    named: /The stored principal "[\w-]+" was changed outside of Broker\./,
    confersNothing: async (served) => {
      await isNobody(served.ci)
      assert.equal((await served.eve('GET', '/api/me')).status, 401)
      assert.equal(await signInStatus(served.daemon, EVE), 401)
    },
  },
  {
    title: 'the vault of a principal',
    write: (store, { people }) => {
      const { vault_id = '' } = one(store, 'select vault_id from principals where local_owner = 1')
      store.run(`update principals set vault_id = 'none' where local_owner = 1`)
      store.run('update principals set vault_id = ? where id = ?', vault_id, people.eve.principalId)
      store.run(`update principals set vault_id = 'of eve' where vault_id = 'none'`)
    },
    named: /principal "[\w-]+" was changed outside of Broker\./,
    confersNothing: (served) => isNobody(served.ci),
  },
  {
    title: 'the password hashes of two accounts, swapped',
    write: (store) => {
      const hashOf = (email: string) => one(store, `select password_hash from accounts where email = '${email}'`)
      const [boss, eve] = [hashOf(BOSS.email), hashOf(EVE.email)]
      const set = 'update accounts set password_hash = ? where email = ?'
      store.run(set, eve['password_hash'] ?? '', BOSS.email)
      store.run(set, boss['password_hash'] ?? '', EVE.email)
    },
    named: /The stored account "boss@example\.com" was changed outside of Broker\./,
    confersNothing: async ({ daemon }) => {
      assert.equal(await signInStatus(daemon, { email: BOSS.email, password: EVE.password }), 401)
      assert.equal(await signInStatus(daemon, BOSS), 401)
    },
  },
  {
    title: 'a browser session of its victim',
    write: (store) => {
      const { principal_id = '' } = identity(store, 'ada')
      const hashes = { token_hash: sha256(STOLEN), csrf_hash: sha256(TOKEN) }
      const times = { created_at: NOW, last_seen_at: new Date().toISOString(), expires_at: SOON }
      store.insert('browser_sessions', { id: 's', ...hashes, principal_id, browser: 'B', ...times })
    },
    named: /The stored browser session "s" was changed outside of Broker\./,
    confersNothing: (served) => isNoSession(served, STOLEN),
  },
  {
    title: "a copy of a session with the thief's token",
    write: (store, { people }) => {
      const session = one(store, `select * from browser_sessions where principal_id = '${people.boss.principalId}'`)
      store.insert('browser_sessions', { ...session, id: 's', token_hash: sha256(STOLEN), csrf_hash: sha256(TOKEN) })
    },
    named: /The stored browser session "s" was changed outside of Broker\./,
    confersNothing: (served) => isNoSession(served, STOLEN),
  },
  {
    title: 'a link that signs in as its victim',
    write: (store) => {
      const { principal_id = '' } = identity(store, 'ada')
      store.insert('browser_links', { token_hash: sha256('stolen'), principal_id, expires_at: SOON })
    },
    named: /The stored sign-in link of the principal "[\w-]+" was changed outside of Broker\./,
    confersNothing: async ({ daemon }) => {
      const answer = await send(daemon, 'GET', '/api/session/stolen', '', { accept: 'application/json' })
      assert.equal(answer.status, 404)
      assert.equal(answer.headers['set-cookie'], undefined)
    },
  },
  {
    title: 'a run of its victim',
    write: (store) => {
      const { id = '' } = identity(store, 'ada')
      const run = { id: 'r', did: mallory.did, identity_id: id, grants: '{"connections":{}}' }
      store.insert('runs', { ...run, created_at: NOW, expires_at: SOON })
    },
    named: /The stored run "r" was changed outside of Broker\./,
    confersNothing: async (served) => {
      const thief = malloryAt(served, 'ada')
      assert.equal((await thief.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 401)
    },
  },
  {
    title: "the key of a run, exchanged for the thief's",
    write: (store) => store.run('update runs set did = ?', mallory.did),
    named: /The stored run "[\w-]+" was changed outside of Broker\./,
    confersNothing: async (served) => {
      const thief = malloryAt(served, 'ada')
      assert.equal((await thief.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 401)
    },
  },
  {
    title: "a claim of another's identity",
    write: (store) => {
      const { id = '' } = identity(store, 'stray')
      store.insert('claims', { token_hash: sha256('stolen'), identity_id: id, expires_at: SOON })
    },
    named: /The stored claim of the identity "stray" was changed outside of Broker\./,
    confersNothing: async ({ daemon, eve }) => {
      const view = await send(daemon, 'GET', '/api/claim/stolen', '', { accept: 'application/json' })
      assert.equal(view.status, 404)
      assert.equal((await eve('POST', '/api/claim/stolen/confirm', {})).status, 404)
    },
  },
]

async function issuesOf(who: Caller): Promise<string> {
  const { body } = await who.call('GET', '/api/ready')
  assert.equal(body.status, 'not_ready')
  assert.equal(body.checks.integrity, 'failed')
  return body.issues.join(' ')
}

async function isServed({ ada, run }: Served): Promise<void> {
  for (const who of [ada, run]) {
    const answer = await who.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })
    assert.equal(answer.status, 200, answer.text)
  }
}

describe('a row that another hand wrote', () => {
  let original: AttackedHome
  const cleanup = suiteCleanup()
  before(async () => {
    original = await makePeople(cleanup)
  })

  for (const { title, write, named, confersNothing } of attacks) {
    it(`${title}: confers nothing and is named, written beside the daemon or before it starts`, async (t) => {
      const [running, stopped] = [copyOf(t, original), copyOf(t, original)]
      const served = await serve(t, running)
      await served.ci.call('GET', '/api/whoami')
      atStore(running.home, (store) => write(store, running))
      assert.match(await issuesOf(served.ada), named)
      await confersNothing(served, running)
      await served.daemon.stop()

      atStore(stopped.home, (store) => write(store, stopped))
      const later = await serve(t, stopped)
      assert.match(await issuesOf(later.ada), named)
      await confersNothing(later, stopped)
    })
  }

  it('leaves everything else at work: the others, their runs, browsers and passwords', async (t) => {
    const home = copyOf(t, original)
    const planted = attacks.filter(({ title }) => /with the principal|role|browser session of|a run of/.test(title))
    atStore(home.home, (store) => planted.map(({ write }) => write(store, home)))
    const served = await serve(t, home)
    assert.match(await issuesOf(served.ada), /"mallory"[\s\S]*run "r"/)
    await isServed(served)
    assert.equal((await served.helper.call('GET', '/api/whoami')).status, 200)
    assert.equal((await served.boss('GET', '/api/me')).body.email, BOSS.email)
    assert.equal(await signInStatus(served.daemon, BOSS), 200)
    assert.equal((await owner(served.daemon, 'newcomer')).handle, 'newcomer')
  })

  it('is not told to users whom it does not concern', async (t) => {
    const home = copyOf(t, original)
    const served = await serve(t, home)
    atStore(home.home, (store) => attacks[0]?.write(store, home))
    assert.equal((await served.ci.call('GET', '/api/ready')).body.status, 'ready')
  })

  it('is put right by `doctor --accept-restore`: what was changed is put back, what was planted goes', async (t) => {
    const home = copyOf(t, original)
    const some = attacks.filter(({ title }) =>
      /with the principal|under another id|the role|the vault of|swapped/.test(title),
    )
    assert.equal(some.length, 5)
    atStore(home.home, (store) => {
      for (const { write } of some) write(store, home)
    })
    const served = await serve(t, home)
    await issuesOf(served.ada)

    // Her own row is among them: it takes the user of the machine.
    assert.equal((await served.ada.call('POST', '/api/vault/restore')).status, 403)
    const { body } = await served.ada.call('POST', '/api/vault/restore', undefined, bootstrapOf(home.home))

    assert.match(body.rights.join(' '), /Removed: identity "mallory"\..*Put back: identity "helper"\./)
    const ready = await served.ada.call('GET', '/api/ready')
    assert.deepEqual([ready.body.status, ready.body.issues], ['ready', undefined])
    await isNobody(malloryAt(served))
    assert.equal((await served.helper.call('GET', '/api/whoami')).status, 200)
    assert.equal((await served.ci.call('GET', '/api/whoami')).body.principal_role, 'user')
    assert.equal(await signInStatus(served.daemon, BOSS), 200)
  })

  it('of the only agent is put right by registering its key again', async (t) => {
    const home = copyOf(t, original)
    atStore(home.home, (store) => store.run(`update identities set handle = 'mallory' where handle = 'ci'`))
    const { ci } = await serve(t, home)
    await isNobody(ci)
    const again = await ci.call('POST', '/api/identities/register', { handle: 'ci', did: ci.key.did })
    assert.deepEqual([again.status, again.body.status], [201, 'claim_required'])
  })
})

describe('a row of another deployment', () => {
  const cleanup = suiteCleanup()

  it('is nobody here, with its principal, its list and its MACs', async (t) => {
    const [here, there] = [await makePeople(cleanup), await makePeople(cleanup)]
    const { principalId } = there.people.eve
    const foreign = atStore(there.home, (store) => ({
      principals: store.all('select * from principals where id = ?', principalId),
      accounts: store.all('select * from accounts where principal_id = ?', principalId),
      identities: store.all('select * from identities where principal_id = ?', principalId),
      manifests: store.all('select * from manifests where vault_id = ?', `rights/${principalId}`),
    }))
    atStore(here.home, (store) => {
      store.run('delete from accounts where email = ?', EVE.email)
      for (const [table, rows] of Object.entries(foreign)) for (const row of rows) store.insert(table, row)
    })
    const served = await serve(t, here)
    await isNobody(caller(served.daemon, 'ci', there.people.ci))
    assert.equal(await signInStatus(served.daemon, EVE), 401)
    assert.match(await issuesOf(served.ada), /The stored principal "[\w-]+" was changed outside of Broker/)
    await isServed(served)
  })
})

describe('a row that was taken back', () => {
  let original: AttackedHome
  const cleanup = suiteCleanup()
  before(async () => {
    original = await makePeople(cleanup)
  })

  /** Does something, and gives what the rows of these tables were before. */
  async function changed(t: TestContext, change: (served: Served) => Promise<unknown>) {
    const home = copyOf(t, original)
    const served = await serve(t, home)
    const tables = ['principals', 'accounts', 'identities', 'browser_sessions', 'manifests'] as const
    const past = atStore(home.home, (store) =>
      Object.fromEntries(tables.map((table) => [table, store.all(`select * from ${table}`)] as const)),
    )
    await change(served)
    const of = (table: (typeof tables)[number]) => past[table] ?? []
    return { home, served, of }
  }

  const putBack = (store: Store, table: string, key: string, rows: readonly Row[]) => {
    for (const row of rows) {
      store.run(`delete from ${table} where ${key} = ?`, row[key] ?? '')
      store.insert(table, row)
    }
  }

  /** Restarts the daemon, to which nothing is left but what is on disk. */
  async function restarted(t: TestContext, home: AttackedHome, { daemon }: Served): Promise<Served> {
    await daemon.stop()
    return serve(t, home)
  }

  it('a removed identity stays removed', async (t) => {
    const { home, served, of } = await changed(t, ({ ada }) => ada.call('DELETE', '/api/identities/helper'))
    const row = of('identities').filter(({ handle }) => handle === 'helper')
    atStore(home.home, (store) => putBack(store, 'identities', 'id', row))
    await isNobody(served.helper)
    assert.match(await issuesOf(served.ada), /The stored identity "helper" was changed outside of Broker/)
    const later = await restarted(t, home, served)
    await isNobody(later.helper)
    assert.match(await issuesOf(later.ada), /The stored identity "helper" was changed outside of Broker/)
    await isServed(later)
  })

  it('an old password stays the old one, and an ended session ended', async (t) => {
    const password = 'CNRY a third long phrase'
    const { home, served, of } = await changed(t, async ({ eve, daemon }) => {
      assert.equal(await signInStatus(daemon, EVE), 200)
      const answer = await eve('POST', '/api/auth/password', { current: EVE.password, password })
      assert.equal(answer.status, 200, answer.text)
    })
    atStore(home.home, (store) => {
      putBack(store, 'accounts', 'principal_id', of('accounts'))
      putBack(store, 'browser_sessions', 'id', of('browser_sessions'))
    })
    assert.equal(await signInStatus(served.daemon, EVE), 401)
    assert.equal((await served.eve('GET', '/api/me')).status, 401, 'the session of the epoch before')
    assert.match(await issuesOf(served.ada), /The stored account "eve@example\.com" was changed outside of Broker/)
    const later = await restarted(t, home, served)
    assert.equal(await signInStatus(later.daemon, EVE), 401)
    assert.equal((await later.boss('GET', '/api/me')).status, 200)
  })

  it('an older row of a principal is not believed, nor its epoch', async (t) => {
    const password = 'CNRY a third long phrase'
    const { home, served, of } = await changed(t, ({ eve }) =>
      eve('POST', '/api/auth/password', { current: EVE.password, password }),
    )
    assert.equal((await served.ci.call('GET', '/api/whoami')).status, 200)
    const row = of('principals').filter(({ id }) => id === home.people.eve.principalId)
    atStore(home.home, (store) => putBack(store, 'principals', 'id', row))
    await isNobody(served.ci)
    assert.match(await issuesOf(served.ada), /The stored principal "[\w-]+" was changed outside of Broker/)
    await isNobody((await restarted(t, home, served)).ci)
  })

  async function isSuspended({ helper }: Served): Promise<void> {
    await isNobody(helper)
    assert.match(await issuesOf(helper), /older than the last one seen here/)
    const refused = await helper.call('POST', '/api/vault/restore')
    assert.deepEqual([refused.status, refused.body.error], [403, 'OperationNotAllowedError'])
  }

  it('an older list shows, with the rows that were on it; only the owner of the machine may take it', async (t) => {
    const { home, served, of } = await changed(t, ({ ada }) => ada.call('DELETE', '/api/identities/helper'))
    await served.ada.call('GET', '/api/whoami')
    atStore(home.home, (store) => {
      putBack(
        store,
        'manifests',
        'vault_id',
        of('manifests').filter(({ vault_id }) => String(vault_id).startsWith('rights/')),
      )
      putBack(
        store,
        'identities',
        'id',
        of('identities').filter(({ handle }) => handle === 'helper'),
      )
    })
    await isSuspended(served)
    const last = await restarted(t, home, served)
    await isSuspended(last)
    const taken = await last.ada.call('POST', '/api/vault/restore', undefined, bootstrapOf(home.home))
    assert.equal(taken.status, 200, taken.text)
    await isServed(last)
    assert.equal((await last.ada.call('GET', '/api/ready')).body.status, 'ready')
  })

  it('a whole store of before shows, is mended by its owner, and never by who kept a removed key', async (t) => {
    const home = copyOf(t, original)
    const path = join(home.home, 'server/broker.db')
    copyFileSync(path, `${path}.backup`)
    const first = await serve(t, home)
    await first.ada.call('DELETE', '/api/identities/helper')
    await first.daemon.stop()
    copyFileSync(`${path}.backup`, path)
    rmSync(`${path}-wal`, { force: true })

    const served = await serve(t, home)
    await isNobody(served.helper)
    assert.match(await issuesOf(served.ada), /older than the last one seen here[\s\S]*--accept-restore/)
    assert.equal((await served.helper.call('POST', '/api/vault/restore')).status, 403)
    const registerAda = { handle: 'ada', did: served.ada.key.did }
    const again = await served.ada.call('POST', '/api/identities/register', registerAda)
    assert.deepEqual([again.status, again.body.error], [503, 'DaemonUnavailableError'], 'nothing is lost meanwhile')
    const { status, text } = await served.ada.call('POST', '/api/vault/restore', undefined, bootstrapOf(home.home))
    assert.equal(status, 200, text)
    const { body } = await served.ada.call('GET', '/api/ready')
    assert.deepEqual([body.status, body.issues], ['ready', undefined])
    assert.equal((await served.ada.call('POST', '/api/identities/register', registerAda)).status, 200)
    const handles = (await served.ada.call('GET', '/api/identities')).body.identities
    assert.deepEqual(
      handles.map((row: { identity: string }) => row.identity),
      ['ada', 'helper'],
    )
  })
})

describe('the key of rows', () => {
  let original: AttackedHome
  const cleanup = suiteCleanup()
  before(async () => {
    original = await makePeople(cleanup)
  })

  const plant = (store: Store) => {
    const { principal_id = '' } = identity(store, 'ada')
    store.insert('identities', { id: 'm', handle: 'mallory', did: mallory.did, principal_id, created_at: NOW })
  }
  const takeAway = (store: Store) => {
    store.run(`delete from data_keys where vault_id = 'rights'`)
    store.run(`delete from manifests where vault_id = 'rights' or vault_id like 'rights/%'`)
  }

  /** That nobody got in, and nothing was taken as it was found. */
  async function isNotTakenAgain(t: TestContext, home: AttackedHome): Promise<void> {
    const served = await serve(t, home)
    for (const who of [malloryAt(served), served.ada]) {
      const answer = await who.call('GET', '/api/whoami')
      assert.deepEqual([answer.status, answer.body.error], [503, 'DaemonUnavailableError'], answer.text)
    }
    assert.match(await issuesOf(served.ada), /key of the rows that say who is who was removed or changed/)
    atStore(home.home, (store) => {
      assert.deepEqual(store.all(`select * from data_keys where vault_id = 'rights'`), [])
      assert.deepEqual(store.all(`select * from audit_events where event = 'rights.sealed'`), [])
    })
    await served.daemon.stop()
  }

  it('is not made a second time: not where it is gone, with the lists, nor where the anchor is gone too', async (t) => {
    const home = copyOf(t, original)
    atStore(home.home, (store) => {
      plant(store)
      takeAway(store)
      store.run('update identities set mac = null')
    })
    await isNotTakenAgain(t, home)
    rmSync(join(home.home, 'server/vault-anchor.json'))
    await isNotTakenAgain(t, home)
  })

  it('is not made a second time where no vault can say that there was one', async (t) => {
    const home = copyOf(t, original)
    atStore(home.home, (store) => {
      plant(store)
      takeAway(store)
      store.run('delete from manifests')
    })
    await isNotTakenAgain(t, home)
    rmSync(join(home.home, 'server/vault-anchor.json'))
    await isNotTakenAgain(t, home)
  })

  it('that is removed in service is told of, and put back by `doctor --accept-restore`', async (t) => {
    const home = copyOf(t, original)
    const served = await serve(t, home)
    await served.ada.call('GET', '/api/whoami')
    atStore(home.home, (store) => store.run(`delete from data_keys where vault_id = 'rights'`))
    assert.match(await issuesOf(served.ada), /key of the rows that say who is who was removed or changed/)
    await isServed(served)
    assert.equal((await served.ada.call('POST', '/api/vault/restore')).status, 200)
    await isServed(
      await (async () => {
        await served.daemon.stop()
        return serve(t, home)
      })(),
    )
  })

  it('says nothing of what it is for: no role, hash or handle is in the sealed lists', () => {
    const sealed = atStore(original.home, (store) => store.all('select sealed from manifests'))
    for (const row of sealed)
      assert.doesNotMatch(Buffer.from(row['sealed'] as Uint8Array).toString('latin1'), /argon2|admin|helper/)
    assert.match(readFileSync(join(original.home, 'server/vault-anchor.json'), 'utf8'), /"rights":/)
  })
})
