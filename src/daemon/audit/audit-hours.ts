import type { AuditCounts, AuditCountsQuery } from '../../schemas/index.ts'
import type { AuditEventRow, Db, Tables } from '../store/index.ts'
import type { Scope } from './scope.ts'

type HourRow = Tables['audit_hours']

/** Adds new events to the counts of their hours, in the transaction that stores them. */
export async function countHours(tx: Db, events: readonly AuditEventRow[]): Promise<void> {
  for (const row of hoursOf(events)) {
    await tx
      .insertInto('audit_hours')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(['hour', 'principal_id', 'event', 'provider', 'status'])
          .doUpdateSet((eb) => ({ count: eb('audit_hours.count', '+', row.count) })),
      )
      .execute()
  }
}

function hoursOf(events: readonly AuditEventRow[]): Iterable<HourRow> {
  const hours = new Map<string, HourRow>()
  for (const { timestamp, principal_id, event, provider, status } of events) {
    const row = { hour: hourOf(timestamp), principal_id, event, provider: provider ?? '', status, count: 1 }
    const key = JSON.stringify([row.hour, principal_id, event, row.provider, status])
    hours.set(key, { ...row, count: (hours.get(key)?.count ?? 0) + 1 })
  }
  return hours.values()
}

export async function readCounts(db: Db, scope: Scope, query: AuditCountsQuery): Promise<AuditCounts> {
  let select = db
    .selectFrom('audit_hours')
    .select(['hour', 'event', 'provider', 'status', (eb) => eb.fn.sum<number>('count').as('count')])
    .groupBy(['hour', 'event', 'provider', 'status'])
    .orderBy('hour')
  if (scope.kind === 'principal') select = select.where('principal_id', '=', scope.principalId)
  if (query.since !== undefined) select = select.where('hour', '>=', hourOf(new Date(query.since).toISOString()))
  if (query.until !== undefined) select = select.where('hour', '<=', hourOf(new Date(query.until).toISOString()))
  for (const column of ['event', 'provider', 'status'] as const) {
    const value = query[column]
    if (value !== undefined) select = select.where(column, '=', value)
  }
  const rows = await select.execute()
  // The columns were written from these very types.
  return { counts: rows.map(countOf) as unknown as AuditCounts['counts'] }
}

function countOf({ hour, provider, count, ...row }: Omit<HourRow, 'principal_id'>) {
  return { hour: `${hour}:00:00.000Z`, ...row, ...(provider !== '' && { provider }), count: Number(count) }
}

/** `2026-11-21T09` */
function hourOf(timestamp: string): string {
  return timestamp.slice(0, 13)
}
