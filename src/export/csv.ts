import { visibleText } from '../protocol/index.ts'
import type { AuditEvent } from '../schemas/index.ts'

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

export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`

/** RFC 4180. */
export function csvLine({ request, ...event }: AuditEvent): string {
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
