import assert from 'node:assert/strict'
import { test } from 'node:test'
import { googleKeys } from './google-credentials.ts'
import { Broken } from './structured-text.ts'

test('the key file of a service account is taken whole', () => {
  const text = JSON.stringify({ type: 'service_account', private_key: 'CNRY\n' })
  const [key] = parsed(text).keys
  assert.deepEqual(key?.owner, { provider: 'google-cloud' })
  assert.equal(key?.values['service_account']?.reveal(), text)
})

for (const [type, why] of [
  ['authorized_user', /your login at gcloud itself/],
  ['external_account', /another identity provider/],
  ['impersonated_service_account', /impersonates/],
  ['constructor', /no key of a service account/],
] as const)
  test(`of credentials of the type ${type} nothing is taken, and why is said`, () => {
    const { keys, elsewhere } = parsed(JSON.stringify({ type, refresh_token: 'CNRY' }))
    assert.deepEqual(keys, [])
    assert.match(elsewhere.join(), why)
    assert.doesNotMatch(elsewhere.join(), /CNRY/)
  })

for (const text of ['', 'CNRY', '[]', '{}', '{"type":1}', 'null'])
  test(`${JSON.stringify(text)} is no such file`, () => assert.ok(googleKeys(text) instanceof Broken))

function parsed(text: string) {
  const read = googleKeys(text)
  assert.ok(!(read instanceof Broken))
  return read
}
