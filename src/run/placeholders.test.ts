import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection, ProviderDefinition } from '../schemas/index.ts'
import { placeholdersOf } from './placeholders.ts'

const ACME: ProviderDefinition = {
  schema_version: 1,
  name: 'acme',
  display_name: 'Acme',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: ['api.acme.test'],
  env: { ACME_KEY: 'credential', ACME_URL: 'base_url' },
}

const CONNECTION = { provider: 'acme', connection: 'default' } as Connection

test('a variable for a key holds the placeholder', () => {
  assert.deepEqual(placeholdersOf([{ definition: ACME, connection: CONNECTION }]), { ACME_KEY: 'broker-proxy-managed' })
})

test("a definition's own placeholder is taken, and the base URL of its connection", () => {
  const definition = { ...ACME, placeholder: 'ak-managed' }
  const connection = { ...CONNECTION, base_url: 'https://one.acme.test' }

  assert.deepEqual(placeholdersOf([{ definition, connection }]), {
    ACME_KEY: 'ak-managed',
    ACME_URL: 'https://one.acme.test',
  })
})

test('each field that always has a value gets one; a session token that may not be there gets none', () => {
  const aws = {
    ...ACME,
    env: {
      AWS_ACCESS_KEY_ID: 'access_key_id',
      AWS_SECRET_ACCESS_KEY: 'secret_access_key',
      AWS_SESSION_TOKEN: 'session_token',
    },
    signing: { type: 'aws_sigv4' },
  } satisfies ProviderDefinition

  assert.deepEqual(placeholdersOf([{ definition: aws, connection: CONNECTION }]), {
    AWS_ACCESS_KEY_ID: 'broker-proxy-managed',
    AWS_SECRET_ACCESS_KEY: 'broker-proxy-managed',
  })
})
