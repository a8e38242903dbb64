import type { Audit } from '../audit/index.ts'
import type { Rights } from '../rights/index.ts'
import type { Store } from '../store/index.ts'
import { actorOf, runByDid } from './acting-rows.ts'
import { endRun } from './runs.ts'

interface RunChannelsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly rights: Rights
  readonly now: () => number
}

/** A run that had a channel lives so long without one, in milliseconds: a daemon may be restarted meanwhile. */
const LIVES_WITHOUT_MS = 30_000

/** Notes that daemons have the channels of these runs now. */
export async function noteChannels({ store }: RunChannelsOptions, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return
  const seen_at = await store.clock(store.db)
  await store.db
    .insertInto('run_channels')
    .values(runIds.map((run_id) => ({ run_id, seen_at })))
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ seen_at }))
    .execute()
}

/** Ends the runs that no daemon has had the channel of for too long. @param held those that this daemon has */
export async function endLostRuns(options: RunChannelsOptions, held: ReadonlySet<string>): Promise<void> {
  const { store, now } = options
  const before = (await store.clock(store.db)) - LIVES_WITHOUT_MS
  const gone = await store.db
    .selectFrom('run_channels')
    .innerJoin('runs', 'runs.id', 'run_channels.run_id')
    .select(['runs.id', 'runs.did'])
    .where('seen_at', '<', before)
    .execute()
  for (const { id, did } of gone) {
    if (held.has(id)) continue
    const row = await runByDid(store.db, { did })
    const actor = row && actorOf(row)
    if (actor) await endRun(options, actor, id, { exitCode: undefined, now: now() })
  }
}
