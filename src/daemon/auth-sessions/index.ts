/**
 * Logins in progress, in memory alone: a restart of the daemon loses them. What each flow does next is in its steps; who
 * may take them, and when they are over, is decided here once for all flows. Must never keep a value that was typed in.
 */
export type { AuthSessions, SessionForm, SessionProgress, SessionTitle } from './auth-sessions.ts'
export { openAuthSessions } from './open-auth-sessions.ts'
