import { hash } from 'node:crypto'
import type { LogFinding } from '../../schemas/index.ts'
import type { Db, Store, Tables } from '../store/index.ts'

/**
 * A MAC by a key of the deployment, hex; undefined while that is not at hand.
 * @param number of the root that it is, or is to be, of: the key may have changed since
 */
export type RootMac = (text: string, number: number) => string | undefined

export interface AuditRoots {
  /** Signs the heads of all chains, unless nothing has come since, or a daemon has done so a moment ago and it need not be `atOnce`. */
  sign(when?: { readonly atOnce: true }): Promise<void>
  /**
   * Holds the newest roots against each other and against the events they name.
   * @returns what is wrong, a sentence for people; undefined where nothing is
   */
  verify(tx: Db): Promise<string | undefined>
  /** Returns the number of the newest root; 0 where there is none. */
  newest(tx: Db): Promise<number>
}

/** Less than the minute after which each daemon comes to it: timers are not exact. */
const NOT_BEFORE_MS = 50_000
/** In the place of a vault's id. No vault is called so: theirs are random. */
const LOCK = 'audit'
/** An hour of a busy log. */
const VERIFIED = 60

/** @param isCurrent whether the key of `mac` is still the deployment's */
export function openAuditRoots(store: Store, mac: RootMac, isCurrent: (tx: Db) => Promise<boolean>): AuditRoots {
  /** The newest root that was seen here: there never is an older one alone. */
  let seen = 0
  return {
    // One daemon at a time. Kept by the disk: what verification has seen is never gone.
    sign: (when) =>
      store.vaultTransaction(LOCK, async (tx) => {
        if (await isCurrent(tx)) await writeRoot(tx, store, mac, when !== undefined)
      }),
    async newest(tx) {
      const [root] = await newestRoots(tx, 1)
      return root?.number ?? 0
    },
    async verify(tx) {
      const roots = await newestRoots(tx, VERIFIED + 1)
      const newest = roots[0]?.number ?? 0
      if (newest < seen) return 'The newest signatures of the audit log were removed outside of Broker.'
      seen = newest
      return rootsProblem(tx, roots, mac)
    },
  }
}

type RootRow = Tables['audit_roots']

async function writeRoot(tx: Db, store: Store, mac: RootMac, atOnce: boolean): Promise<void> {
  const [last] = await newestRoots(tx, 1)
  const now = await store.clock(tx)
  if (!atOnce && last && now - Date.parse(last.made_at) < NOT_BEFORE_MS) return
  const heads = await tx.selectFrom('audit_head').selectAll().where('seq', '>', 0).orderBy('id').execute()
  const signed = JSON.stringify(heads.map(({ id, seq, hash }) => [id, seq, hash]))
  if (heads.length === 0 || signed === last?.heads) return
  const root = { number: (last?.number ?? 0) + 1, made_at: new Date(now).toISOString(), heads: signed }
  const rootHash = hashOf(root, last)
  const rootMac = mac(rootHash, root.number)
  if (rootMac === undefined) return
  await tx
    .insertInto('audit_roots')
    .values({ ...root, hash: rootHash, mac: rootMac })
    .execute()
}

function newestRoots(tx: Db, count: number): Promise<readonly RootRow[]> {
  return tx.selectFrom('audit_roots').selectAll().orderBy('number', 'desc').limit(count).execute()
}

function hashOf({ number, made_at, heads }: Omit<RootRow, 'hash' | 'mac'>, before: RootRow | undefined): string {
  return hash('sha256', JSON.stringify([before?.hash ?? '', number, made_at, heads]))
}

async function rootsProblem(tx: Db, roots: readonly RootRow[], mac: RootMac): Promise<string | undefined> {
  const verified = roots.slice(0, VERIFIED)
  const broken = verified.find((root, at) => !isGenuine(root, roots[at + 1], mac))
  if (broken) return `The signature number ${broken.number} of the audit log was changed outside of Broker.`
  const signed = verified.flatMap(({ heads }) => JSON.parse(heads) as readonly SignedHead[])
  const missed = await missing(tx, new Map(signed.map(([, seq, hash]) => [seq, hash])))
  return missed === undefined
    ? undefined
    : `The audit log was changed outside of Broker at event ${missed} or before: that was signed.`
}

/** The newest signature of the log. */
export interface Checkpoint {
  readonly number: number
  readonly made_at: string
}

interface Checkpoints {
  readonly newest: Checkpoint | undefined
  /** What was signed of each chain, from its beginning on. */
  readonly heads: ReadonlyMap<number, readonly { readonly seq: number; readonly hash: string }[]>
  /** What was done to the signatures themselves. */
  readonly findings: readonly LogFinding[]
}

const ROOTS_AT_ONCE = 1_000

/** All signatures, held against each other. */
export async function readCheckpoints(db: Db, mac: RootMac): Promise<Checkpoints> {
  const heads = new Map<number, { seq: number; hash: string }[]>()
  const findings: LogFinding[] = []
  let before: RootRow | undefined
  for (;;) {
    const roots = await db
      .selectFrom('audit_roots')
      .selectAll()
      .where('number', '>', before?.number ?? 0)
      .orderBy('number')
      .limit(ROOTS_AT_ONCE)
      .execute()
    for (const root of roots) {
      const signed = JSON.parse(root.heads) as readonly SignedHead[]
      if (isGenuine(root, before, mac)) for (const head of signed) addHead(heads, head)
      else findings.push({ kind: 'edited', seq: Math.max(0, ...signed.map(([, seq]) => seq)) })
      before = root
    }
    if (roots.length < ROOTS_AT_ONCE) break
  }
  return { newest: before && { number: before.number, made_at: before.made_at }, heads, findings }
}

function addHead(heads: Map<number, { seq: number; hash: string }[]>, [chain, seq, hash]: SignedHead): void {
  const known = heads.get(chain)
  if (!known) heads.set(chain, [{ seq, hash }])
  else if (known.at(-1)?.seq !== seq) known.push({ seq, hash })
}

type SignedHead = readonly [chain: number, seq: number, hash: string]

function isGenuine(root: RootRow, before: RootRow | undefined, mac: RootMac): boolean {
  if (root.number !== (before?.number ?? 0) + 1 || root.hash !== hashOf(root, before)) return false
  // Without the key it can be held against the others alone.
  return (mac(root.hash, root.number) ?? root.mac) === root.mac
}

/** The number of the first event that the log does not have as it was signed. */
async function missing(tx: Db, signed: ReadonlyMap<number, string>): Promise<number | undefined> {
  if (signed.size === 0) return undefined
  const seqs = [...signed.keys()].sort((one, other) => one - other)
  const rows = await tx.selectFrom('audit_events').select(['seq', 'hash']).where('seq', 'in', seqs).execute()
  const stored = new Map(rows.map(({ seq, hash }) => [seq, hash]))
  return seqs.find((seq) => stored.get(seq) !== signed.get(seq))
}
