import type { Actor, BrokerError, Secret } from '../../protocol/index.ts'
import {
  type ConnectionId,
  type ForcedRefresh,
  leftOfForced,
  leftOfPause,
  type Pause,
  pauseAfter,
  pauseAfterForced,
  type RefreshCause,
  refreshDueAt,
  type ServingConnections,
  type StoringOutcome,
  tokenExpired,
  type UsableConnection,
  usableUntil,
} from '../connections/index.ts'
import type { Flows, RefreshOutcome, Tokens } from '../flows/index.ts'
import { loginOption, type Provider } from '../providers/index.ts'
import { askForToken } from './ask-for-token.ts'
import { type Dated, NO_VERSION } from './fresh-value.ts'
import { refreshFailed } from './refresh-failed.ts'
import type { Beginning, FailedOutcome, TokenState } from './renewals.ts'

/** A connection whose tokens are got with the secret of a client, or a key that signs. */
export interface MintedSubject {
  readonly actor: Actor
  readonly provider: Provider
  readonly used: UsableConnection
}

/** What is known of one connection with one secret. */
interface Held {
  /** Of what is sealed. */
  readonly keyVersion: number
  /** Its version is never used twice, not even by a daemon that was started again. */
  token?: Dated<Secret>
  failures: number
  rest: Pause
  forced?: ForcedRefresh
}

interface MintedLease extends MintedSubject {
  readonly held: Held
}

export interface MintedStateOptions {
  readonly flows: Flows
  readonly connections: Pick<ServingConnections, 'tokenIssued'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** 0 to 1. */
  readonly random: () => number
}

const MOST_HELD = 10_000
const NO_PAUSE: Pause = { until: 0, length: 0 }

/** Tokens that can be got anew at any time are kept in memory alone. */
export class MintedState implements TokenState<MintedSubject, MintedLease> {
  readonly #options: MintedStateOptions
  readonly #held = new Map<string, Held>()
  #lastVersion = 0

  constructor(options: MintedStateOptions) {
    this.#options = options
  }

  key({ actor, used }: MintedSubject): string {
    return `${keyOf(actor, used)}/${used.version}`
  }

  async read({ actor, used }: MintedSubject): Promise<Dated<Secret> | undefined> {
    return this.#heldFor(actor, used).token
  }

  /** The token at hand, if there is one that has not ended. */
  held(actor: Actor, id: ConnectionId): Secret | undefined {
    const token = this.#held.get(keyOf(actor, id))?.token
    return token && this.#isUsable(token) ? token.value : undefined
  }

  #isUsable({ usableUntil: until = Number.POSITIVE_INFINITY }: Dated<Secret>): boolean {
    return this.#options.now() < until
  }

  /** Lets go of the tokens of a connection, or of all of a provider. */
  forget({ vaultId }: Actor, { provider, connection }: Pick<ConnectionId, 'provider'> & Partial<ConnectionId>): void {
    const prefix = `${vaultId}/${provider}/`
    for (const key of this.#held.keys()) {
      if (connection === undefined ? key.startsWith(prefix) : key === prefix + connection) this.#held.delete(key)
    }
  }

  /** Tokens belong to the key that they were made with: after another login there are none. */
  #heldFor(actor: Actor, used: UsableConnection): Held {
    const key = keyOf(actor, used)
    const known = this.#held.get(key)
    if (known?.keyVersion === used.version) return known
    if (this.#held.size >= MOST_HELD) this.#held.clear()
    const held: Held = { keyVersion: used.version, failures: 0, rest: NO_PAUSE }
    this.#held.set(key, held)
    return held
  }

  async begin(
    subject: MintedSubject,
    seen: number,
    cause: Exclude<RefreshCause, 'revoke'>,
  ): Promise<Beginning<MintedLease>> {
    const held = this.#heldFor(subject.actor, subject.used)
    if ((held.token?.version ?? NO_VERSION) !== seen) return { kind: 'changed' }
    const now = this.#options.now()
    // A host that refuses every token must not cost one for each request.
    const forced = cause === 'rejected' && held.forced ? leftOfForced(held.forced, now) : 0
    const wait = Math.max(leftOfPause(held.rest, now), forced)
    if (wait > 0) return { kind: 'resting', wait }
    if (cause === 'rejected') held.forced = { at: now, pause: pauseAfterForced(held.forced, now) }
    return { kind: 'leased', lease: { ...subject, held } }
  }

  /** No other daemon knows of it. */
  hold(): () => void {
    return () => undefined
  }

  ask({ provider, used }: MintedLease): Promise<RefreshOutcome> {
    const { flows, now } = this.#options
    return askForToken(flows, provider.definition, used, now())
  }

  async succeed({ actor, used, held }: MintedLease, { accessToken, expiresAt }: Tokens): Promise<StoringOutcome> {
    await this.#options.connections.tokenIssued(actor, used, { kind: 'issued' })
    const now = this.#options.now()
    this.#lastVersion = Math.max(this.#lastVersion + 1, now)
    held.token = { value: accessToken, version: this.#lastVersion, ...this.#timesOf(expiresAt, now) }
    held.failures = 0
    held.rest = NO_PAUSE
    return 'stored'
  }

  #timesOf(expiresAt: number | undefined, now: number): Pick<Dated<Secret>, 'dueAt' | 'usableUntil' | 'expiresAt'> {
    if (expiresAt === undefined) return {}
    const dueAt = refreshDueAt(now, expiresAt, this.#options.random())
    return { expiresAt, dueAt, usableUntil: usableUntil(dueAt, expiresAt) }
  }

  async fail(lease: MintedLease, outcome: FailedOutcome): Promise<BrokerError> {
    const { actor, provider, used } = lease
    const { reason } = outcome
    const { kind } = used.credential
    if (outcome.kind === 'rejected' && kind === 'client_credentials') {
      await this.#options.connections.tokenIssued(actor, used, { kind: 'refused', reason })
      return tokenExpired(used, 'needs_login', loginOption(provider.definition, kind))
    }
    // A key that signs may be refused for a clock that is wrong: it is tried again.
    const serves = this.held(actor, used) !== undefined
    await this.#options.connections.tokenIssued(actor, used, { kind: 'failed', reason, serves })
    const what = outcome.kind === 'rejected' ? 'does not take its key' : 'did not give one'
    return this.failed(lease, `the provider ${what} (${reason})`, this.#rest(lease, outcome))
  }

  #rest({ held }: MintedLease, outcome: FailedOutcome): number {
    held.failures += 1
    const wait = pauseAfter(held.failures, outcome.kind === 'failed' ? outcome : {}, this.#options.random())
    held.rest = { until: this.#options.now() + wait, length: wait }
    return wait
  }

  failed({ provider: { definition }, used }: MintedSubject, why: string, waitMs?: number): BrokerError {
    const { provider, connection, credential } = used
    const option = loginOption(definition, credential.kind === 'client_credentials' ? credential.kind : 'signing')
    const hint = `Try again in a moment. If it was the key: broker login ${provider} --connection ${connection}${option} --force`
    return refreshFailed(used, { what: 'get a token for', why, hint, ...(waitMs !== undefined && { waitMs }) })
  }

  needsLogin({ used }: MintedSubject): BrokerError {
    return tokenExpired(used, 'needs_login')
  }
}

function keyOf({ vaultId }: Actor, { provider, connection }: ConnectionId): string {
  return `${vaultId}/${provider}/${connection}`
}
