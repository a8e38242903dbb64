import * as z from 'zod'
import { connectionName, identityHandle, providerName } from './common.ts'

/** What to explain: by its URL, or in parts (contract section 13). */
export const explainQuery = z.strictObject({
  url: z.string().max(8192).optional(),
  host: z.string().min(1).max(253).optional(),
  port: z.coerce.number().int().min(1).max(65_535).optional(),
  method: z
    .string()
    .regex(/^[A-Za-z]{1,32}$/, 'must be a method of HTTP')
    .optional(),
  path: z.string().startsWith('/').max(8192).optional(),
  identity: identityHandle.optional(),
})
export type ExplainQuery = z.infer<typeof explainQuery>

/** What would become of a request, and why. */
export const explanation = z.strictObject({
  /** `tunnel`: it passes as it is, without a credential. */
  verdict: z.enum(['inject', 'tunnel', 'refuse', 'ask']),
  steps: z.array(z.strictObject({ step: z.string(), result: z.string(), reason: z.string() })),
  provider: providerName.optional(),
  connection: connectionName.optional(),
  /** Where the credential goes: `header Authorization`. */
  places: z.array(z.string()).optional(),
  /** A command. */
  fix: z.string().optional(),
})
export type Explanation = z.infer<typeof explanation>
