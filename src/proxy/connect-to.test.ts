import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConnectTo, redirectDial } from './connect-to.ts'

test('entries are read as curl reads them, empty parts matching or keeping anything', () => {
  const entries = parseConnectTo('API.test:443:127.0.0.1:8443, :80::8080,v6.test::[::1]:')
  assert.deepEqual(redirectDial(entries, { host: 'api.test', port: 443 }), { host: '127.0.0.1', port: 8443 })
  assert.deepEqual(redirectDial(entries, { host: 'any.test', port: 80 }), { host: 'any.test', port: 8080 })
  assert.deepEqual(redirectDial(entries, { host: 'v6.test', port: 443 }), { host: '::1', port: 443 })
  assert.deepEqual(redirectDial(entries, { host: 'any.test', port: 443 }), { host: 'any.test', port: 443 })
  assert.deepEqual(parseConnectTo(''), [])
})

for (const text of ['api.test:443', 'api.test:443:127.0.0.1', 'a:b:c:d', 'a:1:b:99999', '::1:443:x:1']) {
  test(`${text} is refused`, () => {
    assert.throws(() => parseConnectTo(text), { name: 'InvalidRequestError' })
  })
}
