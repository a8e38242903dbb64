import * as z from 'zod'
import { isolation, overrides } from './audit.ts'
import { connectionName, did, hostName, port, providerName, timestamp } from './common.ts'
import { PLACE_KINDS } from './provider-definition.ts'

/** What the proxy may intercept (contract section 9). `host` is exact or has one `*` label. */
export const route = z.strictObject({
  provider: providerName,
  connection: connectionName.optional(),
  host: z.string(),
  port,
  path_prefix: z.string().optional(),
  /** Its requests may have to be signed: a question about one says what of it is, in `sign`. */
  signs: z.literal(true).optional(),
  /** It is on this machine and spoken to without TLS: requests over plain http carry the credential, and no others. */
  plain: z.literal(true).optional(),
})
export type Route = z.infer<typeof route>

export const routes = z.strictObject({ routes: z.array(route), version: z.string() })
export type Routes = z.infer<typeof routes>

const scopeName = z.string().regex(/^[a-z0-9-]{1,50}$/, 'must be the name of a region or a service')

/** What of a request is signed. Bytes of it that are not ASCII are written as the characters of the same number. */
export const signable = z.strictObject({
  /** Without its question mark. */
  query: z.string().max(65_536).optional(),
  /** In the order of the request, a name for each time that it occurs; `host` needs not be among them. */
  headers: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, 'must be an HTTP header name'),
        value: z
          .string()
          .max(65_536)
          .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be a header value'),
      }),
    )
    .max(500)
    .optional(),
  /** SHA-256 of the body, in hex, or the word that the service takes for a body that nobody hashed. */
  payload: z
    .string()
    .regex(
      /^(?:[0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER)$/,
      'must be a SHA-256 in hex, or UNSIGNED-PAYLOAD or STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    ),
  /** What the client itself signed for; as the host says where absent. */
  scope: z.strictObject({ region: scopeName, service: scopeName }).optional(),
})
export type Signable = z.infer<typeof signable>

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
  /** For a route that says `signs`. The answer is for this one request. */
  sign: signable.optional(),
  /** Answer with `places` alone, each credential once: for a client that puts them into the request itself. */
  form: z.literal('places').optional(),
})
export type ResolveRequest = z.infer<typeof resolveRequest>

/** The same over the channel of a run; `count` requests share the answer. */
export const channelQuestion = resolveRequest
  .omit({ form: true })
  .extend({ count: z.int().min(1).max(100_000).optional() })
export type ChannelQuestion = z.infer<typeof channelQuestion>

export const resolution = z.strictObject({
  provider: providerName,
  connection: connectionName,
  /** Headers to set, by name; the child's own of that name is removed first. */
  headers: z.record(z.string(), z.string()).optional(),
  /** Query parameters to set; the child's own of that name is removed first. */
  query: z.record(z.string(), z.string()).optional(),
  /**
   * All of it, in order; there where it was asked for (`form`), and where `headers` and `query` cannot say all. In a `path`, the first segment that begins
   * with `name` (`/bot`) becomes that and the value; where `name` ends in a slash (`/v2/`), a path that begins with it has
   * its next segment replaced. `basic` is `user:password`, not encoded. In a `body`, `name` is a JSON pointer where it begins with a slash, and else the field of a form. Without a value the child's own is only removed.
   */
  places: z
    .array(
      z.strictObject({
        in: z.enum(PLACE_KINDS),
        name: z.string(),
        value: z.string().optional(),
        /** Of a `websocket`: how many text messages it is looked for in. */
        frames: z.int().min(1).max(100).optional(),
        /** Set only where the child sent none: API versions and the like. */
        only_if_absent: z.literal(true).optional(),
      }),
    )
    .optional(),
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
  /** The run whose child starts this one: it may do no more than that one, and ends with it. */
  within: z.uuid().optional(),
  /** Goes with `within`: of the outer run's key over `broker run <did> within <within>`, base64url. */
  within_signature: z
    .string()
    .regex(/^[\w-]{86}$/, 'must be an Ed25519 signature in base64url')
    .optional(),
  /** First word of the command, for the audit log. */
  command: z.string().max(200).optional(),
  /** What keeps the command from what the user's files and memory hold; nothing where absent. */
  isolation: isolation.optional(),
  /** What its proxy takes from the environment instead of the machine; nothing where absent. */
  overrides: overrides.optional(),
})
export type StartRun = z.infer<typeof startRun>

export const run = z.strictObject({
  run_id: z.string(),
  expires_at: timestamp,
  /** What keeps this run from its credentials, for people. */
  warnings: z.array(z.string()).optional(),
})
export type Run = z.infer<typeof run>

/** Without an exit code nobody lived to tell it. */
export const endRun = z.strictObject({ exit_code: z.int().optional() })
