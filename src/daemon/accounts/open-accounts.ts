import { type Actor, BrokerError, Secret } from '../../protocol/index.ts'
import type { BrowserSession } from '../../schemas/index.ts'
import type { Audit, InternalEvent } from '../audit/index.ts'
import type { Principals } from '../principals/index.ts'
import type { Db, Store } from '../store/index.ts'
import {
  BROWSER_IDENTITY,
  type BrowserActor,
  BrowserSessions,
  digest,
  isoTime,
  type OpenedSession,
  randomText,
} from './browser-sessions.ts'
import { Passwords } from './password.ts'
import { type Subject, Throttle } from './throttle.ts'

/** Where a browser calls from, as far as the daemon can know it. */
export interface Caller {
  /** Undefined where others stand between: behind a reverse proxy all would share one. */
  readonly address?: string
  readonly userAgent?: string
}

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
  /** A link that signs this principal's browser in, once, for 60 s. */
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
  readonly principals: Pick<Principals, 'create'>
  readonly registration: 'open' | 'closed'
  readonly now?: () => number
}

const LINK_LIFETIME_MS = 60_000

export function openAccounts(options: AccountsOptions): Accounts {
  return new AccountsOfStore(options)
}

class AccountsOfStore implements Accounts {
  readonly #options: AccountsOptions
  readonly #now: () => number
  readonly #sessions: BrowserSessions
  readonly #throttle: Throttle
  readonly #passwords = new Passwords()

  constructor(options: AccountsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#sessions = new BrowserSessions(options.store, this.#now)
    this.#throttle = new Throttle(options.store, this.#now)
  }

  async register({ email, password }: Login, caller: Caller): Promise<OpenedSession> {
    if (this.#options.registration === 'closed') throw registrationClosed()
    const address = canonicalEmail(email)
    refuseCommon(password, address)
    await this.#throttle.admit([{ kind: 'account', value: address }, ...addressOf(caller)])
    const passwordHash = await this.#passwords.hash(new Secret(password))
    const opened = await this.#options.store.transaction(async (tx) => {
      const accounts = await tx.selectFrom('accounts').select('email').limit(1).execute()
      const taken = await tx.selectFrom('accounts').select('email').where('email', '=', address).executeTakeFirst()
      if (taken) throw cannotRegister()
      const role = accounts.length === 0 ? 'admin' : 'user'
      const principalId = await this.#options.principals.create(tx, role)
      const row = { principal_id: principalId, email: address, password_hash: passwordHash, created_at: this.#time() }
      await tx.insertInto('accounts').values(row).execute()
      await this.#record(tx, principalId, 'account.registered', 'success')
      return this.#sessions.open(tx, { principalId, role }, caller.userAgent)
    })
    await this.#throttle.forget({ kind: 'account', value: address })
    return opened
  }

  async signIn({ email, password }: Login, caller: Caller): Promise<OpenedSession> {
    const account: Subject = { kind: 'account', value: canonicalEmail(email) }
    await this.#throttle.admit([account, ...addressOf(caller)])
    const row = await this.#options.store.db
      .selectFrom('accounts')
      .innerJoin('principals', 'principals.id', 'accounts.principal_id')
      .select(['accounts.principal_id', 'accounts.password_hash', 'principals.role'])
      .where('email', '=', account.value)
      .executeTakeFirst()
    const isRight = await this.#passwords.verify(new Secret(password), row?.password_hash)
    if (!row || !isRight) {
      // Written for nobody's account too: the answer must not come sooner there.
      const principalId = row?.principal_id ?? NOBODY
      await this.#options.store.transaction((tx) => this.#record(tx, principalId, 'account.login_failed', 'denied'))
      throw cannotSignIn()
    }
    await this.#throttle.forget(account)
    return this.#open({ principalId: row.principal_id, role: row.role }, caller)
  }

  #open(principal: Pick<Actor, 'principalId' | 'role'>, caller: Caller): Promise<OpenedSession> {
    return this.#options.store.transaction(async (tx) => {
      await this.#record(tx, principal.principalId, 'account.login', 'success')
      return this.#sessions.open(tx, principal, caller.userAgent)
    })
  }

  async link({ principalId }: Actor): Promise<{ token: string; expiresAt: number }> {
    const token = randomText()
    const now = this.#now()
    const expiresAt = now + LINK_LIFETIME_MS
    await this.#options.store.transaction(async (tx) => {
      await tx.deleteFrom('browser_links').where('expires_at', '<', isoTime(now)).execute()
      const row = { token_hash: digest(token), principal_id: principalId, expires_at: isoTime(expiresAt) }
      await tx.insertInto('browser_links').values(row).execute()
    })
    return { token, expiresAt }
  }

  async openLink(token: string, caller: Caller): Promise<OpenedSession | undefined> {
    const principal = await this.#options.store.transaction(async (tx) => {
      const link = await tx
        .deleteFrom('browser_links')
        .where('token_hash', '=', digest(token))
        .where('expires_at', '>', this.#time())
        .returning('principal_id')
        .executeTakeFirst()
      if (!link) return undefined
      return tx.selectFrom('principals').select(['id', 'role']).where('id', '=', link.principal_id).executeTakeFirst()
    })
    return principal && this.#open({ principalId: principal.id, role: principal.role }, caller)
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
      hint: 'Send the `csrf_token` that the sign-in answered, as `x-csrf-token`.',
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
    await this.#throttle.admit([{ kind: 'account', value: email }])
    const { db } = this.#options.store
    const row = await db.selectFrom('accounts').select('password_hash').where('email', '=', email).executeTakeFirst()
    if (!(await this.#passwords.verify(new Secret(current), row?.password_hash))) throw wrongPassword()
    const password_hash = await this.#passwords.hash(new Secret(password))
    await this.#options.store.transaction(async (tx) => {
      await tx.updateTable('accounts').set({ password_hash }).where('email', '=', email).execute()
      await this.#sessions.endOthers(tx, actor)
    })
    await this.#throttle.forget({ kind: 'account', value: email })
  }

  #record(tx: Db, principalId: string, event: InternalEvent['event'], status: InternalEvent['status']): Promise<void> {
    return this.#options.audit.record(tx, { identity: BROWSER_IDENTITY, principalId }, { event, status })
  }

  #time(): string {
    return isoTime(this.#now())
  }
}

/** The principal of an event that is nobody's: only admins see it. */
const NOBODY = '(nobody)'

/** One account for all spellings of an address. */
function canonicalEmail(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase()
}

/** Addresses of IPv6 are handed out by the /64. */
function addressOf({ address }: Caller): readonly Subject[] {
  if (address === undefined) return []
  const prefix = address.includes(':') ? new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname : address
  return [{ kind: 'address', value: prefix.includes(':') ? prefix.split(':', 4).join(':') : prefix }]
}

const COMMON = [
  'password',
  'passw0rd',
  '12345678',
  'qwertyui',
  'letmein',
  'iloveyou',
  'admin',
  'welcome',
  'changeme',
  'broker',
]

/** A word of the usual lists with something behind it, one letter many times, or the address itself. */
function refuseCommon(password: string, email: string): void {
  const plain = password.toLowerCase()
  const isWord = COMMON.some((word) => plain.startsWith(word) && /^[\d!.?_-]*$/.test(plain.slice(word.length)))
  if (!isWord && new Set(plain).size > 3 && plain !== email && plain !== email.split('@')[0]) return
  throw new BrokerError('InvalidRequestError', 'Cannot take this password: it is one that everybody tries', {
    details: [{ path: 'password', message: 'is one that everybody tries' }],
    hint: 'Several words in a row are easy to remember and hard to guess.',
  })
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
