import { CSV_HEADER, csvLine } from '../../export/index.ts'
import type { AuditEvent, AuditQuery } from '../../schemas/index.ts'
import type { Audit, Scope } from '../audit/index.ts'

const ROWS_AT_ONCE = 500

/** All events of a query, newest first, a page of rows at a time: a million of them are never in memory at once. */
export async function* auditFile(
  audit: Audit,
  scope: Scope,
  query: AuditQuery,
  format: 'jsonl' | 'csv',
): AsyncGenerator<string> {
  const line = format === 'csv' ? csvLine : (event: AuditEvent) => `${JSON.stringify(event)}\n`
  let page = await audit.page(scope, { ...query, limit: ROWS_AT_ONCE })
  if (format === 'csv') yield CSV_HEADER
  for (;;) {
    yield page.events.map(line).join('')
    if (page.next_cursor === undefined) return
    page = await audit.page(scope, { ...query, limit: ROWS_AT_ONCE, cursor: page.next_cursor })
  }
}
