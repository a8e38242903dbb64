import * as z from 'zod'
import { AUTH_TYPES, FLOWS } from '../protocol/index.ts'
import { field } from './auth-session.ts'
import { providerName } from './common.ts'

const injection = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('header'),
    name: z.string(),
    prefix: z.string().optional(),
    value: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('query'), name: z.string(), value: z.string().optional() }),
  z.strictObject({ type: z.literal('basic'), username: z.string().optional(), password: z.string().optional() }),
])

/** Contract section 8: what a provider is, as data. */
export const providerDefinition = z.strictObject({
  schema_version: z.literal(1),
  name: providerName,
  display_name: z.string().min(1).max(80),
  description: z.string().max(500).optional(),
  category: z.string().max(40).optional(),
  docs_url: z.string().optional(),
  auth_type: z.enum(AUTH_TYPES),
  flow: z.enum(FLOWS),
  hosts: z.array(z.string()).min(1).max(100),
  base_url: z.string().optional(),
  env: z.record(z.string(), z.enum(['credential', 'base_url'])).optional(),
  api_key: z
    .strictObject({
      header_name: z.string().optional(),
      prefix: z.string().optional(),
      encoding: z.enum(['none', 'basic']).optional(),
      username: z.string().optional(),
      query_param: z.string().optional(),
      pattern: z.string().optional(),
      example: z.string().optional(),
      fields: z.array(field).min(1).max(10).optional(),
    })
    .optional(),
  placeholder: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  injections: z.array(injection).max(10).optional(),
})
export type ProviderDefinition = z.infer<typeof providerDefinition>
