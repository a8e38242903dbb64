import type { Actor } from '../../protocol/index.ts'
import type { Db } from '../store/index.ts'
import { findSealed, forgetRefreshes, updateRow } from './connection-rows.ts'
import type { UsableConnection } from './connection-view.ts'

/** What came of asking for a token with what a connection holds. */
export type IssueOutcome =
  | { readonly kind: 'issued' }
  /** What it holds is taken no more. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** `serves`: there is another token, which has not ended. */
  | { readonly kind: 'failed'; readonly reason: string; readonly serves: boolean }

interface Written {
  readonly outcome: IssueOutcome
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Returns what a connection's row, and what is known of its refreshes, say of it. */
export async function writeIssueOutcome(
  tx: Db,
  actor: Actor,
  used: UsableConnection,
  { outcome, now }: Written,
): Promise<void> {
  // After another login it is about what is not there any more.
  if ((await findSealed(tx, actor, used))?.record?.version !== used.version) return
  switch (outcome.kind) {
    case 'issued':
      return forgetRefreshes(tx, actor, used)
    case 'refused':
      return needLogin(tx, actor, used, { reason: outcome.reason, now })
    case 'failed':
      return outcome.serves ? undefined : countFailure(tx, actor, used, { reason: outcome.reason, now })
  }
}

interface Failure {
  readonly reason: string
  readonly now: number
}

async function needLogin(tx: Db, actor: Actor, used: UsableConnection, { reason, now }: Failure): Promise<void> {
  await updateRow(tx, actor, used, {
    problem: 'needs_login',
    problem_reason: `The provider gives its client no token any more (${reason}).`,
    updated_at: new Date(now).toISOString(),
  })
}

/** There is no refresh token, and so neither a lease nor a journal: a later failure adds to the first. */
async function countFailure(
  tx: Db,
  { vaultId }: Actor,
  { provider, connection }: UsableConnection,
  { reason, now }: Failure,
): Promise<void> {
  await tx
    .insertInto('refreshes')
    .values({
      vault_id: vaultId,
      provider,
      connection,
      epoch: 0,
      leased_until: null,
      sent_version: null,
      failures: 1,
      failing_since: now,
      failure_reason: reason,
      retry_at: null,
      forced_at: null,
      forced_pause: null,
    })
    .onConflict((conflict) =>
      conflict.columns(['vault_id', 'provider', 'connection']).doUpdateSet((eb) => ({
        failures: eb(eb.ref('refreshes.failures'), '+', 1),
        failure_reason: reason,
      })),
    )
    .execute()
}
