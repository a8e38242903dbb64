import type { Actor } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { ConnectionRow, Db, RefreshRow, Store } from '../store/index.ts'
import type { OpenedRecord, Vault } from '../vault/index.ts'
import type { ConnectionId } from './connection-id.ts'
import { findRefresh, findSealed, updateRow } from './connection-rows.ts'
import { type Credential, parseCredential, recordOf, serialize } from './credential-record.ts'
import {
  dueAtOf,
  expiryColumns,
  type ForcedRefresh,
  LONGEST_RETRY_AFTER,
  leftOfForced,
  leftOfPause,
  type Pause,
  pauseAfter,
  pauseAfterForced,
} from './freshness.ts'
import { isLeased, LEASE_MS } from './refresh-lease.ts'
import { notFound } from './refusals.ts'

/** The right to spend the refresh token of one connection. */
export interface RefreshLease extends ConnectionId {
  /** Fences: whoever holds a later lease has a higher one, and is not written over. */
  readonly epoch: number
  /** Of the record, as it was when the lease began. */
  readonly version: number
  readonly credential: Credential
  readonly scopes: readonly string[]
  readonly baseUrl?: string
  readonly cause: RefreshCause
  /** A daemon ended after it had spent this very refresh token, perhaps, and before it stored the answer. */
  readonly interrupted: boolean
}

export type RefreshBeginning =
  | { readonly kind: 'leased'; readonly lease: RefreshLease }
  /** There is another credential than the one that was seen. */
  | { readonly kind: 'changed' }
  /** Another daemon, or another request of this one, holds the lease. */
  | { readonly kind: 'busy' }
  /** It failed, or was forced, a short while ago. `wait`: milliseconds until it may be tried again. */
  | { readonly kind: 'resting'; readonly wait: number }
  /** Nothing but a login helps. */
  | { readonly kind: 'needs_login' }

/** `due`: the token ends soon or has ended. `rejected`: its host refused it. `revoke`: to be ended with the connection. */
export type RefreshCause = 'due' | 'rejected' | 'revoke'

interface RefreshedCredential {
  readonly credential: Credential
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  readonly scopes: readonly string[]
}

/**
 * `stored`. `outdated`: another credential was stored meanwhile, or the connection is gone. `contested`: the lease had run
 * out, and another daemon is at it now; what that one brings comes first.
 */
export type StoringOutcome = 'stored' | 'outdated' | 'contested'

/**
 * Who may spend a refresh token, and what came of it. A lease is in the database, so that daemons which share one agree;
 * it is short, and so a daemon that was killed holds nobody up for long. Whoever is at work renews it.
 */
export interface Refreshes {
  /** @param seen version of the credential that is to be replaced @throws BrokerError ConnectionNotFoundError */
  begin(actor: Actor, id: ConnectionId, seen: number, cause: RefreshCause): Promise<RefreshBeginning>
  /** Holds the lease for {@link LEASE_MS} more. Changes nothing where it has ended, or is another's by now. */
  renew(actor: Actor, lease: RefreshLease): Promise<void>
  /**
   * Stores what the provider answered, even for a lease that has run out: what a provider granted is never thrown away for
   * an older one.
   */
  succeed(actor: Actor, lease: RefreshLease, refreshed: RefreshedCredential): Promise<StoringOutcome>
  /** The provider will never take the token again; `false` where the credential or the lease is another's by now. */
  reject(actor: Actor, lease: RefreshLease, reason: string): Promise<boolean>
  /** It did not work this time. */
  fail(actor: Actor, lease: RefreshLease, failure: RefreshFailure): Promise<RefreshPause>
}

interface RefreshPause {
  /** How long to leave it alone, in milliseconds. */
  readonly wait: number
  /** It was refused, and there is no token left that serves. */
  readonly needsLogin: boolean
}

interface RefreshFailure {
  readonly reason: string
  /** Seconds that the provider asks for. */
  readonly retryAfter?: number
  /** Whether the provider answered: then it has not spent the token. */
  readonly answered: boolean
  /** It said no, in words of its own: where no usable token is left, a login is needed. It is asked again, ever more rarely. */
  readonly refused?: true
}

export interface RefreshesOptions {
  readonly store: Store
  readonly vault: Vault
  readonly audit: Audit
  /** No other daemon uses this store: leases found at the start are those of a process that is gone. */
  readonly alone: boolean
  readonly now?: () => number
  readonly random?: () => number
}

export async function openRefreshes(options: RefreshesOptions): Promise<Refreshes> {
  if (options.alone) await options.store.db.updateTable('refreshes').set({ leased_until: null }).execute()
  return new RefreshesOfStore(options)
}

class RefreshesOfStore implements Refreshes {
  readonly #store: Store
  readonly #vault: Vault
  readonly #audit: Audit
  readonly #now: () => number
  readonly #random: () => number

  constructor({ store, vault, audit, now = Date.now, random = Math.random }: RefreshesOptions) {
    this.#store = store
    this.#vault = vault
    this.#audit = audit
    this.#now = now
    this.#random = random
  }

  async begin(actor: Actor, id: ConnectionId, seen: number, cause: RefreshCause): Promise<RefreshBeginning> {
    // What is to be revoked is not given out.
    if (cause !== 'revoke') await this.#vault.requireWhole(actor.vaultId)
    return this.#store.vaultTransaction(actor.vaultId, async (tx) => {
      const row = await findSealed(tx, actor, id)
      if (!row) throw notFound(id, 'use')
      const before = await findRefresh(tx, actor, id)
      const now = await this.#store.clock(tx)
      if (row.problem !== null && cause !== 'revoke' && !isAskedAgain(before, now)) return { kind: 'needs_login' }
      if (!row.record || (row.record.version !== seen && cause !== 'revoke')) return { kind: 'changed' }
      // Whoever says it is due: a fresh token is never replaced for that.
      if (cause === 'due' && !this.#isDue(row)) return { kind: 'changed' }
      if (isLeased(before, now)) return { kind: 'busy' }
      const wait = cause === 'revoke' ? 0 : waitFor(before, cause, now)
      if (wait > 0) return { kind: 'resting', wait }
      const record = await this.#vault.unseal(tx, recordOf(actor, id), row.destination, row.record)
      const epoch = (before?.epoch ?? 0) + 1
      await writeRefresh(tx, actor, id, {
        epoch,
        leased_until: now + LEASE_MS,
        sent_version: cause === 'revoke' ? (before?.sent_version ?? null) : record.version,
        failures: before?.failures ?? 0,
        retry_at: before?.retry_at ?? null,
        retry_pause: before?.retry_pause ?? null,
        failing_since: before?.failing_since ?? null,
        failure_reason: before?.failure_reason ?? null,
        ...forcing(before, cause, now),
      })
      const interrupted = before?.sent_version === record.version
      return { kind: 'leased', lease: leaseOf(row, record, { cause, epoch, interrupted }) }
    })
  }

  async renew({ vaultId }: Actor, { provider, connection, epoch }: RefreshLease): Promise<void> {
    await this.#store.vaultTransaction(vaultId, async (tx) => {
      await tx
        .updateTable('refreshes')
        .set({ leased_until: (await this.#store.clock(tx)) + LEASE_MS })
        .where('vault_id', '=', vaultId)
        .where('provider', '=', provider)
        .where('connection', '=', connection)
        .where('epoch', '=', epoch)
        .where('leased_until', 'is not', null)
        .execute()
    })
  }

  #isDue(row: ConnectionRow): boolean {
    return (dueAtOf(row, this.#now()) ?? 0) <= this.#now()
  }

  async succeed(
    actor: Actor,
    lease: RefreshLease,
    { credential, expiresAt, scopes }: RefreshedCredential,
  ): Promise<StoringOutcome> {
    return this.#store.vaultTransaction(actor.vaultId, async (tx) => {
      const row = await this.#unchanged(tx, actor, lease)
      if (!row) return 'outdated'
      const latest = await findRefresh(tx, actor, lease)
      if (latest?.epoch !== lease.epoch && isLeased(latest, await this.#store.clock(tx))) return 'contested'
      await this.#vault.put(tx, recordOf(actor, lease), row.destination, serialize(credential))
      await updateRow(tx, actor, lease, {
        ...expiryColumns(expiresAt, { refreshable: true, now: this.#now(), random: this.#random() }),
        scopes: JSON.stringify(scopes),
        updated_at: iso(this.#now()),
        problem: null,
        problem_reason: null,
      })
      // The journal, the failures and the pause were about the token that is gone now, whoever holds the lease.
      await updateRefresh(tx, actor, lease, { sent_version: null, ...NOTHING_FAILS })
      await this.#endLease(tx, actor, lease)
      await this.#audit.record(tx, actor, { event: 'provider.refreshed', status: 'success', ...nameOf(lease) })
      return 'stored'
    })
  }

  async reject(actor: Actor, lease: RefreshLease, reason: string): Promise<boolean> {
    return this.#store.vaultTransaction(actor.vaultId, async (tx) => {
      if (!(await this.#unchanged(tx, actor, lease))) return false
      if (!(await this.#endLease(tx, actor, lease))) return false
      await updateRow(tx, actor, lease, {
        problem: 'needs_login',
        problem_reason: `The provider takes its refresh token no more (${reason}).`,
        refresh_due_at: null,
        updated_at: iso(this.#now()),
      })
      // For good: it is not asked again.
      await updateRefresh(tx, actor, lease, { sent_version: null, ...NOTHING_FAILS })
      await this.#recordFailure(tx, actor, lease, lease.interrupted ? 'rotation_interrupted' : reason)
      return true
    })
  }

  async fail(actor: Actor, lease: RefreshLease, failure: RefreshFailure): Promise<RefreshPause> {
    return this.#store.vaultTransaction(actor.vaultId, async (tx) => {
      const before = await findRefresh(tx, actor, lease)
      const failures = (before?.failures ?? 0) + 1
      const wait = pauseAfter(failures, failure, this.#random())
      const row = await this.#unchanged(tx, actor, lease)
      // With a login, epochs begin anew.
      if (!row) return { wait, needsLogin: false }
      if (!(await this.#endLease(tx, actor, lease))) return { wait, needsLogin: false }
      const now = await this.#store.clock(tx)
      const retry_at = now + wait
      const failing = { failing_since: before?.failing_since ?? now, failure_reason: failure.reason }
      const journal = failure.answered && !lease.interrupted ? { sent_version: null } : {}
      await updateRefresh(tx, actor, lease, { failures, retry_at, retry_pause: wait, ...failing, ...journal })
      const needsLogin = failure.refused === true && (lease.cause === 'rejected' || this.#hasEnded(row))
      if (needsLogin) {
        const problem_reason = `The provider refuses to refresh it (${failure.reason}); it is asked again now and then.`
        await updateRow(tx, actor, lease, { problem: 'needs_login', problem_reason })
      }
      await this.#recordFailure(tx, actor, lease, failure.reason)
      return { wait, needsLogin }
    })
  }

  /** Returns whether there is no token left that serves on. */
  #hasEnded({ expires_at: expiresAt }: ConnectionRow): boolean {
    return expiresAt !== null && Date.parse(expiresAt) <= this.#now()
  }

  /** The row of the connection, where its credential is the one that was leased. */
  async #unchanged(tx: Db, actor: Actor, lease: RefreshLease): Promise<ConnectionRow | undefined> {
    const row = await findSealed(tx, actor, lease)
    return row?.record?.version === lease.version ? row : undefined
  }

  /** Returns whether it was still this lease. */
  async #endLease(tx: Db, { vaultId }: Actor, { provider, connection, epoch }: RefreshLease): Promise<boolean> {
    const { numUpdatedRows } = await tx
      .updateTable('refreshes')
      .set({ leased_until: null })
      .where('vault_id', '=', vaultId)
      .where('provider', '=', provider)
      .where('connection', '=', connection)
      .where('epoch', '=', epoch)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  async #recordFailure(tx: Db, actor: Actor, lease: RefreshLease, reason: string): Promise<void> {
    const event = { event: 'provider.refresh_failed', status: 'failure', ...nameOf(lease), reason } as const
    await this.#audit.record(tx, actor, event)
  }
}

const NOTHING_FAILS = { failures: 0, retry_at: null, retry_pause: null, failing_since: null, failure_reason: null }

/** A refusal in words of the provider's own may pass: there is a time then to ask again. */
function isAskedAgain(row: RefreshRow | undefined, now: number): boolean {
  return row?.retry_at != null && leftOfPause(pauseOf(row), now) === 0
}

/** Milliseconds; 0 where it may be tried now. */
function waitFor(before: RefreshRow | undefined, cause: RefreshCause, now: number): number {
  const forced = forcedOf(before)
  const forcedAgain = cause === 'rejected' && forced ? leftOfForced(forced, now) : 0
  return Math.max(leftOfPause(pauseOf(before), now), forcedAgain)
}

function pauseOf(row: RefreshRow | undefined): Pause {
  return { until: row?.retry_at ?? 0, length: row?.retry_pause ?? LONGEST_RETRY_AFTER }
}

function forcedOf(row: RefreshRow | undefined): ForcedRefresh | undefined {
  return row?.forced_at ? { at: row.forced_at, pause: row.forced_pause ?? 0 } : undefined
}

function forcing(before: RefreshRow | undefined, cause: RefreshCause, now: number) {
  const { forced_at = null, forced_pause = null } = before ?? {}
  if (cause !== 'rejected') return { forced_at, forced_pause }
  return { forced_at: now, forced_pause: pauseAfterForced(forcedOf(before), now) }
}

function leaseOf(
  row: ConnectionRow,
  { plaintext, version }: OpenedRecord,
  held: Pick<RefreshLease, 'cause' | 'epoch' | 'interrupted'>,
): RefreshLease {
  return {
    ...held,
    ...nameOf(row),
    version,
    credential: parseCredential(plaintext, row, undefined),
    scopes: JSON.parse(row.scopes) as string[],
    ...(row.base_url !== null && { baseUrl: row.base_url }),
  }
}

function nameOf({ provider, connection }: ConnectionId): ConnectionId {
  return { provider, connection }
}

type RefreshState = Omit<RefreshRow, 'vault_id' | 'provider' | 'connection'>

async function writeRefresh(tx: Db, { vaultId }: Actor, id: ConnectionId, state: RefreshState): Promise<void> {
  await tx
    .insertInto('refreshes')
    .values({ vault_id: vaultId, ...nameOf(id), ...state })
    .onConflict((conflict) => conflict.columns(['vault_id', 'provider', 'connection']).doUpdateSet(state))
    .execute()
}

async function updateRefresh(
  tx: Db,
  { vaultId }: Actor,
  id: ConnectionId,
  change: Partial<RefreshState>,
): Promise<void> {
  await tx
    .updateTable('refreshes')
    .set(change)
    .where('vault_id', '=', vaultId)
    .where('provider', '=', id.provider)
    .where('connection', '=', id.connection)
    .execute()
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
