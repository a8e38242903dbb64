import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type OpenIdProvider, type ProviderOptions, startOpenIdProvider } from '../../../test/openid-provider.ts'
import {
  type Script,
  type ScriptedAnswer,
  type ScriptedServer,
  startScriptedServer,
} from '../../../test/scripted-oauth-server.ts'
import { BrokerError, type ErrorName, Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import {
  type Flows,
  type FlowsOptions,
  type OAuthClient,
  type OAuthServer,
  openFlows,
  type Party,
  type StartedAuthorization,
  type Tokens,
} from './index.ts'

export const REDIRECT_URI = 'http://127.0.0.1:7998/auth/callback/oauth'
export const ACCESS_TOKEN = 'at-CNRY7d1c5e0b94a8'
export const REFRESH_TOKEN = 'rt-CNRY93ab0f5d2c61'
export const TOKENS = {
  access_token: ACCESS_TOKEN,
  token_type: 'Bearer',
  expires_in: 3600,
  refresh_token: REFRESH_TOKEN,
}

export const PUBLIC_CLIENT: OAuthClient = { id: 'client-1', auth: 'none' }

type OAuthSection = NonNullable<ProviderDefinition['oauth']>

export function definitionWith(
  oauth: Partial<OAuthSection>,
  more: Partial<ProviderDefinition> = {},
): ProviderDefinition {
  return {
    schema_version: 1,
    name: 'acme',
    display_name: 'Acme',
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: ['api.acme.example'],
    ...more,
    oauth: { scopes: [], ...oauth },
  }
}

export function testFlows(options: Partial<FlowsOptions> = {}): Flows {
  return openFlows({ hosted: false, version: '0.0.0', ...options })
}

/** Does not wait for long where the server writes by itself, and may never come to an end; for all else as ever. */
export function flowsFor({ raw }: ScriptedAnswer): Flows {
  return testFlows(raw ? { timeLimitMs: 1_000 } : {})
}

export async function realProvider(t: TestContext, options: ProviderOptions = {}): Promise<OpenIdProvider> {
  const provider = await startOpenIdProvider(options)
  t.after(() => provider.close())
  return provider
}

/** A party at a real provider, discovered by its issuer. */
export async function partyAt(provider: OpenIdProvider, flows: Flows): Promise<Party> {
  const definition = definitionWith({ issuer: provider.issuer })
  const server = await flows.discover(definition)
  return { definition, server, client: { id: provider.clients.public.id, auth: 'none' } }
}

/** Returns what a user who agrees brings home. */
export async function loggedIn(provider: OpenIdProvider, flows: Flows, scopes: readonly string[] = ['api:read']) {
  const party = await partyAt(provider, flows)
  const started = await flows.authorize({ ...party, redirectUri: REDIRECT_URI, scopes })
  const callback = new URL(await provider.approve(started.url)).searchParams
  const tokens = await flows.exchange(started, callback)
  return { party, started, callback, tokens }
}

export async function scripted(t: TestContext, script: Script): Promise<ScriptedServer> {
  const server = await startScriptedServer(script)
  t.after(() => server.close())
  return server
}

/** A server whose `/token` says one thing to everyone. */
export function tokenServer(t: TestContext, answer: ScriptedAnswer): Promise<ScriptedServer> {
  return scripted(t, ({ path }) => (path === '/token' ? answer : undefined))
}

/** A party at a scripted server, whose definition names `/authorize` and `/token`. */
export function partyOf(
  { origin }: Pick<ScriptedServer, 'origin'>,
  oauth: Partial<OAuthSection> = {},
  server: Partial<OAuthServer> = {},
): Party {
  return {
    definition: definitionWith({ authorization_url: `${origin}/authorize`, token_url: `${origin}/token`, ...oauth }),
    server: {
      authorizationUrl: `${origin}/authorize`,
      tokenUrl: `${origin}/token`,
      sendsIssuer: false,
      takesMetadataDocument: false,
      ...server,
    },
    client: PUBLIC_CLIENT,
  }
}

/** A login that was sent on its way, and the callback of a server that agrees. */
export async function startedAt(party: Party, flows: Flows, scopes: readonly string[] = ['a']) {
  const started = await flows.authorize({ ...party, redirectUri: REDIRECT_URI, scopes })
  return { started, callback: callbackOf(started) }
}

export function callbackOf({ state }: StartedAuthorization, more: Readonly<Record<string, string>> = {}) {
  return new URLSearchParams({ code: 'code-CNRY5e77', state, ...more })
}

/** A whole login at a scripted server. */
export async function exchangedAt(
  party: Party,
  flows: Flows = testFlows(),
  scopes?: readonly string[],
): Promise<Tokens> {
  const { started, callback } = await startedAt(party, flows, scopes)
  return flows.exchange(started, callback)
}

export function refreshRequest(party: Party, scopes: readonly string[] = ['a']) {
  return { ...party, scopes, refreshToken: new Secret('rt-CNRY-before-4471') }
}

/** That it fails by this name, in words that hold no secret, nor does what caused it. */
export async function assertFails(work: Promise<unknown>, name: ErrorName, message: RegExp): Promise<BrokerError> {
  const error = await work.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof BrokerError, String(error))
  assert.equal(error.name, name, error.message)
  assert.match(error.message, message)
  assert.doesNotMatch(everythingIn(error), /CNRY/)
  return error
}

/** All that a log could show of an error. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? ''
  const own = Object.entries(error).map(
    ([name, value]) => `${name}: ${value instanceof Error ? '' : JSON.stringify(value)}`,
  )
  return [error.message, error.stack, ...own, everythingIn(error.cause)].join('\n')
}
