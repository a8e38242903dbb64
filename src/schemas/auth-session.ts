import * as z from 'zod'
import { FLOWS } from '../protocol/index.ts'
import { connectionName, providerName, shownText, timestamp } from './common.ts'

/** One value a login asks the person for (contract section 6). */
export const field = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be lower-case letters, digits and "_", at most 32'),
  label: shownText(80),
  secret: z.boolean(),
  required: z.boolean(),
  help: shownText(500).optional(),
  pattern: z.string().max(200).optional(),
  /** The text of a file, of more than one line: a key in PEM or JSON. */
  multiline: z.literal(true).optional(),
})
export type Field = z.infer<typeof field>

export const startAuthSession = z.strictObject({
  provider: providerName,
  connection: connectionName.optional(),
  flow: z.enum(FLOWS).optional(),
  scopes: z.array(z.string().min(1).max(200)).max(100).optional(),
  base_url: z.string().max(500).optional(),
  /** Replaces the connection, and registers anew where Broker registers itself. */
  force: z.boolean().optional(),
  /** Not with the OAuth app, or the registration, of an earlier login: asks for another one. */
  new_client: z.boolean().optional(),
  /** With the definition's `signing` section, where it has an `api_key` section too. */
  signing: z.boolean().optional(),
  /** With the id and secret of a client, where the provider takes API keys or a login in the browser too. */
  grant: z.literal('client_credentials').optional(),
  /** `onboard` for a key that was found in the environment: the audit log tells it from one that was typed in. */
  source: z.enum(['login', 'onboard']).optional(),
})
export type StartAuthSession = z.infer<typeof startAuthSession>

export const nextAction = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('open_url'), url: z.string() }),
  z.strictObject({
    type: z.literal('form'),
    url: z.string(),
    fields: z.array(field),
    docs_url: z.string().optional().describe('Where a key or an app is made. https.'),
  }),
  z.strictObject({
    type: z.literal('device_code'),
    url: z.string(),
    user_code: z.string(),
    verification_uri: z.string(),
    verification_uri_complete: z.string().optional(),
    interval: z.number(),
    expires_at: timestamp,
  }),
])

export const authSession = z.strictObject({
  id: z.string(),
  provider: providerName,
  connection: connectionName,
  flow: z.enum(FLOWS),
  status: z.enum(['pending', 'waiting_for_user', 'processing', 'completed', 'failed', 'expired', 'cancelled']),
  message: z.string().optional(),
  error: z.strictObject({ error: z.string(), message: z.string() }).optional(),
  /** Of what was stored all the same. */
  warnings: z.array(z.string()).optional(),
  next_action: nextAction,
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: timestamp,
})
export type AuthSession = z.infer<typeof authSession>

/** A login with these values, to be decided on and not made. */
export const checkAuthSession = startAuthSession.extend({
  input: z.record(z.string().max(32), z.string().max(65_536)),
})

/** What it would be warned of. What would be refused is an error. */
export const checkedAuthSession = z.strictObject({ status: z.literal('ok'), warnings: z.array(z.string()) })
export type CheckedAuthSession = z.infer<typeof checkedAuthSession>

/** Values by field name; an empty object polls a device code; `callback_url` is where a browser elsewhere ended at. */
export const resumeAuthSession = z.strictObject({
  input: z.record(z.string().max(32), z.string().max(65_536)).default({}),
})
