import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format, inspect } from 'node:util'
import { Secret } from './secret.ts'

test('a secret shows as [redacted] however it is turned into text, and reveals itself when it is asked to', () => {
  const secret = new Secret('sk-CNRY-never-printed')
  const texts = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    JSON.stringify([secret]),
    inspect(secret),
    inspect({ deep: { secret } }, { depth: 9, showHidden: true, getters: true }),
    format('%s %o %j', secret, secret, secret),
    Object.entries(secret).join(),
    new Error('with a cause', { cause: secret }).toString(),
  ]
  for (const text of texts) assert.doesNotMatch(text, /CNRY/)
  assert.match(String(secret), /^\[redacted\]$/)
  assert.equal(secret.reveal(), 'sk-CNRY-never-printed')
})

test('a structured clone of a secret holds nothing', () => {
  assert.deepEqual(Object.keys(structuredClone(new Secret('sk-CNRY-never-copied'))), [])
})

test('two secrets are compared by their characters, never by their object', () => {
  const secret = new Secret('sk-CNRY-one')
  assert.equal(secret.equals(new Secret('sk-CNRY-one')), true)
  for (const other of [new Secret('sk-CNRY-two'), new Secret('sk-CNRY-one '), new Secret(''), undefined])
    assert.equal(secret.equals(other), false)
})
