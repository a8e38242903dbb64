import assert from 'node:assert/strict'
import { test } from 'node:test'
import { googleKeys } from './google-credentials.ts'

test('the key file of a service account is taken whole', () => {
  const text = JSON.stringify({ type: 'service_account', private_key: 'CNRY\n' })
  const [key] = googleKeys(text)?.keys ?? []
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
    const read = googleKeys(JSON.stringify({ type, refresh_token: 'CNRY' }))
    assert.deepEqual(read?.keys, [])
    assert.match(read?.elsewhere.join() ?? '', why)
    assert.doesNotMatch(read?.elsewhere.join() ?? '', /CNRY/)
  })

for (const text of ['', 'CNRY', '[]', '{}', '{"type":1}', 'null'])
  test(`${JSON.stringify(text)} is no such file`, () => assert.equal(googleKeys(text), undefined))
