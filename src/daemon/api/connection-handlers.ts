import { type Actor, BrokerError, secretInput } from '../../protocol/index.ts'
import {
  attentionIn,
  type CheckedConnections,
  type ListedConnections,
  type ManagedConnections,
} from '../connections/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Deployment } from '../deployment/index.ts'
import type { Principals } from '../principals/index.ts'
import { type Providers, parseCredential } from '../providers/index.ts'
import type { Releases } from '../releases/index.ts'
import type { Handlers } from './route.ts'

export interface ConnectionRoutesOptions {
  readonly connections: ListedConnections & ManagedConnections & CheckedConnections
  readonly credentials: Credentials
  readonly releases: Releases
  readonly providers: Providers
  readonly principals: Principals
  readonly deployment: Pick<Deployment, 'restore'>
}

export function connectionHandlers(options: ConnectionRoutesOptions) {
  const { connections, credentials, releases, providers, principals, deployment } = options
  return {
    'GET /api/connections': async ({ who }) => {
      const all = (await connections.list(who)).filter(({ provider }) => mayUse(who, provider))
      return { body: { connections: [...all], attention: [...attentionIn(all)] } }
    },
    'GET /api/connections/{provider}/{connection}': async ({ who, params: { provider, connection }, query }) => {
      if (query.reveal !== 'true' && mayUse(who, provider)) {
        return { body: await connections.inspect(who, provider, connection) }
      }
      if (who.run) throw notOfRun()
      return { body: await releases.reveal(who, provider, connection) }
    },
    'POST /api/connections/{provider}/{connection}/compare': async ({ who, params, body }) => {
      const credential = parseCredential(providers.get(params.provider).definition, secretInput(body.input))
      return { body: { same: await connections.holds(who, params, credential) } }
    },
    'GET /api/connections/{provider}/{connection}/approval': async ({ who, params }) => ({
      body: await connections.approval(who, params),
    }),
    'POST /api/connections/{provider}/{connection}/approve': async ({ who, params, body }) => ({
      body: await connections.approve(who, params, body.version),
    }),
    'POST /api/connections/{provider}/{connection}/logout': async ({ who, params: { provider, connection } }) => {
      const { newDefault, left } = await connections.logout(who, provider, connection)
      credentials.forget(who, { provider, connection })
      return {
        body: {
          status: 'ok' as const,
          provider,
          connection,
          ...(newDefault !== undefined && { new_default: newDefault }),
          ...(left && { left: [...left] }),
        },
      }
    },
    'POST /api/vault/restore': async ({ who, headers }) => {
      const { actor, done } = await principals.restore(who, headers.bootstrap)
      const lost = [...(await connections.restore(actor))]
      if (actor.role === 'admin') await deployment.restore(actor)
      return { body: { status: 'ok' as const, lost, ...(done.length > 0 && { rights: [...done] }) } }
    },
    'POST /api/connections/{provider}/revoke': async ({ who, params: { provider } }) => ({
      body: await credentials.revoke(who, provider),
    }),
    'POST /api/connections/{provider}/{connection}/default': async ({ who, params: { provider, connection } }) => {
      await connections.setDefault(who, provider, connection)
      return { body: { status: 'ok' as const, provider, default_connection: connection } }
    },
  } satisfies Partial<Handlers>
}

/** A run knows of no more than it may use. */
function mayUse({ run }: Actor, provider: string): boolean {
  return run?.only?.includes(provider) ?? true
}

function notOfRun(): BrokerError {
  return new BrokerError('OperationNotAllowedError', 'A run may use what it was started with, and is shown no secret')
}
