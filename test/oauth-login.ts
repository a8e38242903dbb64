import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { type Caller, type DaemonUnderTest, send } from './daemon-under-test.ts'
import type { OpenIdProvider } from './openid-provider.ts'

export const ACME_HOST = 'api.acme.example'

/** The definition of a service whose tokens come from this provider, for its public client. */
export function acmeDefinition({ issuer, clients }: OpenIdProvider, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    schema_version: 1,
    name: 'acme',
    display_name: 'Acme',
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: [ACME_HOST],
    oauth: {
      issuer,
      scopes: ['openid', 'offline_access'],
      authorize_params: { prompt: 'consent' },
      client_id: clients.public.id,
      token_auth_method: 'none',
      ...changes,
    },
  }
}

/** Logs in as a person with a browser does. */
export async function logInByBrowser(
  daemon: DaemonUnderTest,
  one: Caller,
  provider: OpenIdProvider,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const session = await one.call('POST', '/api/auth/sessions', { provider: 'acme', ...more })
  assert.equal(session.status, 201, session.text)
  assert.equal(session.body.next_action.type, 'open_url')
  const { pathname, search } = new URL(await provider.approve(session.body.next_action.url))
  const page = await send(daemon, 'GET', `${pathname}${search}`)
  assert.equal(page.status, 200, page.text)
}

/** Lets the access tokens of a home end now, as its daemon sees it. */
export function expireTokens(home: string): void {
  const database = new DatabaseSync(join(home, 'server', 'broker.db'), { timeout: 5_000 })
  const before = aSecondAgo()
  database
    .prepare('update connections set expires_at = ?, refresh_due_at = ? where refreshable = 1')
    .run(before, before)
  database.close()
}

/** The same on Postgres. */
export async function expireTokensIn(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  await client.query('update connections set expires_at = $1, refresh_due_at = $1 where refreshable = 1', [
    aSecondAgo(),
  ])
  await client.end()
}

function aSecondAgo(): string {
  return new Date(Date.now() - 1_000).toISOString()
}
