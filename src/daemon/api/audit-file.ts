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
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await audit.page(scope, { ...query, limit: ROWS_AT_ONCE, ...(cursor !== undefined && { cursor }) })
    if (page.events.length > 0) yield page.events.map(line).join('')
    cursor = page.next_cursor
  }
}

function csvLine({
  request: { status: response_status, ...request } = { method: '', host: '', port: 0, path: '' },
  ...event
}: AuditEvent): string {
  const row: Readonly<Record<string, unknown>> = { ...event, ...request, response_status }
  return `${COLUMNS.map((name) => cell(row[name])).join(',')}\r\n`
}

/** A spreadsheet takes a text that begins like a formula for one. */
function cell(value: unknown): string {
  if (value === undefined || value === 0) return ''
  if (typeof value === 'number') return String(value)
  const text = String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
