/**
 * Logins in progress, in memory alone: a restart of the daemon loses them. Must never keep a value that was typed in.
 */
export { type AuthSessions, openAuthSessions, type SessionForm } from './open-auth-sessions.ts'
