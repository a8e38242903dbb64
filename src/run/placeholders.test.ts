import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection, ProviderDefinition } from '../schemas/index.ts'
import { namesFields, placeholdersOf } from './placeholders.ts'

const ACME: ProviderDefinition = {
  schema_version: 1,
  name: 'acme',
  display_name: 'Acme',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: ['api.acme.test'],
  env: { ACME_KEY: 'credential', ACME_URL: 'base_url' },
}

const CONNECTION = { provider: 'acme', connection: 'default', flow: 'api_key' } as Connection

test('a variable for a key holds the placeholder', () => {
  assert.deepEqual(placeholdersOf([{ definition: ACME, connection: CONNECTION }], {}), {
    ACME_KEY: 'broker-proxy-managed',
  })
})

test("a definition's own placeholder is taken, and the base URL of its connection", () => {
  const definition = { ...ACME, placeholder: 'ak-managed' }
  const connection = { ...CONNECTION, base_url: 'https://one.acme.test' }

  assert.deepEqual(placeholdersOf([{ definition, connection }], {}), {
    ACME_KEY: 'ak-managed',
    ACME_URL: 'https://one.acme.test',
  })
})

test('a variable for a field holds the placeholder where that is a secret, itself where not, and nothing where there is none', () => {
  const definition = {
    ...ACME,
    base_url: 'https://{tenant}.acme.test/api',
    env: { ACME_ID: 'id', ACME_SECRET: 'secret', ACME_SESSION: 'session', ACME_TENANT: 'tenant' },
  }
  const connection = {
    ...CONNECTION,
    base_url: 'https://one.acme.test/api',
    credential: { id: 'ada', secret: '[redacted]' },
  }

  assert.equal(namesFields(definition), true)
  assert.deepEqual(placeholdersOf([{ definition, connection }], {}), {
    ACME_ID: 'ada',
    ACME_SECRET: 'broker-proxy-managed',
    ACME_TENANT: 'one',
  })
})

test('a variable for a field is left alone where somebody logged in by a browser: the OAuth app of that login is none', () => {
  const definition = { ...ACME, env: { ACME_CLIENT_ID: 'client_id', ACME_CLIENT_SECRET: 'client_secret' } }
  const connection = {
    ...CONNECTION,
    flow: 'pkce' as const,
    credential: { client_id: 'app', client_secret: '[redacted]' },
  }

  assert.deepEqual(placeholdersOf([{ definition, connection }], {}), {})
})

test('a connection that is not of the tenant’s form, or not visible, leaves its variables to the user', () => {
  const definition = { ...ACME, base_url: 'https://{tenant}.acme.test', env: { ACME_TENANT: 'tenant' } }
  const connection = { ...CONNECTION, base_url: 'https://acme.example' }

  assert.equal(namesFields(definition), false)
  assert.deepEqual(placeholdersOf([{ definition, connection }], {}), {})
  assert.deepEqual(placeholdersOf([{ definition, connection: undefined }], {}), {})
})

test('of two names for one key stands the one that the user has, else the first', () => {
  const env = { GEMINI_API_KEY: 'credential', GOOGLE_API_KEY: 'credential', OTHER_KEY: 'credential' }
  const names = (inherited: Record<string, string>) =>
    Object.keys(placeholdersOf([{ definition: { ...ACME, env }, connection: CONNECTION }], inherited))

  assert.deepEqual(names({}), ['GEMINI_API_KEY', 'OTHER_KEY'])
  assert.deepEqual(names({ GOOGLE_API_KEY: 'CNRYmine' }), ['GOOGLE_API_KEY', 'OTHER_KEY'])
  assert.deepEqual(names({ GOOGLE_API_KEY: 'CNRYmine', GEMINI_API_KEY: 'CNRYmine' }), Object.keys(env))
})

test('npm finds a token for the registry that is connected', () => {
  const definition = { ...ACME, name: 'npm', env: {} }
  assert.deepEqual(placeholdersOf([{ definition, connection: CONNECTION }], {}), {
    'npm_config_//registry.npmjs.org/:_authToken': 'broker-proxy-managed',
  })
})

test('an address that the user has set stays, for it says which server is meant', () => {
  const connection = { ...CONNECTION, base_url: 'https://one.acme.test' }
  const own = { ACME_URL: 'https://git.acme.example' }
  assert.equal(placeholdersOf([{ definition: ACME, connection }], own)['ACME_URL'], undefined)
})
