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
import {
  credentialOf,
  type Flows,
  type RefreshOutcome,
  refreshedGrant,
  storedGrant,
  type Tokens,
} from '../flows/index.ts'
import type { Provider } from '../providers/index.ts'
import { grantedParty } from './granted-party.ts'
import { refreshFailed } from './refresh-failed.ts'
import { type Beginning, type FailedOutcome, LONGEST_RENEWAL_MS, LOOK_AGAIN_MS, type TokenState } from './renewals.ts'

/** A connection by OAuth. */
export interface GrantSubject {
  readonly actor: Actor
  readonly provider: Provider
  readonly id: ConnectionId
}

/** The right to spend its refresh token. */
interface GrantLease extends Omit<GrantSubject, 'id'> {
  readonly lease: RefreshLease
}

interface HeldRefresh {
  readonly lease: RefreshLease
  letGo(): void
}

export interface GrantStateOptions {
  readonly refreshes: Refreshes
  readonly flows: Flows
  readonly clients: OAuthClients
}

const MOST_RESTING = 10_000

/** Grants are in the database: its lease is one for all daemons. */
export class GrantState implements TokenState<GrantSubject, GrantLease> {
  readonly #options: GrantStateOptions
  /** Which version not to try again before: the database knows it too, but is not asked for each request. */
  readonly #resting = new Map<string, { readonly version: number; readonly until: number }>()

  constructor(options: GrantStateOptions) {
    this.#options = options
  }

  key({ actor, id: { provider, connection } }: GrantSubject): string {
    return `${actor.vaultId}/${provider}/${connection}`
  }

  async begin(
    subject: GrantSubject,
    seen: number,
    cause: Exclude<RefreshCause, 'revoke'>,
  ): Promise<Beginning<GrantLease>> {
    const { actor, provider, id } = subject
    const rest = cause === 'due' ? this.#restOf(subject, seen) : 0
    if (rest > 0) return { kind: 'resting', wait: rest }
    const beginning = await this.#options.refreshes.begin(actor, id, seen, cause)
    if (beginning.kind === 'leased') return { kind: 'leased', lease: { actor, provider, lease: beginning.lease } }
    if (beginning.kind === 'resting' && cause === 'due') this.#rest(subject, seen, beginning.wait)
    return beginning
  }

  #restOf(subject: GrantSubject, version: number): number {
    const resting = this.#resting.get(this.key(subject))
    return resting?.version === version ? resting.until - performance.now() : 0
  }

  #rest(subject: GrantSubject, version: number, wait: number): void {
    if (this.#resting.size >= MOST_RESTING) this.#resting.clear()
    this.#resting.set(this.key(subject), { version, until: performance.now() + wait })
  }

  hold({ actor, lease }: GrantLease): () => void {
    return this.#held(actor, lease).letGo
  }

  /** One that cannot be renewed lapses: what comes of the work is fenced all the same. */
  #held(actor: Actor, lease: RefreshLease): HeldRefresh {
    const renew = () => this.#options.refreshes.renew(actor, lease).catch(() => undefined)
    const renewal = setInterval(renew, RENEW_EVERY_MS)
    return { lease, letGo: () => clearInterval(renewal) }
  }

  /**
   * Waits until no refresh of the connection is under way, and keeps any other from beginning until it is let go. Undefined
   * where the connection is gone, or its refresh does not come to an end.
   */
  async holdAtRest(actor: Actor, id: ConnectionId): Promise<HeldRefresh | undefined> {
    const giveUpAt = performance.now() + LONGEST_RENEWAL_MS
    for (;;) {
      const beginning = await this.#options.refreshes.begin(actor, id, 0, 'revoke').catch(unlessGone)
      if (beginning.kind === 'leased') return this.#held(actor, beginning.lease)
      if (beginning.kind !== 'busy' || performance.now() > giveUpAt) return undefined
      await delay(LOOK_AGAIN_MS)
    }
  }

  async ask(held: GrantLease): Promise<RefreshOutcome> {
    try {
      return await this.#askProvider(held)
    } catch (error) {
      const outcome = { reason: 'internal_error', answered: true }
      if (error instanceof BrokerError) await this.#options.refreshes.fail(held.actor, held.lease, outcome)
      throw error
    }
  }

  async #askProvider({ actor, provider, lease }: GrantLease): Promise<RefreshOutcome> {
    const { flows, clients } = this.#options
    const { party, grant } = await grantedParty(clients, actor, provider, lease)
    if (!grant.refreshToken) return { kind: 'rejected', reason: 'no_refresh_token' }
    // Forgotten, or changed on disk: the provider would be shown the token by somebody it has to refuse.
    if (party.client.auth !== 'none' && !party.client.secret) return { kind: 'rejected', reason: 'no_client_secret' }
    return flows.refresh({ ...party, refreshToken: grant.refreshToken, scopes: lease.scopes })
  }

  succeed({ actor, lease }: GrantLease, tokens: Tokens): Promise<StoringOutcome> {
    const { expiresAt, scopes } = tokens
    const fields = credentialOf(refreshedGrant(storedGrant(lease.credential.fields), tokens))
    return this.#options.refreshes.succeed(actor, lease, {
      credential: { kind: 'oauth2', fields },
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
    })
  }

  async fail({ actor, provider, lease }: GrantLease, outcome: FailedOutcome): Promise<BrokerError | undefined> {
    const { refreshes } = this.#options
    const { reason } = outcome
    if (outcome.kind === 'rejected') {
      if (!(await refreshes.reject(actor, lease, reason))) return undefined
      if (reason === 'invalid_client') await this.#forgetRegistration(actor, provider, lease)
      return rejected(lease, reason)
    }
    const subject = { actor, provider, id: lease }
    const { wait, needsLogin } = await refreshes.fail(actor, lease, outcome)
    this.#rest(subject, lease.version, wait)
    if (needsLogin) return rejected(lease, reason)
    const what = outcome.answered ? 'gave no new token' : 'could not be asked'
    return this.failed(subject, `the provider ${what} (${reason})`, wait)
  }

  /** The server has forgotten us: the next login has to register anew, and not to come with this client. */
  async #forgetRegistration(actor: Actor, provider: Provider, lease: RefreshLease): Promise<void> {
    const { client } = storedGrant(lease.credential.fields)
    await this.#options.clients.forget(actor, provider, { kind: 'registered', id: client.id })
  }

  failed({ id }: Pick<GrantSubject, 'id'>, why: string, waitMs?: number): BrokerError {
    const hint = `${tryAgain(waitMs)}; the connection is kept.`
    return refreshFailed(id, { why, hint, ...(waitMs !== undefined && { waitMs }) })
  }

  needsLogin({ id }: GrantSubject): BrokerError {
    return tokenExpired(id, 'needs_login')
  }
}

function unlessGone(error: unknown): RefreshBeginning {
  if (error instanceof BrokerError && error.name === 'ConnectionNotFoundError') return { kind: 'changed' }
  throw error
}

function tryAgain(waitMs = 0): string {
  const minutes = Math.ceil(waitMs / 60_000)
  return minutes > 1 ? `The provider is asked again in ${minutes} min` : 'Try again in a moment'
}

const NOT_ASKED: Readonly<Record<string, string>> = {
  no_refresh_token: 'it has no refresh token',
  no_client_secret: 'the OAuth app it was made with is gone',
}

function rejected(id: ConnectionId, reason: string): BrokerError {
  return refreshFailed(id, {
    why: NOT_ASKED[reason] ?? 'the provider takes its refresh token no more',
    hint: `Log in again: broker login ${id.provider} --connection ${id.connection} --force`,
  })
}
