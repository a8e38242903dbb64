import type { AuditEvent } from '../schemas/index.ts'
import { sentenceOf } from './sentence.ts'

const SEVERITIES = { success: [9, 'INFO'], denied: [13, 'WARN'], failure: [17, 'ERROR'] } as const

/** One request of OpenTelemetry's log service in its JSON form, with as many records as there are events. */
export function otlpLogs(events: readonly AuditEvent[], version: string): object {
  return {
    resourceLogs: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'broker', 'service.version': version }) },
        scopeLogs: [{ scope: { name: 'broker.audit' }, logRecords: events.map(recordOf) }],
      },
    ],
  }
}

function recordOf(event: AuditEvent): object {
  const [severityNumber, severityText] = SEVERITIES[event.status]
  return {
    timeUnixNano: nanoseconds(event.timestamp),
    observedTimeUnixNano: nanoseconds(event.received_at ?? event.timestamp),
    severityNumber,
    severityText,
    eventName: `broker.${event.event}`,
    body: { stringValue: sentenceOf(event) },
    attributes: attributesOf(namedOf(event)),
  }
}

/** By OpenTelemetry's names where it has one. */
function namedOf({ request, timestamp: _, overrides, ...event }: AuditEvent): Readonly<Record<string, unknown>> {
  const own = Object.entries(event).map(([name, value]) => [`broker.${name}`, value])
  return {
    ...Object.fromEntries(own),
    ...(overrides && { 'broker.overrides': JSON.stringify(overrides) }),
    'http.request.method': request?.method,
    'server.address': request?.host,
    'server.port': request?.port,
    'url.path': request?.path,
    'http.response.status_code': request?.status,
    'broker.duration_ms': request?.duration_ms,
    'http.request.body.size': request?.bytes_out,
    'http.response.body.size': request?.bytes_in,
  }
}

function attributesOf(named: Readonly<Record<string, unknown>>): readonly object[] {
  return Object.entries(named).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: typedValue(value) }],
  )
}

function typedValue(value: unknown): object {
  if (typeof value !== 'number') return { stringValue: String(value) }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function nanoseconds(timestamp: string): string {
  return `${Date.parse(timestamp)}000000`
}
