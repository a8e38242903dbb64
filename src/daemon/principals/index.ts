/**
 * Who may act: principals with their roles and vaults, the identities attached to them, open claims, and the short-lived
 * keys of runs. Must never see a credential.
 */
export { openPrincipals, type Principals, type Suspended } from './open-principals.ts'
