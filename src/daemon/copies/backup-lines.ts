import { BrokerError } from '../../protocol/index.ts'
import { type AnyRow, isTable, type TableName } from '../store/index.ts'

/** The first line of a backup. */
export interface BackupHead {
  readonly format: 'broker-backup'
  readonly version: 1
  /** ISO-8601. */
  readonly made_at: string
  /** Version of Broker that made it. */
  readonly broker: string
  readonly schema: string
  /** Whether the master key is in it. One that is under a passphrase is in the store itself. */
  readonly key: 'included' | 'in store' | 'apart'
}

/** The last one: without it the rest is not whole. */
export interface BackupCounts {
  readonly connections: number
  readonly events: number
  /** How many changes the vault that has come through most of them has seen. */
  readonly generation: number
  readonly rows: Readonly<Partial<Record<TableName, number>>>
}

/** A line is one of these, as JSON. */
export type BackupLine =
  | { readonly head: BackupHead }
  /** Base64. */
  | { readonly key: string }
  /** A file of the home, by its path there. */
  | { readonly file: string; readonly text: string }
  | { readonly table: TableName; readonly rows: readonly AnyRow[] }
  | { readonly end: BackupCounts }

export function printLine(line: BackupLine): string {
  // To be asked for each value of a million events takes as long as all the rest.
  const hasBytes =
    'table' in line && line.rows.some((row) => Object.values(row).some((value) => value instanceof Uint8Array))
  if (!hasBytes) return `${JSON.stringify(line)}\n`
  return `${JSON.stringify(line, (_, value: unknown) => (isBytes(value) ? { base64: base64(value) } : value))}\n`
}

/** What `JSON.stringify` gives of a Buffer before anybody is asked. */
interface PrintedBuffer {
  readonly type: 'Buffer'
  readonly data: readonly number[]
}

function isBytes(value: unknown): value is Uint8Array | PrintedBuffer {
  return (
    value instanceof Uint8Array || (typeof value === 'object' && value !== null && 'data' in value && 'type' in value)
  )
}

function base64(value: Uint8Array | PrintedBuffer): string {
  return Buffer.from(value instanceof Uint8Array ? value : value.data).toString('base64')
}

/** @throws BrokerError InvalidRequestError where it is none */
export function parseLine(text: string): BackupLine {
  const line: unknown = text.includes('"base64":') ? JSON.parse(text, bytesIn) : JSON.parse(text)
  if (typeof line !== 'object' || line === null || ('table' in line && !isTable(String(line.table)))) throw notOurs()
  return line as BackupLine
}

function bytesIn(_: string, value: unknown): unknown {
  const isPrinted = typeof value === 'object' && value !== null && 'base64' in value
  return isPrinted ? Buffer.from(String(value.base64), 'base64') : value
}

export function notOurs(cause?: unknown): BrokerError {
  return new BrokerError('InvalidRequestError', 'The file is no backup of Broker, or one of a newer version', { cause })
}

/** Counts what goes by. */
export class Counter {
  #connections = 0
  #events = 0
  #generation = 0
  readonly #rows: Partial<Record<TableName, number>> = {}

  add(table: TableName, rows: readonly AnyRow[]): void {
    this.#rows[table] = (this.#rows[table] ?? 0) + rows.length
    if (table === 'connections') this.#connections += rows.length
    if (table === 'audit_events') this.#events += rows.length
    if (table !== 'manifests') return
    for (const { vault_id, generation } of rows) {
      // Lists of rows are kept in the same table, and have numbers of their own.
      if (!String(vault_id).startsWith('rights')) this.#generation = Math.max(this.#generation, Number(generation))
    }
  }

  get counts(): BackupCounts {
    return {
      connections: this.#connections,
      events: this.#events,
      generation: this.#generation,
      rows: { ...this.#rows },
    }
  }
}
