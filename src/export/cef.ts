import { visibleText } from '../protocol/index.ts'
import type { AuditEvent } from '../schemas/index.ts'
import { sentenceOf } from './sentence.ts'

/** From 0 to 10. */
const SEVERITIES = { success: 3, denied: 6, failure: 7 } as const

/** Common Event Format, version 0, as ArcSight's implementation standard has it: one line. */
export function cefLine(event: AuditEvent, version: string): string {
  const header = ['CEF:0', 'Broker', 'broker', version, event.event, sentenceOf(event), SEVERITIES[event.status]]
  const extension = Object.entries(extensionOf(event)).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${inExtension(String(value))}`],
  )
  return `${header.map((part) => inHeader(String(part))).join('|')}|${extension.join(' ')}\n`
}

function extensionOf(event: AuditEvent): Readonly<Record<string, string | number | undefined>> {
  const { request, provider, connection, run_id, seq } = event
  return {
    rt: Date.parse(event.timestamp),
    externalId: event.id,
    outcome: event.status,
    suser: event.identity,
    suid: event.principal_id,
    reason: event.reason,
    requestMethod: request?.method,
    dhost: request?.host,
    dpt: request?.port,
    request: request?.path,
    in: request?.bytes_in,
    out: request?.bytes_out,
    cn1: seq,
    cn1Label: 'seq',
    ...labelled(2, 'n', 'status', request?.status),
    ...labelled(3, 'n', 'release', event.release),
    ...labelled(1, 's', 'provider', provider),
    ...labelled(2, 's', 'connection', connection),
    ...labelled(3, 's', 'run', run_id),
    ...labelled(4, 's', 'how', event.how),
  }
}

/** A custom field, which says by its label what it is. */
function labelled(number: number, kind: 'n' | 's', label: string, value: string | number | undefined) {
  return value === undefined ? {} : { [`c${kind}${number}`]: value, [`c${kind}${number}Label`]: label }
}

function inHeader(text: string): string {
  return visibleText(text).replace(/[\\|]/g, '\\$&').replace(/\s/g, ' ')
}

/** Lines are spelled out, as the standard has it. */
function inExtension(text: string): string {
  return visibleText(text).replace(/[\\=]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
}
