import { hash } from 'node:crypto'
import type { AuditEventRow } from '../store/index.ts'

const COLUMNS = [
  'seq',
  'id',
  'timestamp',
  'event',
  'source',
  'provider',
  'connection',
  'identity',
  'principal_id',
  'status',
  'reason',
  'run_id',
  'request',
] as const satisfies readonly (keyof AuditEventRow)[]

/** Columns that came later. One that is null is left out, so that the hashes of before hold. */
const LATER = ['agent_principal_id', 'details', 'chain'] as const satisfies readonly (keyof AuditEventRow)[]

/** SHA-256, hex, of the hash before in its chain and every column in a fixed order: a changed, missing or moved row breaks it. */
export function chainedHash(before: string, row: Omit<AuditEventRow, 'hash'>): string {
  const later = LATER.filter((column) => row[column] !== null).map((column) => [column, row[column]])
  return hash('sha256', JSON.stringify([before, ...COLUMNS.map((column) => row[column]), ...later]))
}
