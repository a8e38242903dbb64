import * as z from 'zod'
import { providerName } from './common.ts'

const lines = z.strictObject({
  hosts: z.array(z.string()),
  injections: z.array(z.string()),
  endpoints: z.array(z.string()),
})

const difference = z.strictObject({
  added: z.array(z.strictObject({ name: providerName, hosts: z.array(z.string()) })),
  changed: z.array(providerName),
  removed: z.array(providerName),
  /** Of the changed: connections made before wait for approval. */
  moved: z.array(z.strictObject({ name: providerName, added: lines, removed: lines })),
})

const described = z.strictObject({
  version: z.string(),
  publisher: z.enum(['project', 'operator']),
  /** Ids of the trusted keys that have signed it. */
  keys: z.array(z.string()),
  made_at: z.string(),
  expires_at: z.string().optional(),
  definitions: z.int(),
})

/** Which definitions are in use besides custom ones: those that came with this version, and signed files before them. */
export const catalogue = z.strictObject({ shipped_version: z.string(), installed: z.array(described) })
export type CatalogueState = z.infer<typeof catalogue>

export const updateCatalogue = z.strictObject({
  /** The text of a catalogue file. */
  file: z.string().min(1),
  /** Public Ed25519 key in PEM, where it is not one that is trusted already. */
  key: z.string().max(2_000).optional(),
  /** Changes nothing, says what would change. */
  check: z.boolean().optional(),
})

export const resetCatalogue = z.strictObject({ check: z.literal('true').optional() })

export const catalogueChange = z.strictObject({
  /** `checked`: nothing was changed. `unchanged`: this very file is in use already. */
  status: z.enum(['ok', 'checked', 'unchanged']),
  /** Absent for a reset. */
  catalogue: described.optional(),
  difference,
  /** For these, custom definitions are in use: nothing changes for them. */
  overridden: z.array(providerName),
  warnings: z.array(z.string()),
})
export type CatalogueChange = z.infer<typeof catalogueChange>
