import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient } from '../src/client/index.ts'
import type { OpenIdProvider } from '../test/openid-provider.ts'

export const OAUTH_HOST = 'api.oauth-bench.example'
const OAUTH_PROVIDER = 'oauth-bench'

export async function registerOAuthProvider(client: DaemonClient, provider: OpenIdProvider): Promise<void> {
  const definition = {
    schema_version: 1,
    name: OAUTH_PROVIDER,
    display_name: 'OAuth bench',
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: [OAUTH_HOST],
    oauth: {
      issuer: provider.issuer,
      client_id: provider.clients.public.id,
      scopes: ['openid', 'offline_access', 'api:read'],
    },
  }
  await client.registerProvider(definition, true)
}

/** A new login in place of the one before, whose token lives so many seconds; those after it live an hour. */
export async function logIn(client: DaemonClient, provider: OpenIdProvider, seconds: number): Promise<void> {
  provider.settings.accessTokenLifetime = seconds
  const { id, next_action } = await client.startAuthSession({
    provider: OAUTH_PROVIDER,
    connection: 'default',
    flow: 'pkce',
    force: true,
  })
  if (next_action.type !== 'open_url') throw new Error(`The login goes on with ${next_action.type}`)
  await visit(await provider.approve(next_action.url))
  const { status, error } = await client.authSession(id)
  if (status !== 'completed') throw new Error(`The login is ${status}: ${error?.message}`)
  provider.settings.accessTokenLifetime = 3600
}

/** As a browser does that a provider sends back. */
async function visit(url: string): Promise<void> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
}

/** Resolves once the token in use has ended. */
export async function untilTokenEnds(client: DaemonClient): Promise<void> {
  const { expires_at = '' } = await client.connection(OAUTH_PROVIDER, 'default')
  await delay(Date.parse(expires_at) - Date.now() + 1)
}
