import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { type Actor, BrokerError, Secret } from '../../protocol/index.ts'
import { openAudit } from '../audit/index.ts'
import { openPrincipals } from '../principals/index.ts'
import { openRights, type Rights } from '../rights/index.ts'
import { openStore, type Store } from '../store/index.ts'
import { openVault, systemKeyring } from '../vault/index.ts'
import type { OpenedSession } from './browser-sessions.ts'
import { type Accounts, openAccounts } from './open-accounts.ts'

const ADA = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
const ANYWHERE = { userAgent: 'Firefox/140 Linux', source: '192.0.2.1' }
const HERE = { ...ANYWHERE, source: '192.0.2.2' }
const MINUTE = 60_000
/** The least that there is: what is told here is not what a hash costs. */
const CHEAP = { memory: 32, passes: 1, parallelism: 4 }

describe('accounts on one store', () => {
  let store: Store
  let accounts: Accounts
  let rights: Rights
  let open: (store: Store, queue?: { places: number; queue: number }) => Accounts
  let now: number

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = mkdtempSync(join(tmpdir(), 'broker-accounts-'))
    now = Date.parse('2026-11-21T12:00:00.000Z')
    const clock = () => now
    store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    const vault = await openVault({
      store,
      masterKey: {
        mode: 'env',
        masterKey: new Secret(hash('sha256', 'CNRY a key of tests', 'base64')),
        localKeyPath: '/nowhere',
        createFile: () => undefined,
        keyring: systemKeyring(),
      },
      anchorFile: { read: () => undefined, write: () => undefined },
    })
    const audit = openAudit(store, { now: clock })
    rights = openRights({ store, vault, audit, now: clock })
    const principals = openPrincipals({ store, audit, vault, rights, baseUrl: 'http://127.0.0.1:1', now: clock })
    open = (store, queue) =>
      openAccounts({
        store,
        audit,
        principals,
        rights,
        registration: 'open',
        mac: (text) => vault.knownBrowserMac(text),
        operatorSecret: new Secret('CNRY the operator'),
        now: clock,
        passwordCost: CHEAP,
        ...(queue && { queue }),
      })
    accounts = open(store)
  })

  /** An agent of the account, as it was registered and claimed. */
  async function agentOf(principalId: string, handle: string): Promise<Actor> {
    const [did, created_at] = [`did:key:z${handle}`, new Date(now).toISOString()]
    const row = { id: `id-${handle}`, handle, did, principal_id: principalId, created_at }
    await store.transaction(async (tx) => {
      const sealed = await rights.enter(tx, principalId, { table: 'identities', row })
      await tx.insertInto('identities').values(sealed).execute()
    })
    return { kind: 'identity', identity: handle, identityId: row.id, did, principalId, vaultId: 'vault', role: 'admin' }
  }

  it('let nobody in by a password that was changed while it was checked', async () => {
    const { token } = await accounts.register(ADA, ANYWHERE)
    const owner = await accounts.authenticate(token)
    let reached = () => {}
    const isChecked = new Promise<void>((resolve) => (reached = resolve))
    let goOn = () => {}
    const isChanged = new Promise<void>((resolve) => (goOn = resolve))
    let transactions = 0
    const slow = open({
      ...store,
      transaction: async (work) => {
        transactions += 1
        if (transactions === 2) {
          reached()
          await isChanged
        }
        return store.transaction(work)
      },
    })
    const late = slow.signIn(ADA, ANYWHERE)
    await isChecked
    await accounts.changePassword(owner, { current: ADA.password, password: 'CNRY another long phrase' }, ANYWHERE)
    goOn()
    await assert.rejects(late, { name: 'AuthenticationFailedError' })
    assert.equal((await accounts.sessions(owner)).length, 1)
  })

  it('change a password once of two who know it', async () => {
    const { token } = await accounts.register(ADA, ANYWHERE)
    const owner = await accounts.authenticate(token)
    const change = (password: string) => accounts.changePassword(owner, { current: ADA.password, password }, HERE)
    const both = await Promise.allSettled([change('CNRY one long phrase'), change('CNRY two long phrases')])
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })

  it('remember no more tries than there were places to make them', async () => {
    const narrow = open(store, { places: 1, queue: 3 })
    const crowd = Array.from({ length: 200 }, (_, at) =>
      narrow.signIn({ ...ADA, email: `nobody${at}@example.com` }, ANYWHERE).catch((error: unknown) => error),
    )
    const outcomes = await Promise.all(crowd)
    const refused = outcomes.filter((error) => error instanceof BrokerError && error.name === 'RateLimitedError').length
    assert.equal(refused, 196)
    const { remembered } = await store.db
      .selectFrom('sign_in_attempts')
      .select((eb) => eb.fn.countAll<number>().as('remembered'))
      .where('subject', 'like', 'pair %')
      .executeTakeFirstOrThrow()
    assert.equal(remembered, crowd.length - refused)
  })

  it('count no success against the place it came from', async () => {
    await accounts.register(ADA, HERE)
    await store.db.updateTable('sign_in_attempts').set({ attempts: 18 }).execute()
    for (let count = 0; count < 4; count += 1) await accounts.signIn(ADA, HERE)
  })

  it('keep nobody out for longer than half a minute, be the clock set back meanwhile', async () => {
    const guess = () => accounts.signIn(ADA, ANYWHERE).catch((error: unknown) => error)
    for (let count = 0; count < 5; count += 1) await guess()
    now -= 60 * MINUTE
    const refused = await guess()
    assert.ok(refused instanceof BrokerError && Number(refused.options.retryAfter) <= 30)
    now += MINUTE / 2
    await assert.rejects(accounts.signIn(ADA, ANYWHERE), { name: 'AuthenticationFailedError' })
  })

  describe('know a browser', () => {
    const marked = ({ marks }: OpenedSession, source = '192.0.2.3') => ({
      ...ANYWHERE,
      source,
      marks: new Secret(marks?.text ?? assert.fail()),
    })
    const wrong = { ...ADA, password: 'CNRY not this one' }
    /** Nobody may try from anywhere. */
    const fill = () => store.db.updateTable('sign_in_attempts').set({ attempts: 1000, last_at: now }).execute()

    it('whose right password passes, whatever is counted of strangers', async () => {
      const here = marked(await accounts.register(ADA, ANYWHERE), ANYWHERE.source)
      await assert.rejects(accounts.signIn(wrong, ANYWHERE), { name: 'AuthenticationFailedError' })
      await fill()
      await assert.rejects(accounts.signIn(ADA, ANYWHERE), { name: 'RateLimitedError' })
      for (let count = 0; count < 3; count += 1) await accounts.signIn(ADA, here)
    })

    it('whose guesses count for it alone', async () => {
      const [here, there] = [
        marked(await accounts.register(ADA, ANYWHERE)),
        marked(await accounts.signIn(ADA, ANYWHERE)),
      ]
      const guesses = [1, 2, 3, 4, 5, 6].map(() => accounts.signIn(wrong, here).catch((error) => (error as Error).name))
      const outcomes = await Promise.all(guesses)
      assert.equal(outcomes.filter((name) => name === 'RateLimitedError').length, 1)
      await assert.rejects(accounts.signIn(ADA, here), { name: 'RateLimitedError' })
      await accounts.signIn(ADA, there)
      await accounts.signIn(ADA, { ...ANYWHERE, source: here.source })
      now += MINUTE / 2
      await accounts.signIn(ADA, here)
    })

    it('for its own account, by what the daemon gave it', async () => {
      const eve = { email: 'eve@example.com', password: 'CNRY another long phrase' }
      const ofEve = (await accounts.register(eve, ANYWHERE)).marks?.text ?? ''
      const ofAda = (await accounts.register(ADA, ANYWHERE)).marks?.text ?? ''
      await assert.rejects(accounts.signIn(wrong, ANYWHERE), { name: 'AuthenticationFailedError' })
      await fill()
      const [id, madeAt, mac] = ofAda.split('.')
      const forged = [`${id}x.${madeAt}.${mac}`, `${id}.zzzzzz.${mac}`, `${id}.${madeAt}.`, `${id}`, '~~~', '']
      for (const text of [ofEve, ...forged]) {
        const strange = { ...ANYWHERE, marks: new Secret(text) }
        await assert.rejects(accounts.signIn(ADA, strange), { name: 'RateLimitedError' }, text)
      }
      await accounts.signIn(ADA, { ...ANYWHERE, marks: new Secret(`nonsense~${ofEve}~${ofAda}`) })
    })

    it('of several people, one after the other', async () => {
      const eve = { email: 'eve@example.com', password: 'CNRY another long phrase' }
      const ofAda = await accounts.register(ADA, ANYWHERE)
      const ofBoth = await accounts.register(eve, marked(ofAda))
      await assert.rejects(accounts.signIn(wrong, ANYWHERE), { name: 'AuthenticationFailedError' })
      await fill()
      const again = await accounts.signIn(ADA, marked(ofBoth, ANYWHERE.source))
      assert.equal(again.marks?.text.split('~').length, 2)
      await accounts.signIn(eve, marked(again, ANYWHERE.source))
    })

    it('until the password is another, for those who did not change it', async () => {
      const opened = await accounts.register(ADA, ANYWHERE)
      const before = marked(opened, ANYWHERE.source)
      const passwords = { current: ADA.password, password: 'CNRY another long phrase' }
      const marks = await accounts.changePassword(await accounts.authenticate(opened.token), passwords, before)
      const changed = { ...ADA, password: passwords.password }
      await assert.rejects(accounts.signIn(wrong, ANYWHERE), { name: 'AuthenticationFailedError' })
      await fill()
      await assert.rejects(accounts.signIn(changed, before), { name: 'RateLimitedError' })
      await accounts.signIn(changed, { ...before, marks: new Secret(marks?.text ?? '') })
      await accounts.resetPassword(ADA)
      await store.db.deleteFrom('sign_in_attempts').execute()
      await assert.rejects(accounts.signIn(wrong, ANYWHERE), { name: 'AuthenticationFailedError' })
      await fill()
      const strange = { ...before, marks: new Secret(marks?.text ?? '') }
      await assert.rejects(accounts.signIn(ADA, strange), { name: 'RateLimitedError' })
    })

    it('for a year since the last sign-in', async () => {
      const opened = await accounts.register(ADA, ANYWHERE)
      assert.equal(opened.marks?.expiresAt, now + 365 * 24 * 60 * MINUTE)
      now += 364 * 24 * 60 * MINUTE
      await assert.rejects(accounts.signIn(wrong, ANYWHERE), { name: 'AuthenticationFailedError' })
      await fill()
      const renewed = await accounts.signIn(ADA, marked(opened, ANYWHERE.source))
      now += 2 * 24 * 60 * MINUTE
      await assert.rejects(accounts.signIn(wrong, ANYWHERE), { name: 'AuthenticationFailedError' })
      await fill()
      await assert.rejects(accounts.signIn(ADA, marked(opened, ANYWHERE.source)), { name: 'RateLimitedError' })
      await accounts.signIn(ADA, marked(renewed, ANYWHERE.source))
    })

    it('only where a password was typed: no link makes one known', async () => {
      const { principalId } = await accounts.register(ADA, ANYWHERE)
      const { token } = await accounts.link(await agentOf(principalId, 'robot'))
      assert.equal((await accounts.openLink(token, ANYWHERE))?.marks, undefined)
    })
  })

  it('count the current password where somebody types it to change it', async () => {
    const { token } = await accounts.register(ADA, ANYWHERE)
    const owner = await accounts.authenticate(token)
    const change = () =>
      accounts
        .changePassword(owner, { current: 'CNRY guessed', password: 'CNRY another long phrase' }, ANYWHERE)
        .catch((error) => (error as Error).name)
    const outcomes = await Promise.all([1, 2, 3, 4, 5, 6].map(change))
    assert.equal(outcomes.filter((name) => name === 'RateLimitedError').length, 1)
    await accounts.signIn(ADA, HERE)
  })

  it('keep who types wrong codes waiting, and nobody else', async () => {
    const actor = (principalId: string): Actor => ({
      kind: 'daemon',
      identity: '(browser)',
      principalId,
      vaultId: 'v',
      role: 'user',
    })
    const guess = (id: string) => accounts.byCode(actor(id), () => Promise.reject(new Error('wrong code')))
    for (let count = 0; count < 10; count += 1) await assert.rejects(guess('eve'), /wrong code/)
    await assert.rejects(guess('eve'), { name: 'RateLimitedError' })
    assert.equal(await accounts.byCode(actor('ada'), async () => 'right'), 'right')
  })

  it('sign out the browsers that an agent had signed in, once it is removed', async () => {
    const { token, principalId } = await accounts.register(ADA, ANYWHERE)
    const [stolen, other] = [await agentOf(principalId, 'stolen'), await agentOf(principalId, 'other')]
    const byLink = async (agent: Actor) => {
      const opened = await accounts.openLink((await accounts.link(agent)).token, ANYWHERE)
      return opened?.token ?? assert.fail()
    }
    const [theirs, ours, unused] = [await byLink(stolen), await byLink(other), await accounts.link(stolen)]
    await store.db.deleteFrom('identities').where('handle', '=', 'stolen').execute()
    await assert.rejects(accounts.authenticate(theirs), { name: 'AuthenticationFailedError' })
    assert.equal(await accounts.openLink(unused.token, ANYWHERE), undefined)
    await accounts.authenticate(ours)
    await accounts.authenticate(token)
  })

  it('keep so many sessions and links of one principal, the newest', async () => {
    const { token, principalId } = await accounts.register(ADA, ANYWHERE)
    const agent = await agentOf(principalId, 'eager')
    const links: { token: string }[] = []
    for (let count = 0; count < 150; count += 1) {
      now += 10
      links.push(await accounts.link(agent))
      const last = links.at(-1) ?? assert.fail()
      if (count < 120) assert.ok(await accounts.openLink(last.token, ANYWHERE))
    }
    const owner = await accounts.authenticate(
      (await accounts.openLink(links.at(-1)?.token ?? '', ANYWHERE))?.token ?? '',
    )
    assert.equal((await accounts.sessions(owner)).length, 100)
    await assert.rejects(accounts.authenticate(token), { name: 'AuthenticationFailedError' })
    const open = await store.db.selectFrom('browser_links').selectAll().execute()
    assert.ok(open.length <= 20)
  })

  it('end a session that rests, and one whose time is over, whatever the clock did between', async () => {
    const { token } = await accounts.register(ADA, ANYWHERE)
    now += 119 * MINUTE
    await accounts.authenticate(token)
    now -= 30 * MINUTE
    await accounts.authenticate(token)
    now += 151 * MINUTE
    await assert.rejects(accounts.authenticate(token), { name: 'AuthenticationFailedError' })
  })
})
