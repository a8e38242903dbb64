import { type Actor, BrokerError, type Secret } from '../../protocol/index.ts'
import {
  type ConnectionId,
  type Connections,
  type ForcedRefresh,
  leftOfForced,
  leftOfPause,
  type Pause,
  pauseAfter,
  pauseAfterForced,
  refreshDueAt,
  tokenExpired,
  type UsableConnection,
  usableUntil,
} from '../connections/index.ts'
import type { Flows, RefreshOutcome } from '../flows/index.ts'
import { loginOption, type Provider } from '../providers/index.ts'
import { askForToken } from './ask-for-token.ts'
import { ifItServesOn } from './use-fresh.ts'

/** A token that was got with the secret of a client, or a key that signs. Kept in memory alone, and got anew before it ends. */
interface IssuedToken {
  readonly accessToken: Secret
  /** Milliseconds since 1970; absent where the service does not say. */
  readonly expiresAt?: number
  /** Another token has another; never used twice, not even by a daemon that was started again. */
  readonly version: number
}

export interface TokenIssuer {
  /**
   * A token that has not ended, asked for once however many want it. Where the host has refused the one of this version
   * another, or the same again where that cannot be.
   * @throws BrokerError RefreshFailedError; TokenExpiredError where nothing but a login helps; CredentialMissingError where
   *   what the connection holds cannot be read
   */
  token(
    actor: Actor,
    provider: Provider,
    used: UsableConnection,
    rejectedVersion: number | undefined,
  ): Promise<IssuedToken>
  /** The token at hand, if there is one that has not ended. */
  held(actor: Actor, id: ConnectionId): IssuedToken | undefined
  /** Lets go of the tokens of a connection, or of all of a provider. */
  forget(actor: Actor, id: Pick<ConnectionId, 'provider'> & Partial<ConnectionId>): void
}

export interface TokenIssuerOptions {
  readonly flows: Flows
  readonly connections: Connections
  /** An error that is nobody's fault but ours. */
  readonly onFailure: (error: unknown) => void
  readonly now?: () => number
  readonly random?: () => number
}

export function openTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  return new TokensInMemory(options)
}

/** What is known of one connection with one secret. */
interface Held {
  /** Of what is sealed. */
  readonly keyVersion: number
  token?: IssuedToken
  /** When the token at hand is replaced, and until when it is handed out. */
  dueAt: number
  usableUntil: number
  underWay?: Promise<IssuedToken>
  failures: number
  rest: Pause
  forced?: ForcedRefresh
}

interface Wanted {
  readonly actor: Actor
  readonly provider: Provider
  readonly used: UsableConnection
}

const MOST_HELD = 10_000
const NO_PAUSE: Pause = { until: 0, length: 0 }

class TokensInMemory implements TokenIssuer {
  readonly #options: TokenIssuerOptions
  readonly #now: () => number
  readonly #random: () => number
  readonly #held = new Map<string, Held>()
  #lastVersion = 0

  constructor(options: TokenIssuerOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#random = options.random ?? Math.random
  }

  async token(
    actor: Actor,
    provider: Provider,
    used: UsableConnection,
    rejectedVersion: number | undefined,
  ): Promise<IssuedToken> {
    const held = this.#heldFor(actor, used)
    const wanted = { actor, provider, used }
    const { token } = held
    if (!token || this.#now() >= held.usableUntil) return this.#issued(held, wanted)
    if (token.version === rejectedVersion) return this.#instead(token, held, wanted)
    if (this.#now() >= held.dueAt) this.#issueBehind(held, wanted)
    return token
  }

  held({ vaultId }: Actor, { provider, connection }: ConnectionId): IssuedToken | undefined {
    const held = this.#held.get(`${vaultId}/${provider}/${connection}`)
    return held?.token && this.#now() < held.usableUntil ? held.token : undefined
  }

  forget({ vaultId }: Actor, { provider, connection }: Pick<ConnectionId, 'provider'> & Partial<ConnectionId>): void {
    const prefix = `${vaultId}/${provider}/`
    for (const key of this.#held.keys()) {
      if (connection === undefined ? key.startsWith(prefix) : key === prefix + connection) this.#held.delete(key)
    }
  }

  /** Tokens belong to the key that they were made with: after another login there are none. */
  #heldFor({ vaultId }: Actor, { provider, connection, version }: UsableConnection): Held {
    const key = `${vaultId}/${provider}/${connection}`
    const known = this.#held.get(key)
    if (known?.keyVersion === version) return known
    if (this.#held.size >= MOST_HELD) this.#held.clear()
    const held: Held = { keyVersion: version, dueAt: 0, usableUntil: 0, failures: 0, rest: NO_PAUSE }
    this.#held.set(key, held)
    return held
  }

  /** A host that refuses every token must not cost one for each request. */
  async #instead(token: IssuedToken, held: Held, wanted: Wanted): Promise<IssuedToken> {
    const now = this.#now()
    if (!held.underWay) {
      if (held.forced && leftOfForced(held.forced, now) > 0) return token
      held.forced = { at: now, pause: pauseAfterForced(held.forced, now) }
    }
    try {
      return await this.#issued(held, wanted)
    } catch (error) {
      ifItServesOn(error)
      return token
    }
  }

  /** The token at hand is handed out meanwhile, and as long as this does not work. */
  #issueBehind(held: Held, wanted: Wanted): void {
    this.#issued(held, wanted).catch((error: unknown) => {
      if (!(error instanceof BrokerError)) this.#options.onFailure(error)
    })
  }

  #issued(held: Held, wanted: Wanted): Promise<IssuedToken> {
    held.underWay ??= this.#issue(held, wanted).finally(() => {
      delete held.underWay
    })
    return held.underWay
  }

  async #issue(held: Held, wanted: Wanted): Promise<IssuedToken> {
    const wait = leftOfPause(held.rest, this.#now())
    if (wait > 0) throw failed(wanted, 'it failed a short while ago', wait)
    const outcome = await this.#ask(wanted)
    if (outcome.kind !== 'refreshed') throw await this.#fail(held, wanted, outcome)
    const { actor, used } = wanted
    await this.#options.connections.tokenIssued(actor, used, { kind: 'issued' })
    return this.#keep(held, outcome.tokens)
  }

  async #ask({ provider, used }: Wanted): Promise<RefreshOutcome> {
    try {
      return await askForToken(this.#options.flows, provider.definition, used, this.#now())
    } catch (error) {
      if (error instanceof BrokerError) throw error
      this.#options.onFailure(error)
      return { kind: 'failed', reason: 'internal_error', answered: false }
    }
  }

  async #fail(held: Held, wanted: Wanted, outcome: FailedOutcome): Promise<BrokerError> {
    const { actor, provider, used } = wanted
    const { reason } = outcome
    if (outcome.kind === 'rejected' && used.credential.kind === 'client_credentials') {
      await this.#options.connections.tokenIssued(actor, used, { kind: 'refused', reason })
      return tokenExpired(used, 'needs_login', loginOption(provider.definition, used.credential.kind))
    }
    // A key that signs may be refused for a clock that is wrong: it is tried again.
    const serves = this.held(actor, used) !== undefined
    await this.#options.connections.tokenIssued(actor, used, { kind: 'failed', reason, serves })
    return this.#rest(held, wanted, outcome)
  }

  #rest(held: Held, wanted: Wanted, outcome: FailedOutcome): BrokerError {
    held.failures += 1
    const wait = pauseAfter(held.failures, outcome.kind === 'failed' ? outcome : {}, this.#random())
    held.rest = { until: this.#now() + wait, length: wait }
    return outcome.kind === 'rejected'
      ? failed(wanted, `the provider does not take its key (${outcome.reason})`, wait)
      : failed(wanted, `the provider did not give one (${outcome.reason})`, wait)
  }

  #keep(held: Held, { accessToken, expiresAt }: Pick<IssuedToken, 'accessToken' | 'expiresAt'>): IssuedToken {
    const now = this.#now()
    this.#lastVersion = Math.max(this.#lastVersion + 1, now)
    const token = { accessToken, version: this.#lastVersion, ...(expiresAt !== undefined && { expiresAt }) }
    const dueAt = expiresAt === undefined ? Number.POSITIVE_INFINITY : refreshDueAt(now, expiresAt, this.#random())
    held.token = token
    held.dueAt = dueAt
    held.usableUntil = expiresAt === undefined ? Number.POSITIVE_INFINITY : usableUntil(dueAt, expiresAt)
    held.failures = 0
    held.rest = NO_PAUSE
    return token
  }
}

type FailedOutcome = Exclude<RefreshOutcome, { kind: 'refreshed' }>

function failed({ provider: { definition }, used }: Wanted, why: string, waitMs: number): BrokerError {
  const {
    provider,
    connection,
    credential: { kind },
  } = used
  const option = loginOption(definition, kind === 'client_credentials' ? kind : 'signing')
  return new BrokerError(
    'RefreshFailedError',
    `Cannot get a token for connection "${connection}" of ${provider}: ${why}`,
    {
      provider,
      connection,
      hint: `Try again in a moment. If it was the key: broker login ${provider} --connection ${connection}${option} --force`,
      retryAfter: Math.max(1, Math.ceil(waitMs / 1_000)),
    },
  )
}
