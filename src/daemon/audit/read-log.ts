import { BrokerError } from '../../protocol/index.ts'
import type { AuditEvent, AuditPage, AuditQuery } from '../../schemas/index.ts'
import type { AuditEventRow, Db } from '../store/index.ts'
import { readSpan } from './audit-hours.ts'
import { parseCursor, printCursor } from './cursor.ts'
import type { EventDetails, InternalEvent } from './internal-event.ts'
import type { Scope } from './scope.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 500

/** Newest first, or oldest first behind a number. @throws BrokerError InvalidRequestError for a cursor that is none */
export async function readPage(db: Db, scope: Scope, query: AuditQuery): Promise<AuditPage> {
  const limit = Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT)
  let select = inOrder(db, query).limit(limit + 1)
  const span = isNarrow(query) ? await readSpan(db, scope, query) : undefined
  if (isNarrow(query) && !span) return { events: [] }
  if (span) select = select.where('seq', '>=', span.first).where('seq', '<=', span.last)
  const wanted = { ...query, run_id: runOf(scope) }
  for (const column of ['event', 'provider', 'identity', 'status', 'run_id'] as const) {
    const value = wanted[column]
    if (value !== undefined) select = select.where(column, '=', value)
  }
  if (query.since !== undefined) select = select.where('timestamp', '>=', new Date(query.since).toISOString())
  if (query.until !== undefined) select = select.where('timestamp', '<=', new Date(query.until).toISOString())
  const found = await Promise.all(
    scope.kind === 'all'
      ? [select.execute()]
      : PRINCIPALS.map((column) => select.where(column, '=', scope.principalId).execute()),
  )
  return pageOf(found.flat(), limit, query)
}

function runOf(scope: Scope): string | undefined {
  return scope.kind === 'principal' ? scope.runId : undefined
}

function inOrder(db: Db, { after, cursor }: AuditQuery) {
  if (after !== undefined && cursor !== undefined) throw oneOrder()
  const select = db.selectFrom('audit_events').selectAll()
  if (after !== undefined) return select.orderBy('seq').where('seq', '>', after)
  const newest = select.orderBy('seq', 'desc')
  return cursor === undefined ? newest : newest.where('seq', '<', parseCursor(cursor))
}

function pageOf(rows: readonly AuditEventRow[], limit: number, { after }: AuditQuery): AuditPage {
  const isAscending = after !== undefined
  const sorted = rows.toSorted((one, other) => (isAscending ? one.seq - other.seq : other.seq - one.seq))
  const events = sorted.slice(0, limit).map(eventOf)
  const last = events.at(-1)
  return rows.length > limit && last && !isAscending ? { events, next_cursor: printCursor(last.seq) } : { events }
}

function oneOrder(): BrokerError {
  return new BrokerError('InvalidRequestError', 'Pages go by `cursor`, newest first, or by `after`, oldest first', {
    hint: 'Leave one of them out.',
  })
}

/**
 * Whose an event is: of the vault's owner, and of the agent's where that is another; then it is in both columns but not
 * twice. Asked one by one: no index gives the newest of either.
 */
const PRINCIPALS = ['principal_id', 'agent_principal_id'] as const

/**
 * Returns whether the events may be few among many that no index tells apart: then the hours tell first where in the log they are,
 * so that not all of it is read for them.
 */
function isNarrow({ since, until, event, provider, status }: AuditQuery): boolean {
  const filters = [event, provider, status].filter((value) => value !== undefined)
  return since !== undefined || until !== undefined || filters.length > 1
}

/** What is looked through for a reason, which no index has. */
const NEWEST_OF_A_NAME = 1_000

/** Whose an internal event was, by its reason, among the newest of its name; undefined where there is none. */
export async function readPrincipal(
  db: Db,
  event: InternalEvent['event'],
  reason: string,
): Promise<string | undefined> {
  const newest = db
    .selectFrom('audit_events')
    .select(['principal_id', 'reason', 'source', 'seq'])
    .where('event', '=', event)
    .orderBy('seq', 'desc')
    .limit(NEWEST_OF_A_NAME)
  const found = await db
    .selectFrom(newest.as('newest'))
    .select('principal_id')
    .where('reason', '=', reason)
    .where('source', '=', 'internal')
    .limit(1)
    .executeTakeFirst()
  return found?.principal_id
}

/** The number of the newest event that may be seen. */
export async function readHead(db: Db, scope: Scope): Promise<number> {
  if (scope.kind === 'all') {
    const newest = db.selectFrom('audit_head').select((eb) => eb.fn.max('seq').as('seq'))
    return (await newest.executeTakeFirst())?.seq ?? 0
  }
  const newest = (column: (typeof PRINCIPALS)[number]) =>
    db
      .selectFrom('audit_events')
      .select('seq')
      .where(column, '=', scope.principalId)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
  const found = await Promise.all(PRINCIPALS.map(newest))
  return Math.max(...found.map((row) => row?.seq ?? 0))
}

function eventOf({ hash, chain, request, details, agent_principal_id, ...row }: AuditEventRow): AuditEvent {
  const present = Object.entries(row).filter(([, value]) => value !== null)
  // The columns were written from these very types.
  return {
    ...(Object.fromEntries(present) as unknown as AuditEvent),
    ...(request !== null && { request: JSON.parse(request) }),
    ...(details !== null && (JSON.parse(details) as EventDetails)),
  }
}
