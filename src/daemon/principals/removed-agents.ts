import type { Actor } from '../../protocol/index.ts'
import type { Audit, AuditActor } from '../audit/index.ts'
import type { Db, IdentityRow, RunRow, Store } from '../store/index.ts'

/** One event for a key in this time: what goes on by itself would fill the log. */
const QUIET_MS = 60_000
/** Keys that are remembered meanwhile. */
const MOST_KEYS = 1_000
/** Runs that end with their agent, the newest: each has a key of its own. */
const MOST_RUNS = 100

type RunKey = Pick<RunRow, 'id' | 'did'>
type Removed = Pick<IdentityRow, 'handle' | 'did'> & { readonly runs: readonly RunKey[] }

interface RemovedAgentsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly now: () => number
}

/** Agents that were removed and go on signing. Whose a key was is in the log, with its removal. */
export class RemovedAgents {
  readonly #options: RemovedAgentsOptions
  readonly #noted = new Map<string, number>()

  constructor(options: RemovedAgentsOptions) {
    this.#options = options
  }

  /** The keys of an agent's runs that have not ended. */
  runsOf(tx: Db, identityId: string): Promise<readonly RunKey[]> {
    return tx
      .selectFrom('runs')
      .select(['id', 'did'])
      .where('identity_id', '=', identityId)
      .where('ended_at', 'is', null)
      .orderBy('created_at', 'desc')
      .limit(MOST_RUNS)
      .execute()
  }

  /** Writes down that an agent goes, with its key and those of its runs. */
  async record(tx: Db, actor: Actor, { handle, did, runs }: Removed): Promise<void> {
    for (const run of runs) await this.#write(tx, actor, removalOf(handle, run.did), run.id)
    await this.#write(tx, actor, removalOf(handle, did))
  }

  #write(tx: Db, actor: AuditActor, reason: string, runId?: string): Promise<void> {
    const event = { event: 'identity.removed', status: 'success', reason } as const
    return this.#options.audit.record(tx, actor, runId === undefined ? event : { ...event, runId })
  }

  /** Writes down that a key was refused, where it is known to have been this agent's. */
  async noteTry(handle: string, did: string): Promise<void> {
    const { audit, now } = this.#options
    if ((this.#noted.get(did) ?? 0) > now()) return
    const principalId = await audit.principalOf('identity.removed', removalOf(handle, did))
    this.#remember(did, now() + QUIET_MS)
    if (principalId === undefined) return
    const event = { event: 'identity.refused', status: 'denied', reason: 'it was removed' } as const
    await audit.recordAll([{ actor: { identity: handle, principalId }, event }], 'flushed')
  }

  #remember(did: string, until: number): void {
    this.#noted.delete(did)
    this.#noted.set(did, until)
    const [oldest] = this.#noted.keys()
    if (this.#noted.size > MOST_KEYS && oldest !== undefined) this.#noted.delete(oldest)
  }
}

function removalOf(handle: string, did: string): string {
  return `identity ${handle}, key ${did}`
}
