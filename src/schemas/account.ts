import * as z from 'zod'
import { ROLES } from '../protocol/index.ts'
import { identityHandle, timestamp } from './common.ts'

/** Shortest and longest password, in characters. */
const PASSWORD_LENGTH = { min: 8, max: 256 } as const

const email = z
  .string()
  .max(254)
  .regex(/^\s*[^\s@\p{Cc}\p{Cf}]{1,64}@[^\s@\p{Cc}\p{Cf}]{1,189}\s*$/u, 'must be an e-mail address')
  .meta({ example: 'ada@example.com' })

const password = z.string().max(PASSWORD_LENGTH.max)

/** A path of the daemon's own, to go on to. */
const next = z
  .string()
  .max(500)
  .regex(/^\/(?![/\\])[!-~]*$/, 'must be a path of this daemon')

/** Contract section 10. */
export const signIn = z.strictObject({ email, password, next: next.optional() })

export const signUp = signIn.extend({ password: password.min(PASSWORD_LENGTH.min) })

export const signedIn = z.strictObject({ principal_id: z.string(), role: z.enum(ROLES) })

export const changePassword = z.strictObject({ current: password, password: password.min(PASSWORD_LENGTH.min) })

/** What the operator of a daemon asks for. */
export const resetPassword = z.strictObject({ email, password: password.min(PASSWORD_LENGTH.min) })

export const passwordReset = z.strictObject({ status: z.literal('ok'), email: z.string(), principal_id: z.string() })
export type PasswordReset = z.infer<typeof passwordReset>

export const me = z.strictObject({
  principal_id: z.string(),
  role: z.enum(ROLES),
  email: z.string().optional(),
})
export type Me = z.infer<typeof me>

/** Whom the principals of a deployment belong to. The owner of a laptop may have no account. */
export const accountList = z.strictObject({
  accounts: z.array(z.strictObject({ principal_id: z.string(), email: z.string(), created_at: timestamp })),
})
export type AccountList = z.infer<typeof accountList>

export const dashboardLink = z.strictObject({ url: z.string(), expires_at: timestamp })
export type DashboardLink = z.infer<typeof dashboardLink>

/** A browser that is signed in. `browser` is one of a few words, never what the browser said of itself. */
const browserSession = z.strictObject({
  id: z.string(),
  browser: z.string(),
  is_current: z.boolean(),
  created_at: timestamp,
  last_seen_at: timestamp,
  expires_at: timestamp,
})
export type BrowserSession = z.infer<typeof browserSession>

export const browserSessions = z.strictObject({ sessions: z.array(browserSession) })

export const confirmedClaim = z.strictObject({ status: z.literal('ok'), identity: identityHandle })
