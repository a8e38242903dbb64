import type { Accounts } from '../accounts/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import type { Connections, DefinitionsOptions } from '../connections/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Principals } from '../principals/index.ts'
import { accountRoutes } from './account-routes.ts'
import { auditRoutes } from './audit-routes.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { claimRoutes } from './claim-routes.ts'
import { connectionRoutes } from './connection-routes.ts'
import { type DashboardRoutesOptions, dashboardRoutes } from './dashboard-routes.ts'
import { type DocsOptions, docsRoutes } from './docs-routes.ts'
import { identityRoutes } from './identity-routes.ts'
import { liveRoutes } from './live-routes.ts'
import { pageRoutes } from './page-routes.ts'
import { providerRoutes } from './provider-routes.ts'
import { proxyRoutes } from './proxy-routes.ts'
import type { Route } from './route.ts'
import { sessionRoutes } from './session-routes.ts'
import { type StatusOptions, statusRoutes } from './status-routes.ts'
import { whyRoutes } from './why-routes.ts'

export interface ApiOptions extends DefinitionsOptions, StatusOptions, DocsOptions, DashboardRoutesOptions {
  readonly principals: Principals
  readonly accounts: Accounts
  readonly sessions: AuthSessions
  readonly credentials: Credentials
  readonly connections: Connections
  /** Whether browsers come here by https. */
  readonly isSecure: boolean
  /** What a hosted daemon is as an OAuth client. */
  readonly clientMetadata?: Readonly<Record<string, unknown>>
}

/** Every route there is. */
export function apiRoutes(options: ApiOptions): readonly Route[] {
  const { principals, sessions, connections, credentials, audit } = options
  const routes = [
    ...statusRoutes(options),
    ...identityRoutes(principals, { credentials, connections }),
    ...accountRoutes(options),
    ...claimRoutes(options),
    ...sessionRoutes(sessions, options.clientMetadata),
    ...pageRoutes(sessions),
    ...connectionRoutes(options),
    ...providerRoutes(options),
    ...catalogueRoutes(options),
    ...proxyRoutes(credentials, audit),
    ...whyRoutes(credentials, principals),
    ...auditRoutes(audit),
    ...liveRoutes(options),
    ...dashboardRoutes(options),
  ]
  return [...routes, ...docsRoutes(routes, options)]
}
