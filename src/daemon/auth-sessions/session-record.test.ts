import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { type Actor, Secret } from '../../protocol/index.ts'
import type { OAuthServer } from '../flows/index.ts'
import type { Provider } from '../providers/index.ts'
import type { LoginClient } from './login-client.ts'
import { beingPolled, ended, ledOn, newSession, type Session, taken, waitingStep } from './session.ts'
import { RECORD_FORMAT, readSession, writeSession } from './session-record.ts'
import type { WaitingStep } from './step.ts'

const NOW = Date.parse('2026-11-21T12:00:00.000Z')

const actor: Actor = {
  kind: 'run',
  identity: 'ada',
  identityId: 'id-ada',
  did: 'did:key:z',
  principalId: 'ada',
  vaultId: 'vault',
  role: 'user',
  run: { id: 'run', connections: { acme: 'work' } },
}

const provider: Provider = {
  definition: {
    schema_version: 1,
    name: 'acme',
    display_name: 'Acme',
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: ['api.acme.example'],
    // Names that secrets have elsewhere: here they are none.
    oauth: { scopes: ['read'], authorize_params: { secret: 'no', verifier: 'no' } },
  },
  source: 'custom',
  overridesBundled: false,
  hosts: [{ host: 'api.acme.example', port: 443 }],
}

const server: OAuthServer = {
  issuer: 'https://acme.example',
  tokenUrl: 'https://acme.example/token',
  sendsIssuer: true,
  takesMetadataDocument: false,
  scopesSupported: ['read'],
}

const app = { id: 'mine', auth: 'client_secret_post', secret: new Secret('cs-CNRY') } as const
const made = { ...app, issuer: 'https://acme.example', redirectUri: 'http://127.0.0.1:7998/auth/callback/oauth' }

const definitionClient: LoginClient = { client: { id: 'public', auth: 'none' }, origin: 'definition' }
const ownApp: LoginClient = { client: app, origin: 'app', kept: { kind: 'own', client: app } }
const registration: LoginClient = { client: made, origin: 'registration', kept: { kind: 'registered', client: made } }

const browser = (client: LoginClient): WaitingStep => ({
  kind: 'browser',
  server,
  client,
  started: {
    redirectUri: made.redirectUri,
    scopes: ['read'],
    url: 'https://acme.example/authorize?state=st',
    state: 'st',
    verifier: new Secret('ver-CNRY'),
    nonce: 'nonce',
  },
})

const device: WaitingStep = {
  kind: 'device',
  server,
  client: definitionClient,
  started: {
    scopes: [],
    deviceCode: new Secret('dc-CNRY'),
    userCode: 'WDJB-MJHT',
    verificationUri: 'https://acme.example/go',
    interval: 5,
    expiresAt: NOW + 600_000,
  },
}

const form: WaitingStep = {
  kind: 'form',
  asksFor: 'credential',
  fields: [{ name: 'api_key', label: 'Acme API key', secret: true, required: true }],
}

const appForm: WaitingStep = {
  kind: 'form',
  asksFor: 'app',
  flow: 'dcr_pkce',
  fields: [{ name: 'client_id', label: 'Acme client ID', secret: false, required: true }],
  server,
  redirectUri: made.redirectUri,
  isTurnedAway: true,
}

const begun = (step: WaitingStep): Session =>
  newSession(
    {
      actor,
      provider,
      connection: 'work',
      flow: 'pkce',
      section: 'api_key',
      baseUrl: 'https://eu.acme.example',
      scopes: ['read'],
      anew: 'nothing',
      existing: 'refuse',
      source: 'login',
    },
    step,
    NOW,
  )

/** With the characters of its secrets, which no other comparison sees. */
function shown(value: unknown): unknown {
  if (value instanceof Secret) return { revealed: value.reveal() }
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, shown(entry)]))
}

describe('the record of a session', () => {
  for (const [what, session] of [
    ['a form for a credential', begun(form)],
    ['a form for an app, at its server', begun(appForm)],
    ['a browser at a provider that knows a public client', begun(browser(definitionClient))],
    ["a browser at a provider that knows the user's app", begun(browser(ownApp))],
    ['a browser at a provider that has registered us', begun(browser(registration))],
    ['a code that is to be entered', begun(device)],
    ['a code about which the provider is being asked', beingPolled(begun(device), 5, NOW)],
    ['a browser, after a form', ledOn(begun(appForm), browser(ownApp), NOW + 1)],
    ['a step that somebody is at', taken(begun(form), 'asking', NOW + 1)],
    ['its end', ended(begun(form), { status: 'completed', warnings: ['odd'] }, NOW + 1)],
    [
      'its failure',
      ended(begun(form), { status: 'failed', error: { name: 'AuthenticationFailedError', message: 'no' } }, NOW + 1),
    ],
  ] as const)
    it(`brings back ${what}, with every secret`, () => {
      const read = readSession(writeSession(session).content)
      assert.deepEqual(shown(read), shown(session))
    })

  it('has secrets where there were secrets, and shows none of them', () => {
    const record = writeSession(begun(browser(registration)))
    assert.doesNotMatch(inspect(record, { depth: 9 }) + JSON.stringify(record), /CNRY/)
    const session = readSession(record.content)
    assert.doesNotMatch(inspect(session, { depth: 9 }) + JSON.stringify(session), /CNRY/)
    const step = session && waitingStep(session)
    assert.ok(step?.kind === 'browser')
    assert.ok(step.started.verifier.equals(new Secret('ver-CNRY')))
  })

  it('says by which state its browser comes back, as long as it waits for one', () => {
    const session = begun(browser(ownApp))
    assert.equal(writeSession(session).browserState, 'st')
    assert.equal(writeSession(taken(session, 'asking', NOW)).browserState, undefined)
    assert.equal(writeSession(begun(device)).browserState, undefined)
  })

  it('is nobody’s where it has another format', () => {
    const { content } = writeSession(begun(form))
    const other = content.reveal().replace(`"format":${RECORD_FORMAT}`, `"format":${RECORD_FORMAT + 1}`)
    assert.equal(readSession(new Secret(other)), undefined)
  })
})
