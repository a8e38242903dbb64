import type { ExportFormat } from '../protocol/index.ts'
import type { AuditEvent } from '../schemas/index.ts'
import { cefLine } from './cef.ts'
import { CSV_HEADER, csvLine } from './csv.ts'
import { ocsfEvent } from './ocsf.ts'
import { otlpLogs } from './otlp.ts'

export interface Exporter {
  /** What stands before all events. */
  readonly head: string
  /** Whole lines; of several calls the texts follow each other. */
  text(events: readonly AuditEvent[]): string
}

/** @param version of Broker, for the forms that name the product */
export function exporterFor(format: ExportFormat, version: string): Exporter {
  return { head: format === 'csv' ? CSV_HEADER : '', text: texts(format, version) }
}

function texts(format: ExportFormat, version: string): Exporter['text'] {
  const lines = (line: (event: AuditEvent) => string) => (events: readonly AuditEvent[]) => events.map(line).join('')
  switch (format) {
    case 'jsonl':
      return lines(json)
    case 'csv':
      return lines(csvLine)
    case 'cef':
      return lines((event) => cefLine(event, version))
    case 'ocsf':
      return lines((event) => json(ocsfEvent(event, version)))
    case 'otlp':
      return (events) => (events.length === 0 ? '' : json(otlpLogs(events, version)))
  }
}

/** What moves, hides or reorders text on a terminal is spelled out: the strings keep their values. */
const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function json(value: object): string {
  return `${JSON.stringify(value).replace(UNSEEN, (text) => text.split('').map(escaped).join(''))}\n`
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
