import type { AuditEvent } from '../schemas/index.ts'
import { sentenceOf } from './sentence.ts'

const VERSION = '1.3.0'

interface Kind {
  readonly category_uid: number
  readonly class_uid: number
  readonly activity_id: number
}

/** Classes of OCSF 1.3: Account Change, Authentication, API Activity. */
const ACCOUNT_CHANGE = { category_uid: 3, class_uid: 3001 } as const
const AUTHENTICATION = { category_uid: 3, class_uid: 3002 } as const
const API_ACTIVITY = { category_uid: 6, class_uid: 6003 } as const
const OTHER = 99

const KINDS: Readonly<Partial<Record<AuditEvent['event'], Kind>>> = {
  'account.registered': { ...ACCOUNT_CHANGE, activity_id: 1 },
  'account.password_reset': { ...ACCOUNT_CHANGE, activity_id: 4 },
  'identity.registered': { ...ACCOUNT_CHANGE, activity_id: 1 },
  'identity.removed': { ...ACCOUNT_CHANGE, activity_id: 6 },
  'account.login': { ...AUTHENTICATION, activity_id: 1 },
  'account.login_failed': { ...AUTHENTICATION, activity_id: 1 },
  'account.logout': { ...AUTHENTICATION, activity_id: 2 },
  'identity.refused': { ...AUTHENTICATION, activity_id: 1 },
}

/** Create, Read, Update and Delete of API Activity. */
const ACTIVITIES: Readonly<Record<string, number>> = { POST: 1, GET: 2, HEAD: 2, PUT: 3, PATCH: 3, DELETE: 4 }

const SEVERITIES = { success: 1, denied: 3, failure: 3 } as const

/** An event of the Open Cybersecurity Schema Framework. */
export function ocsfEvent(event: AuditEvent, version: string): object {
  const { request, identity, principal_id, status, timestamp } = event
  const kind = KINDS[event.event] ?? { ...API_ACTIVITY, activity_id: ACTIVITIES[request?.method ?? ''] ?? OTHER }
  return {
    ...kind,
    type_uid: kind.class_uid * 100 + kind.activity_id,
    ...(kind.activity_id === OTHER && { activity_name: event.event }),
    time: Date.parse(timestamp),
    severity_id: SEVERITIES[status],
    status_id: status === 'success' ? 1 : 2,
    status: status === 'success' ? 'Success' : 'Failure',
    ...(event.reason !== undefined && { status_detail: event.reason }),
    message: sentenceOf(event),
    metadata: {
      version: VERSION,
      product: { name: 'Broker', vendor_name: 'Broker', version },
      uid: event.id,
      sequence: event.seq,
      event_code: event.event,
    },
    ...partiesOf(kind, { identity, principal_id, operation: event.event }),
    ...(request && endpointOf(request)),
    unmapped: unmapped(event),
  }
}

function partiesOf(
  { class_uid }: Kind,
  {
    identity,
    principal_id,
    operation,
  }: { readonly identity: string; readonly principal_id: string; readonly operation: string },
): object {
  const user = { name: identity, uid: principal_id }
  if (class_uid !== API_ACTIVITY.class_uid) return { actor: { user }, user }
  return { actor: { user }, api: { operation, service: { name: 'broker' } }, src_endpoint: { name: identity } }
}

function endpointOf({
  method,
  host,
  port,
  path,
  status,
  bytes_in,
  bytes_out,
}: NonNullable<AuditEvent['request']>): object {
  return {
    dst_endpoint: { hostname: host, port },
    http_request: {
      http_method: method,
      url: { hostname: host, port, path },
      ...(bytes_out !== undefined && { length: bytes_out }),
    },
    ...(status !== undefined && {
      http_response: { code: status, ...(bytes_in !== undefined && { length: bytes_in }) },
    }),
  }
}

/** What the schema has no place for. */
function unmapped({
  source,
  provider,
  connection,
  run_id,
  release,
  count,
  how,
  from,
  to,
  isolation,
  overrides,
  dialled,
}: AuditEvent): object {
  return { source, provider, connection, run_id, release, count, how, from, to, isolation, overrides, dialled }
}
