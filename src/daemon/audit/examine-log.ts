import { setImmediate } from 'node:timers/promises'
import type { LogExamination, LogFinding } from '../../schemas/index.ts'
import type { AuditEventRow, Db, Store } from '../store/index.ts'
import { HourCounts, readSpan } from './audit-hours.ts'
import { type Checkpoint, type RootMac, readCheckpoints } from './audit-roots.ts'
import { chainIn } from './chain-of.ts'
import { LogWalk } from './log-walk.ts'

export interface ExamineOptions {
  /** An ISO time: nothing before its hour is looked at. */
  readonly since?: string
  /** Told how many of how many events were looked at, after each part. */
  readonly onProgress?: (checked: number, of: number) => void
}

/** Requests wait for their credentials meanwhile. */
const ROWS_AT_ONCE = 500
/** Beyond so many the log is lost, and the first say where. */
const MOST_FINDINGS = 1_000

/**
 * Walks the log from its beginning, or from `since`, and holds each event against its chain, the chains against their
 * heads, what was signed against what is there, and the counts by the hour against the events.
 */
export async function examineLog(store: Store, mac: RootMac, options: ExamineOptions): Promise<LogExamination> {
  // One chain grows in the order of its numbers. Of several, an event with a lower number may come later.
  if (store.dialect === 'sqlite') return examine(store, store.db, mac, options)
  return store.snapshot((tx) => examine(store, tx, mac, options))
}

async function examine(store: Store, db: Db, mac: RootMac, options: ExamineOptions): Promise<LogExamination> {
  const start = await startOf(db, options.since)
  const signed = await readCheckpoints(db, mac)
  const walk = new LogWalk({
    tails: await tailsBefore(db, start),
    signed: signed.heads,
    isDense: store.dialect === 'sqlite' && (await hasOneChain(db)),
  })
  const counts = new HourCounts()
  const tell = await teller(db, start, options.onProgress)
  let checked = 0
  for (;;) {
    const rows = await rowsAfter(db, walk.last ?? start - 1)
      .limit(ROWS_AT_ONCE)
      .execute()
    checked += take(rows, walk, counts)
    tell(checked)
    if (rows.length < ROWS_AT_ONCE) break
    await setImmediate()
  }
  // What has come meanwhile, with the heads that belong to it.
  const lastPart = async (tx: Db) => {
    checked += take(await rowsAfter(tx, walk.last ?? start - 1).execute(), walk, counts)
    walk.end(await tx.selectFrom('audit_head').selectAll().execute())
  }
  if (store.dialect === 'sqlite') await store.snapshot(lastPart)
  else await lastPart(db)
  const findings = [...signed.findings, ...walk.findings(), ...(await counts.missing(db, options.since))]
  return outcome(findings, { events: checked, first: walk.first, last: walk.last }, signed.newest)
}

function take(rows: readonly AuditEventRow[], walk: LogWalk, counts: HourCounts): number {
  for (const row of rows) walk.take(row)
  counts.add(rows)
  return rows.length
}

function outcome(
  all: readonly LogFinding[],
  {
    events,
    first,
    last,
  }: { readonly events: number; readonly first?: number | undefined; readonly last?: number | undefined },
  checkpoint: Checkpoint | undefined,
): LogExamination {
  const findings = [...new Map(all.map((one) => [`${one.kind} ${one.seq}`, one])).values()]
    .sort((one, other) => one.seq - other.seq)
    .slice(0, MOST_FINDINGS)
  return {
    status: findings.length === 0 ? 'ok' : 'failed',
    events,
    ...(first !== undefined && { first }),
    ...(last !== undefined && { last }),
    ...(checkpoint && { checkpoint }),
    findings,
  }
}

/** The number of the first event to look at. */
async function startOf(db: Db, since: string | undefined): Promise<number> {
  if (since === undefined) return 1
  const span = await readSpan(db, { kind: 'all' }, { since })
  if (span) return span.first
  const newest = await db
    .selectFrom('audit_head')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .executeTakeFirst()
  return (newest?.seq ?? 0) + 1
}

function rowsAfter(db: Db, seq: number) {
  return db.selectFrom('audit_events').selectAll().where('seq', '>', seq).orderBy('seq')
}

/** A store that came from Postgres has those of there, and may lack numbers. */
async function hasOneChain(db: Db): Promise<boolean> {
  const heads = await db.selectFrom('audit_head').select('id').execute()
  return heads.length === 1
}

/** How each chain ends before that number. */
async function tailsBefore(
  db: Db,
  start: number,
): Promise<ReadonlyMap<number, { readonly seq: number; readonly hash: string }>> {
  if (start <= 1) return new Map()
  const heads = await db.selectFrom('audit_head').select('id').execute()
  const tails = new Map<number, { seq: number; hash: string }>()
  for (let before = start; tails.size < heads.length; ) {
    const rows = await db
      .selectFrom('audit_events')
      .select(['seq', 'hash', 'chain'])
      .where('seq', '<', before)
      .orderBy('seq', 'desc')
      .limit(ROWS_AT_ONCE)
      .execute()
    for (const row of rows) if (!tails.has(chainIn(row))) tails.set(chainIn(row), row)
    const oldest = rows.at(-1)
    if (!oldest) break
    before = oldest.seq
  }
  return tails
}

async function teller(db: Db, start: number, onProgress: ExamineOptions['onProgress']) {
  const heads = await db.selectFrom('audit_head').select('seq').execute()
  const of = Math.max(0, ...heads.map(({ seq }) => seq - start + 1))
  return (checked: number) => onProgress?.(checked, Math.max(of, checked))
}
