import * as z from 'zod'
import { AUTH_TYPES, FLOWS } from '../protocol/index.ts'
import { field } from './auth-session.ts'
import { providerName } from './common.ts'
import { providerDefinition } from './provider-definition.ts'

/** Where keys of a provider are found, and what else has to be known to log in with one. */
const keyDetail = z.strictObject({
  /** As in the definition. */
  env: z.record(z.string(), z.string()),
  fields: z.array(field),
  /** As in the definition, with its placeholder; of several, the first. */
  base_url: z.string().optional(),
  /** Where it may be on servers of the users' own: the paths below their address that get the credential (`/api/*`, `/*`). */
  self_hosted: z.array(z.string()).optional(),
  needs_base_url: z.boolean(),
  placeholder: z.string(),
})

/** Contract section 8. */
export const providerSummary = z.strictObject({
  name: providerName,
  display_name: z.string(),
  auth_type: z.enum(AUTH_TYPES),
  flow: z.enum(FLOWS),
  source: z.enum(['bundled', 'custom']),
  hosts: z.array(z.string()),
  docs_url: z.string().optional(),
  connections: z.int(),
  /** With `detail=keys`, of each that takes keys. */
  keys: keyDetail.optional(),
})
export type ProviderSummary = z.infer<typeof providerSummary>

export const providerList = z.strictObject({ bundled: z.array(providerSummary), custom: z.array(providerSummary) })
export type ProviderList = z.infer<typeof providerList>

const sources = z.enum(['bundled', 'custom'])

/** The definition, and where it came from. */
export const describedProvider = providerDefinition.extend({ source: sources })
export type DescribedProvider = z.infer<typeof describedProvider>

export const registerProvider = z.strictObject({
  definition: providerDefinition.extend({
    source: sources
      .optional()
      .describe('As GET answers it: taken and not kept, so that what was read can be sent back.'),
  }),
  force: z.boolean().optional(),
  /** May have a host that another has too, where the one is more specific than the other. */
  beside: z.boolean().optional(),
})

export const registeredProvider = z.strictObject({
  status: z.literal('ok'),
  provider: providerName,
  warnings: z.array(z.string()),
})

/** Several definitions: all of them are registered, or none. Each is anything at first, to say what is wrong with it. */
export const registerProviders = z.strictObject({
  definitions: z.array(z.unknown()).min(1).max(2_000),
  force: z.boolean().optional(),
})

export const registeredOne = z.strictObject({
  provider: z.string().optional(),
  status: z.enum(['registered', 'valid', 'failed']),
  error: z.enum(['InvalidRequestError', 'ProviderAlreadyRegisteredError']).optional(),
  message: z.string().optional(),
  details: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  warnings: z.array(z.string()),
})
export type RegisteredOne = z.infer<typeof registeredOne>

/** In the order in which they were sent. `failed`: nothing was registered. */
export const registeredProviders = z.strictObject({
  status: z.enum(['ok', 'failed']),
  results: z.array(registeredOne),
})
export type RegisteredProviders = z.infer<typeof registeredProviders>

export const removedProvider = z.strictObject({
  status: z.literal('ok'),
  provider: providerName,
  /** `kept`: it was to be removed only where it is unused. */
  action: z.enum(['removed', 'reset', 'kept']),
  connections_removed: z.int(),
})
export type RemovedProvider = z.infer<typeof removedProvider>
