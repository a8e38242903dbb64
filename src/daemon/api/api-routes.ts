import type { Accounts } from '../accounts/index.ts'
import type { AuthSessions } from '../auth-sessions/index.ts'
import type { DefinitionsOptions } from '../connections/index.ts'
import type { CredentialsOptions, RevokeOptions } from '../credentials/index.ts'
import type { Principals } from '../principals/index.ts'
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
import { whyHandlers } from './why-handlers.ts'

export interface ApiOptions
  extends DefinitionsOptions,
    CredentialsOptions,
    RevokeOptions,
    StatusOptions,
    DocsOptions,
    DashboardRoutesOptions {
  readonly principals: Principals
  readonly accounts: Accounts
  readonly sessions: AuthSessions
  /** Whether browsers come here by https. */
  readonly isSecure: boolean
  /** What a hosted daemon is as an OAuth client. */
  readonly clientMetadata?: Readonly<Record<string, unknown>>
}

/** Every route there is. */
export function apiRoutes(options: ApiOptions): readonly Route[] {
  const { principals, sessions, connections, providers, audit } = options
  const handlers: Handlers = {
    ...statusHandlers(options),
    ...identityHandlers(principals, { providers, connections }),
    ...accountHandlers(options),
    ...sessionHandlers(sessions),
    ...connectionHandlers(options),
    ...providerHandlers(options),
    ...catalogueHandlers(options),
    ...proxyHandlers(options, audit),
    ...whyHandlers(options, principals),
    ...auditHandlers(audit),
    ...liveHandlers(options),
  }
  const routes = [
    ...routesOf(handlers),
    ...sessionLinkRoutes(options),
    ...claimRoutes(options),
    ...pageRoutes(sessions),
    ...dashboardRoutes(options),
  ]
  return [...routes, ...docsRoutes(routes, options)]
}
