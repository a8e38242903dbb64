import * as z from 'zod'
import { ENCRYPTION_SOURCES, ROLES } from '../protocol/index.ts'
import { did, identityHandle, shownText, timestamp } from './common.ts'

const encryption = {
  configured_encryption_mode: z.string().optional(),
  effective_encryption_source: z.string().optional(),
  encryption_backend: z.string().optional(),
}

/** Interface section 2.1. */
export const health = z.strictObject({ status: z.literal('ok'), version: z.string(), ...encryption })
export type Health = z.infer<typeof health>

const check = z.enum(['ok', 'failed'])

/** Interface section 2.2. */
export const readiness = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  checks: z.strictObject({
    store: check,
    vault: check,
    integrity: check,
    identity: check,
    providers: check,
    connections: check,
    spec_version: check,
    /** Present where there is a Redis. */
    redis: check.optional(),
  }),
  warnings: z.array(z.string()).optional(),
  issues: z.array(z.string()).optional(),
  /** Set while nothing can be read or written for want of the master key. */
  sealed: z.literal(true).optional(),
  ...encryption,
})
export type Readiness = z.infer<typeof readiness>

/** Interface section 2.3. */
export const whoami = z.strictObject({
  home: z.string(),
  identity: identityHandle,
  principal_id: z.string().optional(),
  vault_id: z.string().optional(),
  principal_role: z.enum(ROLES).optional(),
  did: did.optional(),
})
export type Whoami = z.infer<typeof whoami>

export const registerIdentity = z.strictObject({ handle: identityHandle, did })

/** Contract section 5. */
export const registration = z.strictObject({
  identity: identityHandle,
  did,
  status: z.enum(['claimed', 'claim_required']),
  principal_id: z.string().optional(),
  claim_url: z.string().optional(),
  expires_at: timestamp.optional(),
})
export type Registration = z.infer<typeof registration>

export const identity = z.strictObject({
  identity: identityHandle,
  did,
  status: z.enum(['claimed', 'claim_required']),
  created_at: timestamp,
  last_used_at: timestamp.optional(),
  /** What its owner calls it. */
  label: z.string().optional(),
})
export type Identity = z.infer<typeof identity>

export const labelIdentity = z.strictObject({ label: shownText(80).or(z.literal('')) })

export const identities = z.strictObject({ identities: z.array(identity) })

/** Contract section 14. */
export const vaultState = z.strictObject({
  sealed: z.boolean(),
  source: z.enum(ENCRYPTION_SOURCES),
  /** Which data key of the vault is the newest; 0 where there is none yet. */
  term: z.int(),
  /** How many changes the vault has come through. */
  generation: z.int(),
  records: z.int(),
  /** How many of them are not under the newest data key yet; absent where all are. */
  rotating: z.int().optional(),
})
export type VaultState = z.infer<typeof vaultState>

export const rotated = z.strictObject({ status: z.literal('ok'), term: z.int() })
export type Rotated = z.infer<typeof rotated>

export const rekeyVault = z.strictObject({
  to: z.enum(ENCRYPTION_SOURCES),
  /** Of `passphrase`; the one in `BROKER_PASSPHRASE_FILE` if absent. */
  passphrase: z.string().min(1).max(1024).optional(),
  /** Of `env`: 32 bytes in base64 or hex; what the daemon was started with if absent. */
  master_key: z.string().min(1).max(1024).optional(),
})
export const rekeyed = z.strictObject({ status: z.literal('ok'), source: z.enum(ENCRYPTION_SOURCES) })
export type Rekeyed = z.infer<typeof rekeyed>

export const unlockVault = z.strictObject({ passphrase: z.string().min(1).max(1024).optional() })

export const ok = z.strictObject({ status: z.literal('ok') })
