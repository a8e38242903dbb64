import * as z from 'zod'
import { secretInput } from '../../protocol/index.ts'
import {
  approval,
  approve,
  approved,
  connectionDetail,
  connections as connectionList,
  connectionName,
  defaultSet,
  loggedOut,
  providerName,
  restored,
  resumeAuthSession,
  revoked,
} from '../../schemas/index.ts'
import {
  attentionIn,
  type CheckedConnections,
  type ListedConnections,
  type ManagedConnections,
} from '../connections/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Principals } from '../principals/index.ts'
import { type Providers, parseCredential } from '../providers/index.ts'
import { type Route, route } from './route.ts'

const byProvider = z.strictObject({ provider: providerName })
const byConnection = z.strictObject({ provider: providerName, connection: connectionName })

export interface ConnectionRoutesOptions {
  readonly connections: ListedConnections & ManagedConnections & CheckedConnections
  readonly credentials: Credentials
  readonly providers: Providers
  readonly principals: Principals
}

export function connectionRoutes(options: ConnectionRoutesOptions): readonly Route[] {
  const { connections, credentials, providers, principals } = options
  return [
    route({
      method: 'GET',
      path: '/api/connections',
      access: 'principal',
      summary: "The connections of the caller's vault, sorted by provider and name.",
      reply: connectionList,
      handle: async ({ who }) => {
        const all = await connections.list(who)
        return { body: { connections: [...all], attention: [...attentionIn(all)] } }
      },
    }),
    route({
      method: 'GET',
      path: '/api/connections/{provider}/{connection}',
      access: 'principal',
      summary: 'One connection with its credential, redacted unless `reveal=true`, which is audited.',
      params: byConnection,
      query: z.strictObject({ reveal: z.enum(['true', 'false']).optional() }),
      wantsCsrf: ({ reveal }) => reveal === 'true',
      reply: connectionDetail,
      handle: async ({ who, params: { provider, connection }, query }) => ({
        body:
          query.reveal === 'true'
            ? await connections.reveal(who, provider, connection)
            : await connections.inspect(who, provider, connection),
      }),
    }),
    route({
      method: 'POST',
      path: '/api/connections/{provider}/{connection}/compare',
      access: 'principal',
      summary: 'Whether the connection holds exactly these values, without telling which it holds.',
      params: byConnection,
      body: resumeAuthSession,
      reply: z.strictObject({ same: z.boolean() }),
      handle: async ({ who, params, body }) => {
        const credential = parseCredential(providers.get(params.provider).definition, secretInput(body.input))
        return { body: { same: await connections.holds(who, params, credential) } }
      },
    }),
    route({
      method: 'GET',
      path: '/api/connections/{provider}/{connection}/approval',
      access: 'principal',
      summary: 'What a connection that needs approval could reach with it, and what no more.',
      params: byConnection,
      reply: approval,
      handle: async ({ who, params }) => ({ body: await connections.approval(who, params) }),
    }),
    route({
      method: 'POST',
      path: '/api/connections/{provider}/{connection}/approve',
      access: 'principal',
      summary: "Lets the credential go where the provider's definition sends it now.",
      params: byConnection,
      body: approve,
      reply: approved,
      handle: async ({ who, params, body }) => ({ body: await connections.approve(who, params, body.version) }),
    }),
    route({
      method: 'POST',
      path: '/api/connections/{provider}/{connection}/logout',
      access: 'principal',
      summary: 'Removes one connection; the provider is not contacted.',
      params: byConnection,
      reply: loggedOut,
      handle: async ({ who, params: { provider, connection } }) => {
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
    }),
    route({
      method: 'POST',
      path: '/api/vault/restore',
      access: 'principal or suspended',
      summary:
        'Takes the vault as it is, after damage or a restored backup: what does not open is given up. Rows that say who is who are put back as Broker wrote them; `x-broker-bootstrap` lets the owner of the machine do so whatever was changed.',
      reply: restored,
      handle: async ({ who, headers }) => {
        const { actor, done } = await principals.restore(who, headers.bootstrap)
        const lost = [...(await connections.restore(actor))]
        return { body: { status: 'ok' as const, lost, ...(done.length > 0 && { rights: [...done] }) } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/connections/{provider}/revoke',
      access: 'principal',
      summary: "Revokes at the provider where it can, and removes all of the provider's connections.",
      params: byProvider,
      reply: revoked,
      handle: async ({ who, params: { provider } }) => ({ body: await credentials.revoke(who, provider) }),
    }),
    route({
      method: 'POST',
      path: '/api/connections/{provider}/{connection}/default',
      access: 'principal',
      summary: "Makes this connection the provider's default.",
      params: byConnection,
      reply: defaultSet,
      handle: async ({ who, params: { provider, connection } }) => {
        await connections.setDefault(who, provider, connection)
        return { body: { status: 'ok' as const, provider, default_connection: connection } }
      },
    }),
  ]
}
