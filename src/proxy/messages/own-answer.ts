import type { Field } from './head.ts'
import type { Refusal, RefusalStatus } from './refusal.ts'

/** A whole answer of the proxy itself. */
export interface OwnAnswer {
  readonly status: RefusalStatus | 200
  /** Without a length, which an edge adds as its version has it. */
  readonly fields: readonly Field[]
  readonly content: string
}

/** Puts a refusal into an answer; clients know by `X-Broker-Error` that it is none of the service. */
export function answerOf({ status, error, message, hint, reason, retryAfter }: Refusal): OwnAnswer {
  const fields = [...JSON_FIELDS, field('X-Broker-Error', error)]
  if (status === 407) fields.push(field('Proxy-Authenticate', 'Basic realm="broker"'))
  if (retryAfter !== undefined) fields.push(field('Retry-After', String(Math.ceil(retryAfter))))
  return { status, fields, content: JSON.stringify({ error, message, hint, reason }) }
}

/** Puts what the proxy says of itself into an answer. */
export function answerWith(json: string): OwnAnswer {
  return { status: 200, fields: JSON_FIELDS, content: json }
}

function field(spelled: string, value: string): Field {
  return { name: spelled.toLowerCase(), value, spelled }
}

const JSON_FIELDS = [field('Content-Type', 'application/json'), field('Cache-Control', 'no-store')]
