import { visibleText } from '../../protocol/index.ts'
import type { AuditEvent, AuditQuery } from '../../schemas/index.ts'
import type { Audit, Scope } from '../audit/index.ts'

const ROWS_AT_ONCE = 500

const COLUMNS = [
  'timestamp',
  'event',
  'status',
  'provider',
  'connection',
  'identity',
  'principal_id',
  'reason',
  'run_id',
  'method',
  'host',
  'port',
  'path',
  'response_status',
  'duration_ms',
  'bytes_in',
  'bytes_out',
] as const

/** All events of a query, newest first, a page of rows at a time: a million of them are never in memory at once. */
export async function* auditFile(
  audit: Audit,
  scope: Scope,
  query: AuditQuery,
  format: 'jsonl' | 'csv',
): AsyncGenerator<string> {
  const line = format === 'csv' ? csvLine : (event: AuditEvent) => `${JSON.stringify(event)}\n`
  let page = await audit.page(scope, { ...query, limit: ROWS_AT_ONCE })
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`
  for (;;) {
    yield page.events.map(line).join('')
    if (page.next_cursor === undefined) return
    page = await audit.page(scope, { ...query, limit: ROWS_AT_ONCE, cursor: page.next_cursor })
  }
}

function csvLine({ request, ...event }: AuditEvent): string {
  const { status } = event
  const row: Readonly<Record<string, unknown>> = { ...event, ...request, status, response_status: request?.status }
  return `${COLUMNS.map((name) => cell(row[name])).join(',')}\r\n`
}

/** A spreadsheet takes a text that begins like a formula for one, and shows what reorders text as it likes. */
function cell(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = visibleText(String(value))
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
