/**
 * The rows that say who is who: principals, accounts, identities, claims, runs, browser sessions and links. Each carries a
 * MAC, and what lives long is on a sealed list of its principal, so that a row which another hand wrote, copied or put
 * back is nobody. Must never take in a row that fails, but once, when a store from before is opened for the first time.
 */
export { type Evidence, openRights, type Rights } from './open-rights.ts'
export { LISTS } from './sealed-rows.ts'
