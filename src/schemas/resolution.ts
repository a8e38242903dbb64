import * as z from 'zod'
import { connectionName, did, hostName, port, providerName, timestamp } from './common.ts'

/** What the proxy may intercept (contract section 9). `host` is exact or has one `*` label. */
const route = z.strictObject({
  provider: providerName,
  connection: connectionName.optional(),
  host: z.string(),
  port,
  path_prefix: z.string().optional(),
})
export type Route = z.infer<typeof route>

export const routes = z.strictObject({ routes: z.array(route), version: z.string() })
export type Routes = z.infer<typeof routes>

export const resolveRequest = z.strictObject({
  host: hostName,
  port: port.optional(),
  method: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/, 'must be an HTTP method')
    .optional(),
  /** Path without query, as the child sent it. */
  path: z.string().max(65_536).optional(),
  provider: providerName.optional(),
  connection: connectionName.optional(),
  /** The `version` of an answer whose credential the host refused with 401: it is refreshed if it is still the one in use. */
  rejected_version: z.int().min(1).optional(),
})
export type ResolveRequest = z.infer<typeof resolveRequest>

export const resolution = z.strictObject({
  provider: providerName,
  connection: connectionName,
  /** Headers to set, by name; the child's own of that name is removed first. */
  headers: z.record(z.string(), z.string()),
  /** Names out of `headers` that are set only where the child sent none: API versions and the like. */
  if_absent: z.array(z.string()).optional(),
  /** Query parameters to set; the child's own of that name is removed first. */
  query: z.record(z.string(), z.string()).optional(),
  /** The first segment of the path that begins with `prefix` (`/bot`) is replaced by `segment`; no other part changes. */
  path: z.strictObject({ prefix: z.string(), segment: z.string() }).optional(),
  expires_at: timestamp.optional(),
  /** Which credential this is, where one that the host refuses can be refreshed: see `rejected_version`. */
  version: z.int().optional(),
})
export type Resolution = z.infer<typeof resolution>

/** Registers the key of one `broker run`: it may ask for routes and credentials and ship audit events, nothing else. */
export const startRun = z.strictObject({
  did,
  /** Only these providers may be injected; all of the principal's when absent. */
  only: z.array(providerName).min(1).max(1000).optional(),
  /** Connection to use instead of the provider's default, by provider. */
  connections: z.record(providerName, connectionName).optional(),
  /** First word of the command, for the audit log. */
  command: z.string().max(200).optional(),
})
export type StartRun = z.infer<typeof startRun>

export const run = z.strictObject({ run_id: z.string(), expires_at: timestamp })
export type Run = z.infer<typeof run>

export const endRun = z.strictObject({ exit_code: z.int().optional() })
