import * as z from 'zod'
import { AUTH_TYPES, FLOWS, SIGNING_TYPES } from '../protocol/index.ts'
import { connectionName, providerName, timestamp } from './common.ts'

const ATTENTION_KINDS = ['needs_approval', 'needs_login', 'refresh_failing', 'no_default'] as const

/** Why a connection does not serve, or soon will not, and the command that mends it (contract section 13). */
export const attention = z.strictObject({
  kind: z.enum(ATTENTION_KINDS),
  since: timestamp,
  /** One sentence. */
  reason: z.string(),
  fix: z.string(),
})
export type Attention = z.infer<typeof attention>

/** The same where it stands by itself. Without `connection` it is about all of the provider's. */
export const attentionOf = attention.extend({ provider: providerName, connection: connectionName.optional() })
export type AttentionOf = z.infer<typeof attentionOf>

/** Contract section 7. */
export const connection = z.strictObject({
  provider: providerName,
  connection: connectionName,
  is_default: z.boolean(),
  auth_type: z.enum(AUTH_TYPES),
  flow: z.enum(FLOWS),
  /** The kind of key, where it is one that signs and is never sent. */
  signing: z.enum(SIGNING_TYPES).optional(),
  status: z.enum(['connected', 'expired', 'needs_login', 'needs_approval']),
  scopes: z.array(z.string()),
  base_url: z.string().optional(),
  account: z.strictObject({ id: z.string().optional(), label: z.string().optional() }).optional(),
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: timestamp.optional(),
  last_used_at: timestamp.optional(),
  attention: attention.optional(),
})
export type Connection = z.infer<typeof connection>

export const connections = z.strictObject({
  connections: z.array(connection),
  /** What keeps requests of the caller from being served. */
  attention: z.array(attentionOf),
})
export type ConnectionList = z.infer<typeof connections>

export const connectionDetail = connection.extend({
  /** By field name; every secret is `[redacted]` unless it was asked for. */
  credential: z.record(z.string(), z.string()),
})
export type ConnectionDetail = z.infer<typeof connectionDetail>

export const loggedOut = z.strictObject({
  status: z.literal('ok'),
  provider: providerName,
  connection: connectionName,
  /** The only one left, where it was not the default before. */
  new_default: connectionName.optional(),
  /** Where the default is gone and several are left: one of them is to be chosen. */
  left: z.array(connectionName).optional(),
})
export type LoggedOut = z.infer<typeof loggedOut>

const destinationLines = z.strictObject({
  hosts: z.array(z.string()),
  injections: z.array(z.string()),
  endpoints: z.array(z.string()),
})

/** What a connection's credential may reach once it is approved, and could not before; and the other way round. */
export const approval = z.strictObject({
  provider: providerName,
  connection: connectionName,
  added: destinationLines,
  removed: destinationLines,
  /** False where it is not known what was allowed before: an earlier version kept a digest alone. */
  known: z.boolean(),
  /** Registrable domains that the credential was not for before. */
  new_domains: z.array(z.string()),
  /** Of what is to be approved, for `POST …/approve`. */
  version: z.string(),
})
export type Approval = z.infer<typeof approval>

/** `version`: of the difference that was looked at; without it, whatever it is now is approved. */
export const approve = z.strictObject({ version: z.string().max(100).optional() })

export const approved = z.strictObject({
  status: z.literal('ok'),
  provider: providerName,
  connection: connectionName,
  allowed: z.strictObject({ added: z.array(z.string()), removed: z.array(z.string()) }),
})
export type Approved = z.infer<typeof approved>

export const revoked = z.strictObject({
  status: z.enum(['ok', 'partial']),
  provider: providerName,
  removed: z.int(),
  remote: z.enum(['revoked', 'unsupported', 'failed']),
})
export type Revoked = z.infer<typeof revoked>

export const restored = z.strictObject({
  status: z.literal('ok'),
  /** Connections whose credentials did not open: they are gone, and can be logged in to again. */
  lost: z.array(z.strictObject({ provider: providerName, connection: connectionName })),
  /** What was done to rows that say who is who, as sentences. */
  rights: z.array(z.string()).optional(),
})
export type Restored = z.infer<typeof restored>

export const defaultSet = z.strictObject({
  status: z.literal('ok'),
  provider: providerName,
  default_connection: connectionName,
})
