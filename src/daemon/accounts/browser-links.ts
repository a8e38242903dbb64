import type { Actor } from '../../protocol/index.ts'
import type { Rights } from '../rights/index.ts'
import type { Db, Store } from '../store/index.ts'
import { digest, isoTime, type NewSession, randomText } from './browser-sessions.ts'

const LIFETIME_MS = 60_000
/** Of one principal; the oldest give way. */
const MOST_OPEN = 20

/** Links that sign a browser in for the agent that asked: good once, and gone with the agent. Kept as hashes. */
export class BrowserLinks {
  readonly #store: Store
  readonly #rights: Rights
  readonly #now: () => number

  constructor(store: Store, rights: Rights, now: () => number) {
    this.#store = store
    this.#rights = rights
    this.#now = now
  }

  async make({ principalId, identityId }: Actor): Promise<{ readonly token: string; readonly expiresAt: number }> {
    const token = randomText()
    const now = this.#now()
    const expiresAt = now + LIFETIME_MS
    await this.#store.transaction(async (tx) => {
      await tx.deleteFrom('browser_links').where('expires_at', '<', isoTime(now)).execute()
      await makeRoom(tx, principalId)
      const { epoch } = await principalOf(tx, principalId)
      const row = this.#rights.seal('browser_links', {
        token_hash: digest(token),
        principal_id: principalId,
        identity_id: identityId ?? null,
        epoch,
        expires_at: isoTime(expiresAt),
      })
      await tx.insertInto('browser_links').values(row).execute()
    })
    return { token, expiresAt }
  }

  /** For one caller alone; undefined where the link was used, is too old, or never was. */
  async takeIn(tx: Db, token: string): Promise<NewSession | undefined> {
    const link = await tx
      .deleteFrom('browser_links')
      .where('token_hash', '=', digest(token))
      .where('expires_at', '>', isoTime(this.#now()))
      .returningAll()
      .executeTakeFirst()
    if (!link) return undefined
    const principal = await principalOf(tx, link.principal_id)
    const isBelieved = await this.#rights.speaksFor(tx, {
      principalId: principal.id,
      generation: null,
      rows: [
        { table: 'browser_links', row: link },
        { table: 'principals', row: principal },
      ],
      identityId: link.identity_id,
    })
    if (!isBelieved || link.epoch !== principal.epoch) return undefined
    const { id: principalId, role, epoch } = principal
    return { principalId, role, epoch, identityId: link.identity_id }
  }

  async endAll(tx: Db, principalId: string): Promise<void> {
    await tx.deleteFrom('browser_links').where('principal_id', '=', principalId).execute()
  }
}

function principalOf(tx: Db, id: string) {
  return tx.selectFrom('principals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
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
