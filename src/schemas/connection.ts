import * as z from 'zod'
import { AUTH_TYPES, FLOWS, SIGNING_TYPES } from '../protocol/index.ts'
import { connectionName, providerName, timestamp } from './common.ts'

/** Contract section 7. */
const connection = z.strictObject({
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
})
export type Connection = z.infer<typeof connection>

export const connections = z.strictObject({ connections: z.array(connection) })

export const connectionDetail = connection.extend({
  /** By field name; every secret is `[redacted]` unless it was asked for. */
  credential: z.record(z.string(), z.string()),
})
export type ConnectionDetail = z.infer<typeof connectionDetail>

export const loggedOut = z.strictObject({ status: z.literal('ok'), provider: providerName, connection: connectionName })

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
