import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Secret } from '../protocol/index.ts'
import { whyNoKey } from './no-key.ts'

const PLACEHOLDERS = [
  'changeme',
  'CHANGE_ME',
  'change-me',
  'xxx',
  'XXXX',
  'xxxxxxxxxxxxxxxx',
  'test',
  'null',
  'undefined',
  'None',
  'TODO',
  'n/a',
  '...',
  '…',
  '***',
  '********',
  '""',
  'secret',
  'my-secret-token',
  'your-api-key',
  'YOUR_API_KEY',
  'your_api_key_here',
  'REPLACE_ME',
  'replace-with-your-key',
  'insert-key-here',
  'ghp_xxxx',
  'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'sk_test_xxxxxxxxxxxxxxxxxxxxxxxx',
  'sk-XXXXXXXXXXXXXXXX',
  'sk-...',
  'sk-…',
  'sk-ant-...',
  'sk-ant-api03-xxxx',
  'sk-your-key',
  'sk-proj-your-openai-key',
  'pk_test_your_key',
  'tvly-YOUR_API_KEY',
  'xoxb-your-token',
  'sk-1234567890',
  '0123456789abcdef0123456789abcdef',
  'abcdefghijklmnopqrstuvwxyz',
  '00000000-0000-0000-0000-000000000000',
  '123456',
  'AKIAIOSFODNN7EXAMPLE',
  'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
  'placeholder',
  'dummy-key',
  'fake_token',
  'example',
  'password',
  'sk-abc...xyz',
]
const TEMPLATES = [
  '<your-token>',
  '<YOUR_API_KEY>',
  '<>',
  '{{ openai_key }}',
  '{{OPENAI_KEY}}',
  '$'.concat('{OPENAI_KEY}'),
  '$'.concat('{{ secrets.OPENAI }}'),
  '$OPENAI_KEY',
  '$(cat key)',
  '[your key]',
  '{your_key}',
  '%OPENAI_KEY%',
  '#{OpenAiKey}#',
  '__OPENAI_KEY__',
  '@@KEY@@',
  'sk-<your key>',
]
const REFERENCES = [
  'op://Private/OpenAI/credential',
  'vault://secret/data/openai#key',
  'arn:aws:secretsmanager:eu-west-1:123456789012:secret:openai-AbCdEf',
  'arn:aws:ssm:eu-west-1:123456789012:parameter/openai',
  'aws-sm://openai',
  'ssm:/prod/openai',
  'gcpsm://projects/p/secrets/openai',
  'projects/acme/secrets/openai/versions/latest',
  '@Microsoft.KeyVault(SecretUri=https://acme.vault.azure.net/secrets/openai/)',
  'ref+vault://secret/openai',
  'keychain://openai',
  'bws://0f0f',
  'doppler://acme/prd/OPENAI',
  'infisical://acme',
  'file:///run/secrets/openai',
  '/run/secrets/openai',
  '~/.secrets/openai',
  'ENC[AES256_GCM,data:abc,iv:def,tag:ghi,type:str]',
  'encrypted:BDqDBibm4wsYqMpCjTQ6BsDHmMadg9K3dAt+Z9HPMfLEIRVz50hmLXPXRuDBXaJi',
  'env:OPENAI_KEY',
]
/** In the forms that their makers give them, and others that only look plain. All made up. */
const KEYS = [
  'sk-proj-CNRYq8ZrX2mV7tLw9KdYbN3cPfHjR5sA',
  'sk-ant-api03-CNRYVwJ8nQ2kZx7Rb4TmLcY6pHfDs9Ga',
  'ghp_CNRY1b9XkQz7mNvR4tLwYc8pHfDs2GaJ6uE',
  'github_pat_CNRY11ABCDEFG0abcdefgh_IjKlMnOpQr',
  'glpat-CNRYx7Q2kZm9Rb4TmLcY',
  'xoxb-CNRY123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx',
  'AKIACNRY7Q2KZM9RB4TM',
  'CNRYwJ8nQ2kZx7Rb4TmLcY6pHfDs9GaVtEuXoBi',
  'hf_CNRYzXcVbNmAsDfGhJkLqWeRtYuIoP',
  'CNRY0f8e7d6c5b4a39281706f5e4d3c2b1a0',
  '7b3f9c2e-1d4a-4f6b-8e5d-CNRY2a1b3c4d',
  'CNRYcorrect horse battery staple',
  'tvly-dev-CNRYa8K2mQ9xR4',
  'dop_v1_CNRY3f8e7d6c5b4a39281706f5e4d3c2b1a0',
  'CNRYmyTestPassw0rd-2026',
  'EXAMPLEfoundation-CNRY83hf92',
  'key-CNRY3ax6xnjp29jd6fds4gc373sgvjxteol0',
  'SG.CNRYabc123.defGHI456jkl',
  '123456789:CNRYAAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw',
  'CNRY-your0wn-Zx81Kd02Lq',
  'xai-CNRYxx7Q2kxxZm9Rb4TmLcY',
  'CNRYxxxxQ7k2',
]

describe('what is no key', () => {
  for (const value of PLACEHOLDERS)
    it(`is a placeholder: ${value}`, () => assert.equal(whyNoKey(new Secret(value))?.why, 'is a placeholder'))
  for (const value of TEMPLATES)
    it(`is a template: ${value}`, () => assert.match(whyNoKey(new Secret(value))?.why ?? '', /template/))
  for (const value of REFERENCES)
    it(`is a reference: ${value}`, () => assert.equal(whyNoKey(new Secret(value))?.reason, 'reference'))
})

describe('what may be a key', () => {
  for (const value of KEYS)
    it(`is left to its provider: ${value}`, () => assert.equal(whyNoKey(new Secret(value)), undefined))
})
