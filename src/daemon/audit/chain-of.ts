import { hash } from 'node:crypto'
import type { AuditEventRow, Store } from '../store/index.ts'

export type Dialect = Store['dialect']

/** On Postgres, those of several principals are chained beside each other; the migration makes as many heads. */
const CHAINS: Readonly<Record<Dialect, number>> = { sqlite: 1, postgres: 16 }

/** The one that all logs begin with. In its rows `chain` is null, as in those of before there were others. */
const FIRST = 1

/** Returns which chain of the log the events of a principal belong to: always the same. */
export function chainOf(dialect: Dialect, principalId: string): number {
  const [byte = 0] = hash('sha256', principalId, 'buffer')
  return FIRST + (byte % CHAINS[dialect])
}

export function columnOf(chain: number): number | null {
  return chain === FIRST ? null : chain
}

export function chainIn({ chain }: Pick<AuditEventRow, 'chain'>): number {
  return chain ?? FIRST
}
