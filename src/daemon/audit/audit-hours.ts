import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { BrokerError } from '../../protocol/index.ts'
import type { AuditCounts, AuditCountsQuery, AuditQuery } from '../../schemas/index.ts'
import { type AuditEventRow, type ColumnTypes, type Db, jsonRows, type Store, type Tables } from '../store/index.ts'
import type { Scope } from './scope.ts'

type HourRow = Tables['audit_hours']

const COLUMNS: ColumnTypes<HourRow> = {
  hour: 'text',
  principal_id: 'text',
  agent_principal_id: 'text',
  event: 'text',
  provider: 'text',
  status: 'text',
  count: 'bigint',
  first_seq: 'bigint',
  last_seq: 'bigint',
}

/** Adds new events to the counts of their hours, in the transaction that stores them. */
export async function countHours(tx: Db, dialect: Store['dialect'], events: readonly AuditEventRow[]): Promise<void> {
  const columns = sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)))
  await sql`insert into audit_hours (${columns})
    select ${columns} from ${jsonRows(dialect, COLUMNS, hoursOf(events))} as given where true
    on conflict (hour, principal_id, agent_principal_id, event, provider, status)
    do update set count = audit_hours.count + excluded.count, last_seq = excluded.last_seq`.execute(tx)
}

function hoursOf(events: readonly AuditEventRow[]): readonly HourRow[] {
  const hours = new Map<string, HourRow>()
  for (const { seq, timestamp, principal_id, agent_principal_id, event, provider, status } of events) {
    const owners = { principal_id, agent_principal_id: agent_principal_id ?? '' }
    const group = { hour: hourOf(timestamp), ...owners, event, provider: provider ?? '', status }
    const key = JSON.stringify(Object.values(group))
    const { count, first_seq } = hours.get(key) ?? { count: 0, first_seq: seq }
    hours.set(key, { ...group, count: count + 1, first_seq, last_seq: seq })
  }
  return [...hours.values()]
}

/** More than a year of a busy deployment, by the hour. */
const MOST_ROWS = 50_000

/** @throws BrokerError InvalidRequestError where it is more than anybody can look at */
export async function readCounts(db: Db, scope: Scope, query: AuditCountsQuery): Promise<AuditCounts> {
  const { step = 1 } = query
  const rows = query.identity === undefined ? await hourRows(db, scope, query) : await agentRows(db, scope, query)
  if (rows.length > MOST_ROWS) throw tooMany()
  const counts = rows.map(({ day, part, event, provider, status, count }) => ({
    hour: `${day}${String(part * step).padStart(2, '0')}:00:00.000Z`,
    event,
    ...(provider !== '' && { provider }),
    status,
    count: Number(count),
  }))
  // The columns were written from these very types.
  return { counts: counts as AuditCounts['counts'] }
}

interface CountRow {
  /** `2026-11-21T` */
  readonly day: string
  /** Which of the day's steps. */
  readonly part: number
  readonly event: string
  readonly provider: string
  readonly status: string
  readonly count: number
}

const GROUP = ['day', 'part', 'event', 'provider', 'status'] as const

function hourRows(db: Db, scope: Scope, query: AuditCountsQuery): Promise<readonly CountRow[]> {
  const { step = 1 } = query
  return hoursWithin(db, scope, query)
    .select([
      sql<string>`substr(hour, 1, 11)`.as('day'),
      sql<number>`cast(substr(hour, 12, 2) as integer) / ${sql.lit(step)}`.as('part'),
      'event',
      'provider',
      'status',
      (eb) => eb.fn.sum<number>('count').as('count'),
    ])
    .groupBy(GROUP)
    .orderBy('day')
    .orderBy('part')
    .limit(MOST_ROWS + 1)
    .execute()
}

/** Numbers of the log that are looked through at once: requests wait for their credentials meanwhile. */
const NUMBERS_AT_ONCE = 20_000

/** The hours do not tell agents apart: one agent's events are counted where they stand, between the first and the last. */
async function agentRows(db: Db, scope: Scope, query: AuditCountsQuery): Promise<readonly CountRow[]> {
  const span = await readSpan(db, scope, query)
  if (span === undefined) return []
  const sums = new Map<string, CountRow>()
  for (let first = span.first; first <= span.last; first += NUMBERS_AT_ONCE) {
    if (first > span.first) await setImmediate()
    const last = Math.min(span.last, first + NUMBERS_AT_ONCE - 1)
    for (const row of await eventRows(db, scope, query, { first, last })) addTo(sums, row)
  }
  return [...sums.values()].sort((one, other) => one.day.localeCompare(other.day) || one.part - other.part)
}

function addTo(sums: Map<string, CountRow>, row: CountRow): void {
  const key = JSON.stringify(GROUP.map((column) => row[column]))
  sums.set(key, { ...row, count: Number(row.count) + (sums.get(key)?.count ?? 0) })
}

function eventRows(db: Db, scope: Scope, query: AuditCountsQuery, span: Span): Promise<readonly CountRow[]> {
  const { step = 1, identity = '', since, until } = query
  let select = db
    .selectFrom('audit_events')
    .select([
      sql<string>`substr(timestamp, 1, 11)`.as('day'),
      sql<number>`cast(substr(timestamp, 12, 2) as integer) / ${sql.lit(step)}`.as('part'),
      'event',
      sql<string>`coalesce(provider, '')`.as('provider'),
      'status',
      (eb) => eb.fn.countAll<number>().as('count'),
    ])
    .where('identity', '=', identity)
    .where('seq', '>=', span.first)
    .where('seq', '<=', span.last)
    .groupBy([sql`1`, sql`2`, 'event', sql`4`, 'status'])
  if (scope.kind === 'principal') {
    const { principalId } = scope
    select = select.where((eb) =>
      eb.or([eb('principal_id', '=', principalId), eb('agent_principal_id', '=', principalId)]),
    )
  }
  if (since !== undefined) select = select.where('timestamp', '>=', hourOf(new Date(since).toISOString()))
  if (until !== undefined) select = select.where('timestamp', '<=', `${hourOf(new Date(until).toISOString())}:60`)
  for (const column of FILTERS) {
    const value = query[column]
    if (value !== undefined) select = select.where(column, '=', value)
  }
  return select.execute()
}

/** Numbers of two events of the log. */
interface Span {
  readonly first: number
  readonly last: number
}

const FILTERS = ['event', 'provider', 'status'] as const

/** Between which two events of the log all of these are; undefined where there is none. */
export async function readSpan(db: Db, scope: Scope, query: AuditQuery): Promise<Span | undefined> {
  const { first, last } = await hoursWithin(db, scope, query)
    .select((eb) => [eb.fn.min('first_seq').as('first'), eb.fn.max('last_seq').as('last')])
    .executeTakeFirstOrThrow()
  return first === null ? undefined : { first: Number(first), last: Number(last) }
}

function hoursWithin(db: Db, scope: Scope, query: AuditQuery) {
  let select = db.selectFrom('audit_hours')
  if (scope.kind === 'principal') {
    const { principalId } = scope
    select = select.where((eb) =>
      eb.or([eb('principal_id', '=', principalId), eb('agent_principal_id', '=', principalId)]),
    )
  }
  if (query.since !== undefined) select = select.where('hour', '>=', hourOf(new Date(query.since).toISOString()))
  if (query.until !== undefined) select = select.where('hour', '<=', hourOf(new Date(query.until).toISOString()))
  for (const column of FILTERS) {
    const value = query[column]
    if (value !== undefined) select = select.where(column, '=', value)
  }
  return select
}

function tooMany(): BrokerError {
  return new BrokerError('InvalidRequestError', `These are more than ${MOST_ROWS} counts`, {
    hint: 'Ask for a shorter time with `since` and `until`, for one event or provider, or for longer steps.',
  })
}

/** `2026-11-21T09` */
function hourOf(timestamp: string): string {
  return timestamp.slice(0, 13)
}
