import { sql } from 'kysely'
import { type Actor, BrokerError, Secret } from '../../protocol/index.ts'
import type { BrowserSession } from '../../schemas/index.ts'
import type { Audit, InternalEvent } from '../audit/index.ts'
import type { Principals } from '../principals/index.ts'
import { type Evidence, LISTS, type Rights } from '../rights/index.ts'
import type { Db, Store } from '../store/index.ts'
import { BrowserLinks } from './browser-links.ts'
import {
  BROWSER_IDENTITY,
  type BrowserActor,
  BrowserSessions,
  type Caller,
  isoTime,
  type NewSession,
  type OpenedSession,
} from './browser-sessions.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { refuseCommon } from './password-policy.ts'
import { type Subject, Throttle } from './throttle.ts'
import { Turns } from './turns.ts'

export interface Login {
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
  /** @throws BrokerError AuthenticationFailedError, the same for no account and for another password; RateLimitedError */
  signIn(login: Login, caller: Caller): Promise<OpenedSession>
  /** A link that signs this principal's browser in, once, for 60 s. It and what it opened end with the actor's identity. */
  link(actor: Actor): Promise<{ readonly token: string; readonly expiresAt: number }>
  /** Undefined where the link was used, is too old, or never was. */
  openLink(token: string, caller: Caller): Promise<OpenedSession | undefined>
  /** @throws BrokerError AuthenticationFailedError where the session is over, or never was */
  authenticate(sessionToken: string): Promise<BrowserActor>
  /** Whether the session the actor came by has not ended since. */
  isLive(actor: BrowserActor): Promise<boolean>
  /** @throws BrokerError OperationNotAllowedError where this is not the session's token */
  requireCsrf(actor: BrowserActor, csrfToken: string | undefined): Promise<void>
  sessions(actor: Actor): Promise<readonly BrowserSession[]>
  /** @throws BrokerError NotFoundError */
  endSession(actor: Actor, id: string): Promise<void>
  signOut(actor: BrowserActor): Promise<void>
  /** All other sessions of the account end. @throws BrokerError AuthenticationFailedError, OperationNotAllowedError */
  changePassword(actor: BrowserActor, passwords: { readonly current: string; readonly password: string }): Promise<void>
}

export interface AccountsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly principals: Pick<Principals, 'create' | 'beginEpoch'>
  readonly rights: Rights
  readonly registration: 'open' | 'closed'
  /** Passwords that are checked at a time, and how many more may wait. */
  readonly turns?: { readonly places: number; readonly queue: number }
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
  readonly #throttle: Throttle
  /** Tries are counted in them too: there are never more to remember than were checked. */
  readonly #turns: Turns

  constructor(options: AccountsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#sessions = new BrowserSessions(options.store, options.rights, this.#now)
    this.#links = new BrowserLinks(options.store, options.rights, this.#now)
    this.#throttle = new Throttle(options.store, this.#now)
    this.#turns = new Turns(options.turns ?? { places: 2, queue: 64 })
  }

  async register({ email, password }: Login, caller: Caller): Promise<OpenedSession> {
    if (this.#options.registration === 'closed') throw registrationClosed()
    await this.#options.rights.open()
    const address = canonicalEmail(email)
    refuseCommon(password, address)
    const tries = subjectsOf(address, caller)
    const passwordHash = await this.#turns.take(async () => {
      await this.#throttle.admit(tries)
      return hashPassword(new Secret(password))
    })
    const opened = await this.#options.store.transaction(async (tx) => {
      if (await accountRow(tx, address)) throw cannotRegister()
      const { principalId, role } = await this.#options.principals.create(tx)
      const created_at = isoTime(this.#now())
      const row = { principal_id: principalId, email: address, password_hash: passwordHash, created_at }
      const sealed = await this.#options.rights.enter(tx, principalId, { table: 'accounts', row })
      await tx.insertInto('accounts').values(sealed).execute()
      await this.#record(tx, principalId, 'account.registered', 'success')
      return this.#sessions.open(tx, { principalId, role, epoch: 0, identityId: null }, caller)
    })
    await this.#throttle.credit(tries)
    return opened
  }

  async signIn({ email, password }: Login, caller: Caller): Promise<OpenedSession> {
    const address = canonicalEmail(email)
    const tries = subjectsOf(address, caller)
    const checked = await this.#turns.take(async () => {
      await this.#throttle.admit(tries)
      const account = await this.#account(address)
      const isRight = await verifyPassword(new Secret(password), account?.password_hash)
      return { account, isRight }
    })
    const opened = await this.#options.store.transaction((tx) => this.#enter(tx, checked, caller))
    if (!opened) throw cannotSignIn()
    await this.#throttle.credit(tries)
    return opened
  }

  /** All outcomes take as long: what is no account's is written down too. */
  async #enter(
    tx: Db,
    { account, isRight }: { readonly account: Account | undefined; readonly isRight: boolean },
    caller: Caller,
  ): Promise<OpenedSession | undefined> {
    // It may have been changed while it was checked.
    const isStillRight =
      isRight && account?.password_hash === (await accountRow(tx, account?.email ?? ''))?.password_hash
    if (!account || !isStillRight) {
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
    { current, password }: { readonly current: string; readonly password: string },
  ): Promise<void> {
    const { email } = actor.browser
    if (email === undefined) {
      throw new BrokerError('OperationNotAllowedError', 'The local owner has no password', {
        hint: 'Sign in by `broker dashboard`.',
      })
    }
    refuseCommon(password, email)
    const tries = subjectsOf(email, {})
    const { store, principals, rights } = this.#options
    const { before, after } = await this.#turns.take(async () => {
      await this.#throttle.admit(tries)
      const before = await this.#account(email)
      const isRight = await verifyPassword(new Secret(current), before?.password_hash)
      if (!before || !isRight) throw wrongPassword()
      return { before, after: await hashPassword(new Secret(password)) }
    })
    await store.transaction(async (tx) => {
      const row = { ...before, password_hash: after }
      const { mac } = await rights.enter(tx, actor.principalId, { table: 'accounts', row })
      const { numUpdatedRows } = await tx
        .updateTable('accounts')
        .set({ password_hash: after, mac })
        .where('email', '=', email)
        .where('password_hash', '=', before.password_hash)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) throw wrongPassword()
      await this.#sessions.endOthers(tx, actor, await principals.beginEpoch(tx, actor.principalId))
    })
    await this.#throttle.credit(tries)
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

function subjectsOf(account: string, { address }: Caller): readonly Subject[] {
  return [
    { kind: 'account', value: account },
    ...(address === undefined ? [] : [{ kind: 'address', value: address } as const]),
  ]
}

type Account = NonNullable<Awaited<ReturnType<typeof accountRow>>>

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

function wrongPassword(): BrokerError {
  return new BrokerError('InvalidRequestError', 'The current password is not right', {
    details: [{ path: 'current', message: 'is not right' }],
  })
}
