import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authority, formatAuthority, parseAuthority } from './authority.ts'

test('plain names and literals are read, in lower case', () => {
  assert.deepEqual(parseAuthority('API.Prov.Test:443'), authority('api.prov.test', 443))
  assert.deepEqual(parseAuthority('api.prov.test', 443), authority('api.prov.test', 443))
  assert.deepEqual(parseAuthority('127.0.0.1:80'), authority('127.0.0.1', 80))
  assert.deepEqual(parseAuthority('[FE80::1]:443'), authority('fe80::1', 443))
  assert.equal(formatAuthority(authority('::1', 443)), '[::1]:443')
})

const ODD = [
  '',
  ':443',
  'api.prov.test',
  'api.prov.test:',
  'api.prov.test:0',
  'api.prov.test:0443',
  'api.prov.test:65536',
  'api.prov.test:443abc',
  'api.prov.test:+443',
  'api.prov.test.:443',
  'api..prov.test:443',
  '.prov.test:443',
  '-api.prov.test:443',
  'api%2eprov.test:443',
  'api。prov.test:443',
  'аpi.prov.test:443',
  'api.prov.test@evil.test:443',
  'allowed:x@evil.test:443',
  'api.prov.test\t:443',
  'api.prov.test\0:443',
  'api.prov.test\r:443',
  'api.prov.test#:443',
  'api.prov.test\\:443',
  'api.prov.test/:443',
  ' api.prov.test:443',
  'http://api.prov.test:443',
  '[127.0.0.1]:443',
  '[::1:443',
  '::1:443',
  `${'a'.repeat(64)}.test:443`,
  `${'a.'.repeat(130)}test:443`,
]

for (const text of ODD) {
  test(`${JSON.stringify(text.slice(0, 40))} is no authority`, () => {
    assert.equal(parseAuthority(text), null)
  })
}
