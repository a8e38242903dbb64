import { sql } from 'kysely'
import { type Actor, BrokerError, type BrowserActor, Secret } from '../../protocol/index.ts'
import type { AccountList, BrowserSession } from '../../schemas/index.ts'
import type { Audit, InternalEvent } from '../audit/index.ts'
import type { Principals } from '../principals/index.ts'
import { type Evidence, LISTS, type Rights } from '../rights/index.ts'
import type { Db, Store } from '../store/index.ts'
import { BrowserLinks } from './browser-links.ts'
import {
  BROWSER_IDENTITY,
  BrowserSessions,
  type Caller,
  isoTime,
  type NewSession,
  type OpenedSession,
} from './browser-sessions.ts'
import { FairQueue, type FairQueueOptions, type Line } from './fair-queue.ts'
import { KnownBrowsers, type Mac, type Marks } from './known-browser.ts'
import { OPERATOR_IDENTITY, Operator } from './operator.ts'
import { hashPassword, type PasswordCost, verifyPassword } from './password.ts'
import { refuseCommon } from './password-policy.ts'
import { RateLimiter, type Subject } from './rate-limiter.ts'

interface Login {
  readonly email: string
  readonly password: string
}

export interface Accounts {
  /**
   * Makes an account with a principal and a vault of its own, and signs the browser in. The first is an admin.
   * @throws BrokerError OperationNotAllowedError where registration is closed or the address cannot be had;
   *   InvalidRequestError for a password that everybody tries; RateLimitedError
   */
  register(login: Login, caller: Caller): Promise<OpenedSession>
  /**
   * With the right password always, in a browser that the account knows.
   * @throws BrokerError AuthenticationFailedError, the same for no account and for another password; RateLimitedError
   */
  signIn(login: Login, caller: Caller): Promise<OpenedSession>
  /** A link that signs this principal's browser in, once, for 60 s. It and what it opened end with the actor's identity. */
  link(actor: Actor): Promise<{ readonly token: string; readonly expiresAt: number }>
  /** Undefined where the link was used, is too old, or never was. */
  openLink(token: string, caller: Caller): Promise<OpenedSession | undefined>
  /** @throws BrokerError AuthenticationFailedError where the session is over, or never was */
  authenticate(sessionToken: string): Promise<BrowserActor>
  /** Returns whether the session the actor came by has not ended since. */
  isLive(actor: BrowserActor): Promise<boolean>
  /** @throws BrokerError OperationNotAllowedError where this is not the session's token */
  requireCsrf(actor: BrowserActor, csrfToken: string | undefined): Promise<void>
  sessions(actor: Actor): Promise<readonly BrowserSession[]>
  /** All of them, by address. */
  list(): Promise<AccountList['accounts']>
  /** @throws BrokerError NotFoundError */
  endSession(actor: Actor, id: string): Promise<void>
  signOut(actor: BrowserActor): Promise<void>
  /**
   * All other sessions of the account end, and all other browsers become strangers to it.
   * @returns what this one is known by from now on
   * @throws BrokerError InvalidRequestError for another password, OperationNotAllowedError, RateLimitedError
   */
  changePassword(actor: BrowserActor, passwords: NewPassword, caller: Caller): Promise<Marks | undefined>
  /** Does what wants a code that a person typed; who types wrong ones has to wait. @throws BrokerError RateLimitedError */
  byCode<Result>(actor: Actor, work: () => Promise<Result>): Promise<Result>
  /** @throws BrokerError AuthenticationFailedError where this is not the operator's secret, RateLimitedError */
  requireOperator(secret: Secret | undefined, caller: Caller): Promise<void>
  /**
   * Gives an account another password, for its operator: sessions, links and known browsers of before end, and nothing
   * that was tried on it counts any more. @throws BrokerError NotFoundError, InvalidRequestError
   */
  resetPassword(login: Login): Promise<{ readonly principalId: string; readonly email: string }>
}

interface NewPassword {
  readonly current: string
  readonly password: string
}

export interface AccountsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly principals: Pick<Principals, 'create' | 'beginEpoch'>
  readonly rights: Rights
  readonly registration: 'open' | 'closed'
  /** By a key that is for known browsers alone. */
  readonly mac: Mac
  /** What the operator of this daemon's machine has, and nobody else. */
  readonly operatorSecret: Secret
  /** Passwords that are checked at a time, and how many more may wait. */
  readonly queue?: FairQueueOptions
  /** Of new hashes; as RFC 9106 recommends if absent. No setting says otherwise. */
  readonly passwordCost?: PasswordCost
  readonly now?: () => number
}

export function openAccounts(options: AccountsOptions): Accounts {
  return new AccountsOfStore(options)
}

class AccountsOfStore implements Accounts {
  readonly #options: AccountsOptions
  readonly #now: () => number
  readonly #sessions: BrowserSessions
  readonly #links: BrowserLinks
  readonly #known: KnownBrowsers
  readonly #limiter: RateLimiter
  readonly #operator: Operator
  /** Tries are counted in them too: there are never more to remember than were checked. */
  readonly #queue: FairQueue

  constructor(options: AccountsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#sessions = new BrowserSessions(options.store, options.rights, this.#now)
    this.#links = new BrowserLinks(options.store, options.rights, this.#now)
    this.#known = new KnownBrowsers(options.mac, this.#now)
    this.#limiter = new RateLimiter(options.store, this.#now)
    this.#operator = new Operator({ ...options, secret: options.operatorSecret, limiter: this.#limiter })
    this.#queue = new FairQueue(options.queue ?? { places: 2, queue: 64 })
  }

  async register({ email, password }: Login, caller: Caller): Promise<OpenedSession> {
    if (this.#options.registration === 'closed') throw registrationClosed()
    await this.#options.rights.open()
    const address = canonicalEmail(email)
    refuseCommon(password, address)
    const tries = pairOf(address, caller)
    const password_hash = await this.#inTurn({ line: strangeAt(caller), tries }, () =>
      hashPassword(new Secret(password), this.#options.passwordCost),
    )
    const opened = await this.#options.store.transaction(async (tx) => {
      if (await accountRow(tx, address)) throw cannotRegister()
      const { principalId, role } = await this.#options.principals.create(tx)
      const created_at = isoTime(this.#now())
      const row = { principal_id: principalId, email: address, password_hash, created_at }
      const sealed = await this.#options.rights.enter(tx, principalId, { table: 'accounts', row })
      await tx.insertInto('accounts').values(sealed).execute()
      await this.#record(tx, principalId, 'account.registered', 'success')
      return this.#sessions.open(tx, { principalId, role, epoch: 0, identityId: null }, caller)
    })
    await this.#limiter.credit(tries)
    return this.#marked(opened, { principal_id: opened.principalId, password_hash }, caller)
  }

  async signIn({ email, password }: Login, caller: Caller): Promise<OpenedSession> {
    const address = canonicalEmail(email)
    const account = await this.#account(address)
    const { line, tries } = this.#tryOf(address, account, caller)
    const isRight = await this.#inTurn({ line, tries }, () =>
      verifyPassword(new Secret(password), account?.password_hash, this.#options.passwordCost),
    )
    const opened = await this.#options.store.transaction((tx) => this.#enter(tx, { account, isRight, tries }, caller))
    if (!account || !opened) throw cannotSignIn()
    await this.#limiter.credit(tries)
    return this.#marked(opened, account, caller)
  }

  /** Guesses in a known browser are counted for that alone, all others where they come from: neither is in the other's way. */
  #tryOf(address: string, account: Account | undefined, caller: Caller): Try {
    const known = this.#known.idOf(caller.marks, account)
    if (known !== undefined) {
      return { line: { kind: 'known', name: known }, tries: [{ kind: 'browser', value: known }] }
    }
    return { line: strangeAt(caller), tries: [...pairOf(address, caller), { kind: 'account', value: address }] }
  }

  /** Counts the try, then does what is much work. @throws BrokerError RateLimitedError before any of it */
  async #inTurn<Result>({ line, tries }: Try, work: () => Promise<Result>): Promise<Result> {
    this.#limiter.refuseWaiting(tries)
    return this.#queue.run(line, async () => {
      await this.#limiter.admit(tries)
      return work()
    })
  }

  #marked(opened: OpenedSession, account: KnownAccount, { marks: sent }: Caller): OpenedSession {
    const marks = this.#known.mark(sent, account)
    return { ...opened, ...(marks && { marks }) }
  }

  /** All outcomes take as long: what is no account's is written down too. */
  async #enter(tx: Db, { account, isRight, tries }: Checked, caller: Caller): Promise<OpenedSession | undefined> {
    // It may have been changed while it was checked.
    const isStillRight =
      isRight && account?.password_hash === (await accountRow(tx, account?.email ?? ''))?.password_hash
    if (!account || !isStillRight) {
      await this.#limiter.failed(tx, tries)
      await this.#record(tx, account?.principal_id ?? NOBODY, 'account.login_failed', 'denied')
      return undefined
    }
    const { principal_id: principalId, role, epoch } = account
    return this.#open(tx, { principalId, role, epoch, identityId: null }, caller)
  }

  /** Undefined where there is none, or another hand wrote it. */
  #account(email: string): Promise<Account | undefined> {
    return this.#options.rights.believe((db) => accountRow(db, email), evidenceOf)
  }

  async #open(tx: Db, session: NewSession, caller: Caller): Promise<OpenedSession> {
    await this.#record(tx, session.principalId, 'account.login', 'success')
    return this.#sessions.open(tx, session, caller)
  }

  link(actor: Actor): Promise<{ readonly token: string; readonly expiresAt: number }> {
    return this.#links.make(actor)
  }

  async openLink(token: string, caller: Caller): Promise<OpenedSession | undefined> {
    await this.#options.rights.open()
    return this.#options.store.transaction(async (tx) => {
      const session = await this.#links.takeIn(tx, token)
      return session && this.#open(tx, session, caller)
    })
  }

  async authenticate(sessionToken: string): Promise<BrowserActor> {
    const actor = await this.#sessions.actorOf(sessionToken)
    if (actor) return actor
    throw new BrokerError('AuthenticationFailedError', 'This browser is not signed in, or not any more', {
      hint: 'Sign in, or run `broker dashboard`.',
    })
  }

  isLive(actor: BrowserActor): Promise<boolean> {
    return this.#sessions.isOpen(actor)
  }

  async requireCsrf(actor: BrowserActor, csrfToken: string | undefined): Promise<void> {
    if (csrfToken !== undefined && (await this.#sessions.mayChange(actor, csrfToken))) return
    throw new BrokerError('OperationNotAllowedError', 'A browser must send its CSRF token with this request', {
      hint: 'Send the `x-csrf-token` that the sign-in answered with.',
    })
  }

  sessions(actor: Actor): Promise<readonly BrowserSession[]> {
    return this.#sessions.list(actor)
  }

  async list(): Promise<AccountList['accounts']> {
    const rows = await this.#options.store.db.selectFrom('accounts').selectAll().orderBy('email').execute()
    return rows
      .filter((row) => this.#options.rights.isGenuine({ table: 'accounts', row }))
      .map(({ principal_id, email, created_at }) => ({ principal_id, email, created_at }))
  }

  async endSession(actor: Actor, id: string): Promise<void> {
    await this.#options.store.transaction(async (tx) => {
      if (!(await this.#sessions.end(tx, actor, id))) {
        throw new BrokerError('NotFoundError', 'There is no such session, or it is over')
      }
      await this.#record(tx, actor.principalId, 'account.logout', 'success')
    })
  }

  signOut(actor: BrowserActor): Promise<void> {
    return this.endSession(actor, actor.browser.sessionId)
  }

  async changePassword(
    actor: BrowserActor,
    { current, password }: NewPassword,
    caller: Caller,
  ): Promise<Marks | undefined> {
    const { email } = actor.browser
    if (email === undefined) {
      throw new BrokerError('OperationNotAllowedError', 'The local owner has no password', {
        hint: 'Sign in by `broker dashboard`.',
      })
    }
    refuseCommon(password, email)
    const { store, principals } = this.#options
    const account = await this.#account(email)
    const { line, tries } = this.#tryOf(email, account, caller)
    const password_hash = await this.#inTurn({ line, tries }, async () => {
      if (!(await verifyPassword(new Secret(current), account?.password_hash))) {
        await this.#limiter.failed(store.db, tries)
        throw wrongPassword()
      }
      return hashPassword(new Secret(password), this.#options.passwordCost)
    })
    await store.transaction(async (tx) => {
      if (!account || !(await this.#replaceHash(tx, account, password_hash))) throw wrongPassword()
      await this.#sessions.endOthers(tx, actor, await principals.beginEpoch(tx, actor.principalId))
    })
    await this.#limiter.credit(tries)
    return account && this.#known.mark(caller.marks, { ...account, password_hash })
  }

  async byCode<Result>(actor: Actor, work: () => Promise<Result>): Promise<Result> {
    const tries: readonly Subject[] = [{ kind: 'code', value: actor.principalId }]
    await this.#limiter.admit(tries)
    const result = await work()
    await this.#limiter.credit(tries)
    return result
  }

  requireOperator(secret: Secret | undefined, caller: Caller): Promise<void> {
    return this.#operator.require(secret, caller)
  }

  async resetPassword({ email, password }: Login): Promise<{ readonly principalId: string; readonly email: string }> {
    const address = canonicalEmail(email)
    refuseCommon(password, address)
    const password_hash = await hashPassword(new Secret(password), this.#options.passwordCost)
    const { store, rights, principals } = this.#options
    await rights.open()
    const principalId = await store.transaction(async (tx) => {
      const account = await accountRow(tx, address)
      if (!account || !(await rights.speaksFor(tx, evidenceOf(account)))) throw noSuchAccount(address)
      await this.#replaceHash(tx, account, password_hash)
      const { principal_id } = account
      await principals.beginEpoch(tx, principal_id)
      await this.#sessions.endAll(tx, principal_id)
      await this.#links.endAll(tx, principal_id)
      await this.#limiter.forget(tx, address)
      const actor = { identity: OPERATOR_IDENTITY, principalId: principal_id }
      await this.#options.audit.record(tx, actor, { event: 'account.password_reset', status: 'success' })
      return principal_id
    })
    return { principalId, email: address }
  }

  /** Of an account that was believed. False where somebody else was first. */
  async #replaceHash(tx: Db, account: Account, password_hash: string): Promise<boolean> {
    const row = { ...account, password_hash }
    const { mac } = await this.#options.rights.enter(tx, account.principal_id, { table: 'accounts', row })
    const { numUpdatedRows } = await tx
      .updateTable('accounts')
      .set({ password_hash, mac })
      .where('email', '=', account.email)
      .where('password_hash', '=', account.password_hash)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  }

  #record(tx: Db, principalId: string, event: InternalEvent['event'], status: InternalEvent['status']): Promise<void> {
    return this.#options.audit.record(tx, { identity: BROWSER_IDENTITY, principalId }, { event, status })
  }
}

/** The principal of an event that is nobody's: only admins see it. */
const NOBODY = '(nobody)'

/** One account for all spellings of an address. */
function canonicalEmail(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase()
}

interface Try {
  readonly line: Line
  readonly tries: readonly Subject[]
}

interface Checked {
  readonly account: Account | undefined
  readonly isRight: boolean
  readonly tries: readonly Subject[]
}

function strangeAt({ source }: Caller): Line {
  return { kind: 'strange', name: source }
}

function pairOf(account: string, { source }: Caller): readonly Subject[] {
  return [
    { kind: 'pair', account, source },
    { kind: 'source', value: source },
  ]
}

type Account = NonNullable<Awaited<ReturnType<typeof accountRow>>>
type KnownAccount = Pick<Account, 'principal_id' | 'password_hash'>

function accountRow(db: Db, email: string) {
  return db
    .selectFrom('accounts')
    .innerJoin('principals', 'principals.id', 'accounts.principal_id')
    .leftJoin('manifests', (join) =>
      join.on('manifests.vault_id', '=', sql<string>`${sql.lit(LISTS)} || accounts.principal_id`),
    )
    .selectAll('accounts')
    .select([
      'principals.role',
      'principals.vault_id',
      'principals.local_owner',
      'principals.epoch',
      'principals.created_at as principal_created_at',
      'principals.mac as principal_mac',
      'manifests.generation',
    ])
    .where('email', '=', email)
    .executeTakeFirst()
}

function evidenceOf(row: Account): Evidence {
  const { principal_id: id, role, vault_id, local_owner, epoch } = row
  const principal = { id, role, vault_id, local_owner, epoch, created_at: row.principal_created_at }
  return {
    principalId: id,
    generation: row.generation,
    rows: [
      { table: 'accounts', row },
      { table: 'principals', row: { ...principal, mac: row.principal_mac } },
    ],
  }
}

function registrationClosed(): BrokerError {
  return new BrokerError('OperationNotAllowedError', 'Registration is closed here', {
    hint: 'Whoever runs this daemon opens it with BROKER_REGISTRATION=open.',
  })
}

// Says no more than that: why it cannot be is the business of whoever has the address.
function cannotRegister(): BrokerError {
  return new BrokerError('OperationNotAllowedError', 'Cannot make an account of this address', {
    hint: 'Sign in if it is yours, or take another address.',
  })
}

function cannotSignIn(): BrokerError {
  return new BrokerError('AuthenticationFailedError', 'The address or the password is not right')
}

function noSuchAccount(address: string): BrokerError {
  return new BrokerError('NotFoundError', `There is no account of ${address}`, {
    hint: 'Accounts go by the address that they were registered with.',
  })
}

function wrongPassword(): BrokerError {
  return new BrokerError('InvalidRequestError', 'The current password is not right', {
    details: [{ path: 'current', message: 'is not right' }],
  })
}
