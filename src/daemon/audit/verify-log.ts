import type { AuditEventRow, Db, Store, Tables } from '../store/index.ts'
import type { AuditRoots } from './audit-roots.ts'
import { chainedHash } from './chain.ts'
import { chainIn } from './chain-of.ts'

/**
 * Holds the newest events against their chains, the chains against their heads, and what was signed against what is there.
 * @returns what is wrong, a sentence for people; undefined where nothing is
 */
export function verifyLog(store: Store, roots: AuditRoots, count: number): Promise<string | undefined> {
  return store.snapshot(async (tx) => {
    const problem = tailProblem(await newestRows(tx, count + 1), await readHeads(tx), count)
    return problem ?? (await roots.verify(tx))
  })
}

type Head = Tables['audit_head']

function newestRows(tx: Db, count: number): Promise<readonly AuditEventRow[]> {
  return tx.selectFrom('audit_events').selectAll().orderBy('seq', 'desc').limit(count).execute()
}

function readHeads(tx: Db): Promise<readonly Head[]> {
  return tx.selectFrom('audit_head').selectAll().orderBy('id').execute()
}

function tailProblem(rows: readonly AuditEventRow[], heads: readonly Head[], count: number): string | undefined {
  const isWhole = rows.length <= count
  const oldest = isWhole ? 1 : (rows.at(-1)?.seq ?? 1)
  const chains = Map.groupBy(rows, chainIn)
  const isMissed = (head: Head) => !endsWith(chains.get(head.id) ?? [], head, oldest)
  const isKnown = (chain: number) => heads.some(({ id }) => id === chain)
  if (heads.length === 0 || heads.some(isMissed) || ![...chains.keys()].every(isKnown)) {
    return 'The newest audit events were removed or changed outside of Broker.'
  }
  // Of the oldest one in each chain it is not known what was before.
  const broken = [...chains.values()].flatMap((own) =>
    own.slice(0, isWhole ? undefined : -1).filter((row, at) => !follows(row, own[at + 1])),
  )
  const [newest] = broken.sort((one, other) => other.seq - one.seq)
  return newest && `The audit log was changed outside of Broker at event ${newest.seq}.`
}

/** @param oldest number of the first event that was looked at */
function endsWith([newest]: readonly AuditEventRow[], head: Head, oldest: number): boolean {
  if (newest === undefined) return head.seq < oldest
  return newest.seq === head.seq && newest.hash === head.hash
}

function follows({ hash, ...row }: AuditEventRow, before: AuditEventRow | undefined): boolean {
  return chainedHash(before?.hash ?? '', row) === hash
}
