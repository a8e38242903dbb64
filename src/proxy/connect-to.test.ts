import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authority } from '../network/index.ts'
import { parseConnectTo, redirectDial } from './connect-to.ts'

test('entries are read as curl reads them, empty parts matching or keeping anything', () => {
  const entries = parseConnectTo('API.test:443:127.0.0.1:8443, :80::8080,v6.test::[::1]:')
  assert.deepEqual(redirectDial(entries, authority('api.test', 443)), authority('127.0.0.1', 8443))
  assert.deepEqual(redirectDial(entries, authority('any.test', 80)), authority('any.test', 8080))
  assert.deepEqual(redirectDial(entries, authority('v6.test', 443)), authority('::1', 443))
  assert.deepEqual(redirectDial(entries, authority('any.test', 443)), authority('any.test', 443))
  assert.deepEqual(parseConnectTo(''), [])
})

for (const text of ['api.test:443', 'api.test:443:127.0.0.1', 'a:b:c:d', 'a:1:b:99999', '::1:443:x:1']) {
  test(`${text} is refused`, () => {
    assert.throws(() => parseConnectTo(text), { name: 'InvalidRequestError' })
  })
}
