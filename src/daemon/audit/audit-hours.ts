import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { type AuditEventName, type AuditStatus, BrokerError } from '../../protocol/index.ts'
import type { AuditCounts, AuditCountsQuery, AuditQuery, LogFinding } from '../../schemas/index.ts'
import { type AuditEventRow, type ColumnTypes, type Db, jsonRows, type Tables } from '../store/index.ts'
import { chainIn, type Dialect } from './chain-of.ts'
import type { Scope } from './scope.ts'

type HourRow = Tables['audit_hours']

type TotalRow = Tables['audit_totals']

const COUNTED = {
  event: 'text',
  provider: 'text',
  status: 'text',
  count: 'bigint',
  first_seq: 'bigint',
  last_seq: 'bigint',
} as const
const HOUR: ColumnTypes<HourRow> = { hour: 'text', principal_id: 'text', agent_principal_id: 'text', ...COUNTED }
const TOTAL: ColumnTypes<TotalRow> = { hour: 'text', chain: 'bigint', ...COUNTED }

/** Adds new events to the counts of their hours, in the transaction that stores them. */
export async function countHours(tx: Db, dialect: Dialect, events: readonly AuditEventRow[]): Promise<void> {
  const hours = grouped(events, ({ principal_id, agent_principal_id }) => ({
    principal_id,
    agent_principal_id: agent_principal_id ?? '',
  }))
  const hourColumns = columnsOf(HOUR)
  await sql`insert into audit_hours (${hourColumns})
    select ${hourColumns} from ${jsonRows(dialect, HOUR, hours)} as given where true
    on conflict (hour, principal_id, agent_principal_id, event, provider, status)
    do update set count = audit_hours.count + excluded.count, last_seq = excluded.last_seq`.execute(tx)
  const totals = grouped(events, (row) => ({ chain: chainIn(row) }))
  const totalColumns = columnsOf(TOTAL)
  await sql`insert into audit_totals (${totalColumns})
    select ${totalColumns} from ${jsonRows(dialect, TOTAL, totals)} as given where true
    on conflict (hour, chain, event, provider, status)
    do update set count = audit_totals.count + excluded.count, last_seq = excluded.last_seq`.execute(tx)
}

/** Adds up what the chains have counted in hours that are over. A late event begins a row of its own again. */
export async function addUpTotals(tx: Db, before: Date): Promise<void> {
  await sql`with gone as (
      delete from audit_totals where (hour, chain, event, provider, status) in (
        select hour, chain, event, provider, status from audit_totals
        where chain > 0 and hour < ${hourOf(before.toISOString())} limit 10000 for update skip locked)
      returning *)
    insert into audit_totals
    select hour, 0, event, provider, status, sum(count), min(first_seq), max(last_seq) from gone
    group by hour, event, provider, status
    on conflict (hour, chain, event, provider, status) do update
      set count = audit_totals.count + excluded.count,
        first_seq = least(audit_totals.first_seq, excluded.first_seq),
        last_seq = greatest(audit_totals.last_seq, excluded.last_seq)`.execute(tx)
}

function columnsOf(columns: object) {
  return sql.join(Object.keys(columns).map((name) => sql.ref(name)))
}

type Counted = Pick<HourRow, 'hour' | keyof typeof COUNTED>

function grouped<Key extends object>(
  events: readonly AuditEventRow[],
  keyOf: (event: AuditEventRow) => Key,
): readonly (Counted & Key)[] {
  const hours = new Map<string, Counted & Key>()
  for (const row of events) {
    const { seq, timestamp, event, provider, status } = row
    const group = { hour: hourOf(timestamp), ...keyOf(row), event, provider: provider ?? '', status }
    const key = JSON.stringify(Object.values(group))
    const { count, first_seq } = hours.get(key) ?? { count: 0, first_seq: seq }
    hours.set(key, { ...group, count: count + 1, first_seq, last_seq: seq })
  }
  return [...hours.values()]
}

/** The counts that events make, to hold those of the store against. */
export class HourCounts {
  readonly #hours = new Map<string, HourRow>()

  add(events: readonly AuditEventRow[]): void {
    const more = grouped(events, ({ principal_id, agent_principal_id }) => ({
      principal_id,
      agent_principal_id: agent_principal_id ?? '',
    }))
    for (const row of more) {
      const key = keyOf(row)
      const known = this.#hours.get(key)
      const { count, first_seq } = known ?? { count: 0, first_seq: row.first_seq }
      this.#hours.set(key, { ...row, count: row.count + count, first_seq })
    }
  }

  /** The first event of each hour that filters would not find, since the hour of `since`. More may have come meanwhile. */
  async missing(db: Db, since: string | undefined): Promise<readonly LogFinding[]> {
    const from = since === undefined ? '' : hourOf(new Date(since).toISOString())
    const wanted = [...this.#hours.values()].filter(({ hour }) => hour >= from)
    const findings: LogFinding[] = []
    for (const [hour, own] of Map.groupBy(wanted, (row) => row.hour)) {
      const [stored, totals] = await Promise.all([
        db.selectFrom('audit_hours').selectAll().where('hour', '=', hour).execute(),
        db.selectFrom('audit_totals').selectAll().where('hour', '=', hour).execute(),
      ])
      findings.push(...uncounted(own, stored), ...uncounted(withoutWhose(own), withoutWhose(totals)))
    }
    return findings
  }
}

type Counts = Counted & Partial<Pick<HourRow, 'principal_id' | 'agent_principal_id'>>

function keyOf({ hour, principal_id = '', agent_principal_id = '', event, provider, status }: Counts): string {
  return JSON.stringify([hour, principal_id, agent_principal_id, event, provider, status])
}

function uncounted(wanted: readonly Counts[], stored: readonly Counts[]): readonly LogFinding[] {
  const known = new Map(stored.map((row) => [keyOf(row), row]))
  return wanted.flatMap((row) => {
    const own = known.get(keyOf(row))
    const isFound = own && own.count >= row.count && own.first_seq <= row.first_seq && own.last_seq >= row.last_seq
    return isFound ? [] : [{ kind: 'index', seq: row.first_seq } as const]
  })
}

/** Summed over principals, or over chains. */
function withoutWhose(rows: readonly Counted[]): readonly Counts[] {
  const sums = new Map<string, Counted>()
  for (const { hour, event, provider, status, count, first_seq, last_seq } of rows) {
    const key = keyOf({ hour, event, provider, status, count, first_seq, last_seq })
    const known = sums.get(key) ?? { count: 0, first_seq, last_seq }
    sums.set(key, {
      hour,
      event,
      provider,
      status,
      count: Number(known.count) + Number(count),
      first_seq: Math.min(known.first_seq, first_seq),
      last_seq: Math.max(known.last_seq, last_seq),
    })
  }
  return [...sums.values()]
}

/** More than a year of a busy deployment, by the hour. */
const MOST_ROWS = 50_000

/** Tried in turn where none is asked for. */
const STEPS = [1, 4, 24] as const

/**
 * By `step` hours; where that is not given, by as few as leave a picture.
 * @throws BrokerError InvalidRequestError where it is more than anybody can look at
 */
export async function readCounts(db: Db, scope: Scope, query: AuditCountsQuery): Promise<AuditCounts> {
  const steps = query.step === undefined ? STEPS : [query.step]
  for (const step of steps) {
    const rows = await (query.identity === undefined ? hourRows : agentRows)(db, scope, { ...query, step })
    if (rows.length <= MOST_ROWS)
      return { ...(step !== (query.step ?? 1) && { step }), counts: rows.map((row) => countOf(row, step)) }
  }
  throw tooMany()
}

function countOf({ day, part, event, provider, status, count }: CountRow, step: number): AuditCounts['counts'][number] {
  // The columns were written from these very types.
  return {
    hour: `${day}${String(part * step).padStart(2, '0')}:00:00.000Z`,
    event: event as AuditEventName,
    ...(provider !== '' && { provider }),
    status: status as AuditStatus,
    count: Number(count),
  }
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
  let select = db.selectFrom(scope.kind === 'all' ? totals(db) : hoursOf(db, scope.principalId))
  if (query.since !== undefined) select = select.where('hour', '>=', hourOf(new Date(query.since).toISOString()))
  if (query.until !== undefined) select = select.where('hour', '<=', hourOf(new Date(query.until).toISOString()))
  for (const column of FILTERS) {
    const value = query[column]
    if (value !== undefined) select = select.where(column, '=', value)
  }
  return select
}

const SHOWN = ['hour', 'event', 'provider', 'status', 'count', 'first_seq', 'last_seq'] as const

function totals(db: Db) {
  return db.selectFrom('audit_totals').select(SHOWN).as('hours')
}

function hoursOf(db: Db, principalId: string) {
  return db
    .selectFrom('audit_hours')
    .select(SHOWN)
    .where((eb) => eb.or([eb('principal_id', '=', principalId), eb('agent_principal_id', '=', principalId)]))
    .as('hours')
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
