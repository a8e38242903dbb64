import type { Accounts } from '../accounts/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import type { Connections, DefinitionsOptions } from '../connections/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Deployment } from '../deployment/index.ts'
import type { Keys } from '../keys/index.ts'
import type { Principals } from '../principals/index.ts'
import type { Releases } from '../releases/index.ts'
import { accountHandlers } from './account-handlers.ts'
import { auditHandlers } from './audit-handlers.ts'
import { catalogueHandlers } from './catalogue-handlers.ts'
import { claimRoutes } from './claim-routes.ts'
import { connectionHandlers } from './connection-handlers.ts'
import { type DashboardRoutesOptions, dashboardRoutes } from './dashboard-routes.ts'
import { type DocsOptions, docsRoutes } from './docs-routes.ts'
import { identityHandlers } from './identity-handlers.ts'
import { liveHandlers } from './live-handlers.ts'
import { pageRoutes } from './page-routes.ts'
import { providerHandlers } from './provider-handlers.ts'
import { proxyHandlers } from './proxy-handlers.ts'
import { type Handlers, type Route, routesOf } from './route.ts'
import { sessionHandlers } from './session-handlers.ts'
import { sessionLinkRoutes } from './session-link-routes.ts'
import { type StatusOptions, statusHandlers } from './status-handlers.ts'
import { vaultHandlers } from './vault-handlers.ts'
import { whyHandlers } from './why-handlers.ts'

/** Whom the API asks. */
export interface ApiRooms extends DefinitionsOptions {
  readonly deployment: Deployment
  readonly principals: Principals
  readonly accounts: Accounts
  readonly sessions: AuthSessions
  readonly credentials: Credentials
  readonly releases: Releases
  readonly connections: Connections
  readonly keys: Keys
}

/** Where the daemon serves, and as what. */
export interface Site extends Omit<StatusOptions, 'deployment'>, DocsOptions, DashboardRoutesOptions {
  /** Whether browsers come here by https. */
  readonly isSecure: boolean
}

/** Gives every route there is. */
export function apiRoutes(rooms: ApiRooms, site: Site): readonly Route[] {
  const { principals, accounts, sessions, connections, credentials, audit } = rooms
  const { baseUrl, isSecure } = site
  const handlers: Handlers = {
    ...statusHandlers({ ...site, deployment: rooms.deployment }),
    ...identityHandlers(principals, { credentials, connections }),
    ...accountHandlers({ accounts, sessions, baseUrl, isSecure }),
    ...sessionHandlers(sessions),
    ...connectionHandlers(rooms),
    ...vaultHandlers(rooms.keys),
    ...providerHandlers(rooms),
    ...catalogueHandlers(rooms),
    ...proxyHandlers(rooms),
    ...whyHandlers(credentials, principals),
    ...auditHandlers(audit),
    ...liveHandlers({ audit, accounts }),
  }
  const routes = [
    ...routesOf(handlers),
    ...sessionLinkRoutes({ accounts, isSecure }),
    ...claimRoutes({ principals, accounts }),
    ...pageRoutes(sessions),
    ...dashboardRoutes(site),
  ]
  return [...routes, ...docsRoutes(routes, site)]
}
