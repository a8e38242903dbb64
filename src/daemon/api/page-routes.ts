import type { AuthSessions } from '../auth-sessions/index.ts'
import type { Route } from './route.ts'

export function pageRoutes(_sessions: AuthSessions): readonly Route[] {
  return []
}
