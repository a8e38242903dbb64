import { createHash } from 'node:crypto'
import { BrokerError } from '../../protocol/index.ts'
import type { Db } from '../store/index.ts'

/** As long as a claim, for one is open for each identity that came in. */
const CLAIM_LIFETIME_MS = 10 * 60 * 1000
/** As long as six claims in a row. */
const LONGEST_WAIT_MS = 60 * 60 * 1000
const MOST_OF_A_SOURCE = 50
/** Of all sources: what the store has room for, come who may. */
const MOST = 2000

/**
 * Identities that nobody claimed yet. Anyone may ask to be claimed: what that costs, it costs the source that asks too
 * often. Where each came from is noted beside the counted tries, for it is as short-lived as those.
 */
export class Unclaimed {
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Makes room for one more, and notes where it comes from. @throws BrokerError RateLimitedError */
  async admit(tx: Db, did: string, source: string): Promise<void> {
    await this.#sweep(tx)
    const own = `${PREFIX}${digest(source)} `
    if ((await waitingOf(tx, own)) >= MOST_OF_A_SOURCE) throw tooMany()
    await makeRoom(tx)
    const row = { subject: own + did, attempts: 1, last_at: this.#now() }
    await tx
      .insertInto('sign_in_attempts')
      .values(row)
      .onConflict((conflict) => conflict.column('subject').doUpdateSet(row))
      .execute()
  }

  /** Goes: whose claim ended and who did not ask for another, and in the end who asks for ever. */
  async #sweep(tx: Db): Promise<void> {
    const now = this.#now()
    const ago = (ms: number) => new Date(now - ms).toISOString()
    const open = tx.selectFrom('claims').select('identity_id').where('expires_at', '>', new Date(now).toISOString())
    await tx
      .deleteFrom('identities')
      .where('principal_id', 'is', null)
      .where((eb) =>
        eb.or([
          eb('created_at', '<', ago(LONGEST_WAIT_MS)),
          eb.and([eb('created_at', '<', ago(CLAIM_LIFETIME_MS)), eb('id', 'not in', open)]),
        ]),
      )
      .execute()
    await tx
      .deleteFrom('sign_in_attempts')
      .where('subject', 'like', `${PREFIX}%`)
      .where('last_at', '<', now - LONGEST_WAIT_MS)
      .execute()
  }
}

const PREFIX = 'unclaimed '

async function waitingOf(tx: Db, own: string): Promise<number> {
  const { waiting } = await tx
    .selectFrom('identities')
    .innerJoin('sign_in_attempts', (join) =>
      join.on((eb) => eb('sign_in_attempts.subject', '=', eb(eb.val(own), '||', eb.ref('identities.did')))),
    )
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('identities.principal_id', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(waiting)
}

/** Makes room: where no more fit in, the oldest goes of the source that has most, so that nobody who comes is refused for others. */
async function makeRoom(tx: Db): Promise<void> {
  const { waiting } = await tx
    .selectFrom('identities')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('principal_id', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(waiting) < MOST) return
  const rows = await tx
    .selectFrom('identities')
    .select(['did'])
    .where('principal_id', 'is', null)
    .orderBy('created_at')
    .orderBy('did')
    .execute()
  const sources = await sourcesOf(tx)
  // Those that an earlier version took in are of no source that is known: of one together.
  const bySource = Map.groupBy(rows, ({ did }) => sources.get(did) ?? '')
  const [oldest] = [...bySource.values()].reduce((one, two) => (two.length > one.length ? two : one))
  if (oldest)
    await tx.deleteFrom('identities').where('did', '=', oldest.did).where('principal_id', 'is', null).execute()
}

async function sourcesOf(tx: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await tx
    .selectFrom('sign_in_attempts')
    .select('subject')
    .where('subject', 'like', `${PREFIX}%`)
    .execute()
  return new Map(
    rows.map(({ subject }) => {
      const [source = '', did = ''] = subject.slice(PREFIX.length).split(' ')
      return [did, source]
    }),
  )
}

function tooMany(): BrokerError {
  return new BrokerError('RateLimitedError', 'Too many identities from this address wait to be claimed', {
    hint: 'Claim one, or try again later.',
    retryAfter: 60,
  })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
