import type { Actor } from '../../protocol/index.ts'
import type { Db, Store } from '../store/index.ts'
import { digest, isoTime, type NewSession, randomText } from './browser-sessions.ts'

const LIFETIME_MS = 60_000
/** Of one principal; the oldest give way. */
const MOST_OPEN = 20

/** Links that sign a browser in for the agent that asked: good once, and gone with the agent. Kept as hashes. */
export class BrowserLinks {
  readonly #store: Store
  readonly #now: () => number

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  async make({ principalId, identity }: Actor): Promise<{ readonly token: string; readonly expiresAt: number }> {
    const token = randomText()
    const now = this.#now()
    const expiresAt = now + LIFETIME_MS
    await this.#store.transaction(async (tx) => {
      await tx.deleteFrom('browser_links').where('expires_at', '<', isoTime(now)).execute()
      await makeRoom(tx, principalId)
      await tx
        .insertInto('browser_links')
        .values({
          token_hash: digest(token),
          principal_id: principalId,
          expires_at: isoTime(expiresAt),
          opened_by: identity,
        })
        .execute()
    })
    return { token, expiresAt }
  }

  /** For one caller alone; undefined where the link was used, is too old, or never was. */
  async takeIn(tx: Db, token: string): Promise<NewSession | undefined> {
    const link = await tx
      .deleteFrom('browser_links')
      .where('token_hash', '=', digest(token))
      .where('expires_at', '>', isoTime(this.#now()))
      .returning(['principal_id', 'opened_by'])
      .executeTakeFirst()
    if (!link) return undefined
    const { id, role } = await tx
      .selectFrom('principals')
      .select(['id', 'role'])
      .where('id', '=', link.principal_id)
      .executeTakeFirstOrThrow()
    return { principalId: id, role, openedBy: link.opened_by }
  }

  async endAll(tx: Db, principalId: string): Promise<void> {
    await tx.deleteFrom('browser_links').where('principal_id', '=', principalId).execute()
  }
}

async function makeRoom(tx: Db, principalId: string): Promise<void> {
  await tx
    .deleteFrom('browser_links')
    .where('principal_id', '=', principalId)
    .where('token_hash', 'not in', (eb) =>
      eb
        .selectFrom('browser_links')
        .select('token_hash')
        .where('principal_id', '=', principalId)
        .orderBy('expires_at', 'desc')
        .limit(MOST_OPEN - 1),
    )
    .execute()
}
