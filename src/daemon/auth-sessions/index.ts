/**
 * Logins in progress: what each flow does next is in its steps, which are plain data; who may take them, and when they are
 * over, is decided here once for all flows. They are kept in memory, where a restart of the daemon loses them, or for
 * all daemons of a deployment. Must never keep a
 * credential that was typed in.
 */
export type { AuthSessions, SessionForm, SessionProgress, SessionTitle } from './auth-sessions.ts'
export { openAuthSessions } from './open-auth-sessions.ts'
export { openSharedRegistry } from './shared-registry.ts'
