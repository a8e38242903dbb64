/**
 * Who may act: principals with their roles and vaults, the identities attached to them, open claims, and the short-lived
 * keys of runs. Must never see a credential.
 */
export type { ClaimView } from './claims.ts'
export { openPrincipals, type Principals, type Registered, type Suspended } from './open-principals.ts'
