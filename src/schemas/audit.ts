import * as z from 'zod'
import { AUDIT_EVENTS, AUDIT_STATUSES, PROXY_EVENTS } from '../protocol/index.ts'
import { connectionName, identityHandle, port, providerName, timestamp } from './common.ts'

const request = z.strictObject({
  method: z.string().max(32),
  host: z.string().max(253),
  port,
  /** Without query. */
  path: z.string().max(8192),
  status: z.int().min(100).max(999).optional(),
  duration_ms: z.number().min(0).optional(),
  bytes_in: z.int().min(0).optional(),
  bytes_out: z.int().min(0).optional(),
})

/** As a proxy may tell of it. The method is a token (RFC 9110 section 5.6.2); what is stored may be older than that rule. */
const shippedRequest = request.extend({
  method: z
    .string()
    .max(32)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of an HTTP method'),
})

/** Numbered in the deployment: one for each time that a secret leaves the daemon. */
const release = z.int().min(1)

const visible = z.string().regex(/^[\x20-\x7e]*$/, 'must be visible ASCII')

/** Where a request went, if that was not the address of its host. */
const dialled = visible.max(300)

/** What a run takes from its environment instead of the system: contract section 15. */
export const overrides = z.strictObject({
  /** SHA-256 of the roots that are not of the system's store. */
  ca: z
    .string()
    .regex(/^sha256[:-]?[0-9A-Za-z+/=]{43,64}$/)
    .optional(),
  /** As in `BROKER_PROXY_CONNECT_TO`. */
  connect_to: z.array(visible.max(600)).max(100).optional(),
  /** Without the credentials that it is given. */
  proxy: visible.max(300).optional(),
})

export type Overrides = z.infer<typeof overrides>

/** What stands between a command and the files and processes of its user. */
export const isolation = z.enum(['none', 'shield', 'sandbox', 'service'])

/** By which door a secret left. */
export const RELEASE_WAYS = ['resolve', 'channel', 'reveal', 'signature', 'token'] as const

/** Contract section 11. `seq` grows; pages and cursors go by it. */
export const auditEvent = z.strictObject({
  id: z.string(),
  seq: z.int(),
  timestamp,
  event: z.enum(AUDIT_EVENTS),
  source: z.enum(['internal', 'external']),
  provider: z.string().optional(),
  connection: z.string().optional(),
  identity: z.string(),
  principal_id: z.string(),
  status: z.enum(AUDIT_STATUSES),
  reason: z.string().optional(),
  run_id: z.string().optional(),
  request: request.optional(),
  /** Of an event that was shipped: when it came, by the daemon's clock. */
  received_at: timestamp.optional(),
  release: release.optional(),
  /** Requests that share a release; events that are missing. */
  count: z.int().min(1).optional(),
  how: z.enum(RELEASE_WAYS).optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  isolation: isolation.optional(),
  overrides: overrides.optional(),
  dialled: dialled.optional(),
})
export type AuditEvent = z.infer<typeof auditEvent>

export const auditPage = z.strictObject({ events: z.array(auditEvent), next_cursor: z.string().optional() })
export type AuditPage = z.infer<typeof auditPage>

export const auditQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a whole number above 0')
    .transform(Number)
    .optional(),
  cursor: z.string().max(200).optional(),
  /** Oldest first, those with a higher `seq` than this alone; never with `cursor`. 0 is the beginning. */
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the number of an event, or 0')
    .transform(Number)
    .optional(),
  event: z.enum(AUDIT_EVENTS).optional(),
  provider: providerName.optional(),
  /** A handle, or one of the words in brackets that stand for no agent: `(browser)`, `(daemon)`. */
  identity: identityHandle.or(z.enum(['(browser)', '(daemon)'])).optional(),
  status: z.enum(AUDIT_STATUSES).optional(),
  since: timestamp.or(z.iso.datetime({ offset: true })).optional(),
  until: timestamp.or(z.iso.datetime({ offset: true })).optional(),
})
export type AuditQuery = z.infer<typeof auditQuery>

/** What a proxy may say of a request. Who it was is never in it: that comes from the signature. */
export const shippedEvent = z.strictObject({
  /** Unique for its sender: an event that is sent again is stored once. */
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{8,64}$/, 'must be 8 to 64 letters, digits, "_" or "-"')
    .optional(),
  timestamp: timestamp.or(z.iso.datetime({ offset: true })).optional(),
  event: z.enum(PROXY_EVENTS),
  provider: providerName.optional(),
  connection: connectionName.optional(),
  status: z.enum(AUDIT_STATUSES),
  reason: z.string().max(200).optional(),
  run_id: z.string().max(64).optional(),
  request: shippedRequest.optional(),
  release: release.optional(),
  dialled: dialled.optional(),
})
export type ShippedEvent = z.infer<typeof shippedEvent>

export const shippedBatch = z.strictObject({ events: z.array(shippedEvent).min(1).max(1000) })
/** The same over the channel of a run, which numbers its events: what is missing between them is missing. */
export const channelEvents = z.strictObject({
  /** Of the last event that the daemon has stored, as the run knows; 0 where there was none. */
  after: z.int().min(0),
  events: z
    .array(shippedEvent.extend({ number: z.int().min(1) }))
    .min(1)
    .max(1000),
})
export type ChannelEvents = z.infer<typeof channelEvents>

export const accepted = z.strictObject({ accepted: z.int() })

/** How many events there were, by hour, event, provider and status; hours without any are left out. `step` hours are one. */
export const auditCounts = z.strictObject({
  /** How many hours are one, where nobody asked for that: by single ones they would be too many. */
  step: z.int().optional(),
  counts: z.array(
    z.strictObject({
      /** Beginning of the hour. */
      hour: timestamp,
      event: z.enum(AUDIT_EVENTS),
      provider: z.string().optional(),
      status: z.enum(AUDIT_STATUSES),
      count: z.int(),
    }),
  ),
})
export type AuditCounts = z.infer<typeof auditCounts>

export const auditCountsQuery = auditQuery
  .pick({ since: true, until: true, event: true, provider: true, identity: true, status: true })
  .extend({
    /** Hours that are counted together, from midnight UTC on; as few as leave a picture if absent. */
    step: z.enum(['1', '2', '3', '4', '6', '8', '12', '24']).transform(Number).optional(),
  })
export type AuditCountsQuery = z.infer<typeof auditCountsQuery>

export const auditExportQuery = auditQuery
  .omit({ limit: true, cursor: true, after: true })
  .extend({ format: z.enum(['jsonl', 'csv']) })

export const auditVerifyQuery = z.strictObject({ since: timestamp.or(z.iso.datetime({ offset: true })).optional() })

const LOG_TAMPERS = ['edited', 'deleted', 'inserted', 'reordered', 'truncated', 'index'] as const

/** What was done to the log outside of Broker, and to which event. `index`: filters would not find it. */
const logFinding = z.strictObject({
  kind: z.enum(LOG_TAMPERS),
  /** Of the event; where several were, of the first. Where a chain was hashed anew, of the first that no signature vouches for. */
  seq: z.int(),
})
export type LogFinding = z.infer<typeof logFinding>

export const logExamination = z.strictObject({
  status: z.enum(['ok', 'failed']),
  /** How many were looked at. */
  events: z.int(),
  /** Numbers of the first and the last of them; absent where there was none. */
  first: z.int().optional(),
  last: z.int().optional(),
  /** The newest signature of the log; absent where nothing was signed yet. */
  checkpoint: z.strictObject({ number: z.int(), made_at: timestamp }).optional(),
  findings: z.array(logFinding),
})
export type LogExamination = z.infer<typeof logExamination>
