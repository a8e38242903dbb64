/**
 * People at a browser: accounts with a password, sessions, and the links that sign the local owner in. Must never see a
 * credential, nor keep a password or a token as it was given.
 */
export type { Caller, OpenedSession } from './browser-sessions.ts'
export type { Marks } from './known-browser.ts'
export { type Accounts, openAccounts } from './open-accounts.ts'
