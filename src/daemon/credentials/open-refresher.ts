import { setTimeout as delay } from 'node:timers/promises'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import {
  type ConnectionId,
  type OAuthClients,
  RENEW_EVERY_MS,
  type RefreshBeginning,
  type RefreshCause,
  type Refreshes,
  type RefreshLease,
  type StoringOutcome,
  tokenExpired,
} from '../connections/index.ts'
import { credentialOf, type Flows, type RefreshOutcome, refreshedGrant, storedGrant } from '../flows/index.ts'
import type { Provider } from '../providers/index.ts'
import { grantedParty } from './granted-party.ts'

/** Gets new tokens for a connection: once, however many ask. */
export interface Refresher {
  /**
   * Resolves when the connection's credential is another than the version that was seen, whoever refreshed it.
   * @throws BrokerError RefreshFailedError where it did not work, or not in time (it goes on then); TokenExpiredError
   *   where nothing but a login helps
   */
  refresh(actor: Actor, provider: Provider, stale: StaleCredential, cause: RefreshCause): Promise<void>
  /**
   * Waits until no refresh of the connection is under way, and keeps any other from beginning until it is let go. Undefined
   * where the connection is gone, or its refresh does not come to an end.
   */
  hold(actor: Actor, id: ConnectionId): Promise<HeldRefresh | undefined>
  /** Begins no more, and waits for those under way: what a provider has granted is stored. */
  close(): Promise<void>
}

interface StaleCredential extends ConnectionId {
  readonly version: number
}

interface HeldRefresh {
  readonly lease: RefreshLease
  letGo(): void
}

export interface RefresherOptions {
  readonly refreshes: Refreshes
  readonly flows: Flows
  readonly clients: OAuthClients
  /** An error that is nobody's fault but ours. */
  readonly onFailure: (error: unknown) => void
}

/** How long one who asks waits; the refresh itself goes on. */
const PATIENCE_MS = 10_000
/** Between looks at a lease that another daemon holds. */
const LOOK_AGAIN_MS = 50
/** A refresh that goes on for longer is not waited for. */
const LONGEST_REFRESH_MS = 40_000
const STORE_AGAIN_MS = 200
const STORE_FOR_MS = 60_000
const MOST_RESTING = 10_000

export function openRefresher(options: RefresherOptions): Refresher {
  return new SharedRefreshes(options)
}

class SharedRefreshes implements Refresher {
  readonly #options: RefresherOptions
  readonly #underWay = new Map<string, Promise<void>>()
  /** Which version not to try again before: the database knows it too, but is not asked for each request. */
  readonly #resting = new Map<string, { readonly version: number; readonly until: number }>()
  #closed = false

  constructor(options: RefresherOptions) {
    this.#options = options
  }

  async refresh(actor: Actor, provider: Provider, stale: StaleCredential, cause: RefreshCause): Promise<void> {
    const key = `${actor.vaultId}/${stale.provider}/${stale.connection}`
    let refresh = this.#underWay.get(key)
    if (!refresh) {
      const rest = this.#restOf(key, stale)
      if (rest > 0 && cause === 'due') throw failed(stale, 'it failed before', rest)
      if (this.#closed) throw stopping()
      refresh = this.#refresh(actor, provider, stale, cause).finally(() => this.#underWay.delete(key))
      refresh.catch((error: unknown) => {
        if (!(error instanceof BrokerError)) this.#options.onFailure(error)
      })
      this.#underWay.set(key, refresh)
    }
    await withinPatience(refresh, stale)
  }

  #restOf(key: string, { version }: StaleCredential): number {
    const resting = this.#resting.get(key)
    return resting?.version === version ? resting.until - performance.now() : 0
  }

  #rest(actor: Actor, { provider, connection, version }: StaleCredential, wait: number): void {
    if (this.#resting.size >= MOST_RESTING) this.#resting.clear()
    this.#resting.set(`${actor.vaultId}/${provider}/${connection}`, { version, until: performance.now() + wait })
  }

  async #refresh(actor: Actor, provider: Provider, stale: StaleCredential, cause: RefreshCause): Promise<void> {
    const { refreshes } = this.#options
    const giveUpAt = performance.now() + LONGEST_REFRESH_MS
    for (;;) {
      const beginning = await refreshes.begin(actor, stale, stale.version, cause)
      switch (beginning.kind) {
        case 'leased':
          return this.#spendLeased(actor, provider, beginning.lease)
        case 'changed':
          return
        case 'needs_login':
          throw tokenExpired(stale, 'needs_login')
        case 'resting':
          if (cause === 'due') this.#rest(actor, stale, beginning.wait)
          throw failed(stale, 'it failed before', beginning.wait)
        case 'busy':
          if (this.#closed) throw stopping()
          if (performance.now() > giveUpAt) throw failed(stale, 'another daemon does not finish it')
          await delay(LOOK_AGAIN_MS)
      }
    }
  }

  async hold(actor: Actor, id: ConnectionId): Promise<HeldRefresh | undefined> {
    const giveUpAt = performance.now() + LONGEST_REFRESH_MS
    for (;;) {
      const beginning = await this.#options.refreshes.begin(actor, id, 0, 'revoke').catch(unlessGone)
      if (beginning.kind === 'leased') return this.#held(actor, beginning.lease)
      if (beginning.kind !== 'busy' || performance.now() > giveUpAt) return undefined
      await delay(LOOK_AGAIN_MS)
    }
  }

  /** One that cannot be renewed lapses: what comes of the work is fenced all the same. */
  #held(actor: Actor, lease: RefreshLease): HeldRefresh {
    const renew = () => this.#options.refreshes.renew(actor, lease).catch(() => undefined)
    const renewal = setInterval(renew, RENEW_EVERY_MS)
    return { lease, letGo: () => clearInterval(renewal) }
  }

  async #spendLeased(actor: Actor, provider: Provider, lease: RefreshLease): Promise<void> {
    const held = this.#held(actor, lease)
    try {
      await this.#spend(actor, provider, lease)
    } finally {
      held.letGo()
    }
  }

  async #spend(actor: Actor, provider: Provider, lease: RefreshLease): Promise<void> {
    const { refreshes } = this.#options
    const outcome = await this.#ask(actor, provider, lease)
    switch (outcome.kind) {
      case 'refreshed': {
        const { expiresAt, scopes } = outcome.tokens
        const fields = credentialOf(refreshedGrant(storedGrant(lease.credential.fields), outcome.tokens))
        const credential = { kind: 'oauth2', fields } as const
        const refreshed = { credential, scopes, ...(expiresAt !== undefined && { expiresAt }) }
        return this.#store(() => refreshes.succeed(actor, lease, refreshed))
      }
      case 'rejected':
        if (!(await refreshes.reject(actor, lease, outcome.reason))) return
        if (outcome.reason === 'invalid_client') await this.#forgetRegistration(actor, provider, lease)
        throw rejected(lease, outcome.reason)
      case 'failed': {
        const { wait, needsLogin } = await refreshes.fail(actor, lease, outcome)
        this.#rest(actor, lease, wait)
        if (needsLogin) throw rejected(lease, outcome.reason)
        const what = outcome.answered ? 'gave no new token' : 'could not be asked'
        throw failed(lease, `the provider ${what} (${outcome.reason})`, wait)
      }
    }
  }

  async #ask(actor: Actor, provider: Provider, lease: RefreshLease): Promise<RefreshOutcome> {
    try {
      return await this.#askProvider(actor, provider, lease)
    } catch (error) {
      this.#options.onFailure(error)
      return { kind: 'failed', reason: 'internal_error', answered: false }
    }
  }

  async #askProvider(actor: Actor, provider: Provider, lease: RefreshLease): Promise<RefreshOutcome> {
    const { flows, clients } = this.#options
    const { party, grant } = await grantedParty(clients, actor, provider, lease)
    if (!grant.refreshToken) return { kind: 'rejected', reason: 'no_refresh_token' }
    // Forgotten, or changed on disk: the provider would be shown the token by somebody it has to refuse.
    if (party.client.auth !== 'none' && !party.client.secret) return { kind: 'rejected', reason: 'no_client_secret' }
    return flows.refresh({ ...party, refreshToken: grant.refreshToken, scopes: lease.scopes })
  }

  /** The server has forgotten us: the next login has to register anew, and not to come with this client. */
  async #forgetRegistration(actor: Actor, provider: Provider, lease: RefreshLease): Promise<void> {
    const { client } = storedGrant(lease.credential.fields)
    await this.#options.clients.forget(actor, provider, { kind: 'registered', id: client.id })
  }

  /** Tries for a while: what was granted is in no other place, and the token before it is spent. */
  async #store(store: () => Promise<StoringOutcome>): Promise<void> {
    const giveUpAt = performance.now() + STORE_FOR_MS
    for (;;) {
      try {
        if ((await store()) !== 'contested' || performance.now() > giveUpAt) return
        await delay(LOOK_AGAIN_MS)
      } catch (error) {
        this.#options.onFailure(error)
        if (this.#closed || performance.now() > giveUpAt) throw error
        await delay(STORE_AGAIN_MS)
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay.values())
  }
}

function stopping(): BrokerError {
  return new BrokerError('DaemonUnavailableError', 'The daemon is stopping', { retryAfter: 1 })
}

function unlessGone(error: unknown): RefreshBeginning {
  if (error instanceof BrokerError && error.name === 'ConnectionNotFoundError') return { kind: 'changed' }
  throw error
}

async function withinPatience(refresh: Promise<void>, stale: StaleCredential): Promise<void> {
  const patience = new AbortController()
  const impatience = delay(PATIENCE_MS, undefined, { signal: patience.signal }).then(() => {
    throw failed(stale, `the provider has not answered within ${PATIENCE_MS / 1000} s`)
  })
  try {
    await Promise.race([refresh, impatience])
  } finally {
    patience.abort()
    impatience.catch(() => undefined)
  }
}

function failed({ provider, connection }: ConnectionId, why: string, waitMs?: number): BrokerError {
  return new BrokerError('RefreshFailedError', `Cannot refresh connection "${connection}" of ${provider}: ${why}`, {
    provider,
    connection,
    hint: `${tryAgain(waitMs)}; the connection is kept.`,
    ...(waitMs !== undefined && { retryAfter: Math.max(1, Math.ceil(waitMs / 1_000)) }),
  })
}

function tryAgain(waitMs = 0): string {
  const minutes = Math.ceil(waitMs / 60_000)
  return minutes > 1 ? `The provider is asked again in ${minutes} min` : 'Try again in a moment'
}

const NOT_ASKED: Readonly<Record<string, string>> = {
  no_refresh_token: 'it has no refresh token',
  no_client_secret: 'the OAuth app it was made with is gone',
}

function rejected({ provider, connection }: ConnectionId, reason: string): BrokerError {
  const why = NOT_ASKED[reason] ?? 'the provider takes its refresh token no more'
  return new BrokerError('RefreshFailedError', `Cannot refresh connection "${connection}" of ${provider}: ${why}`, {
    provider,
    connection,
    hint: `Log in again: broker login ${provider} --connection ${connection} --force`,
  })
}
