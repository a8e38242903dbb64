import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dockerKeys } from './docker-config.ts'

describe("docker's config.json", () => {
  test('gives user and password of each registry, and docker’s own by the name of its token service', () => {
    const text = config({
      'https://index.docker.io/v1/': { auth: btoa('ada:CNRY1') },
      'GHCR.io': { auth: btoa('ada:CNRY:2') },
      'https://registry.example.com:5000/v2/': { auth: btoa('bob:CNRY3') },
    })
    assert.deepEqual(found(text), [
      'auth.docker.io ada CNRY1',
      'ghcr.io ada CNRY:2',
      'registry.example.com:5000 bob CNRY3',
    ])
  })

  test('gives nothing of entries without a password', () => {
    const text = config({
      'a.example': {},
      'b.example': { auth: '', identitytoken: 'CNRY' },
      'c.example': { auth: btoa('ada') },
      'd.example': { auth: btoa('ada:') },
      'e.example': { auth: btoa(':CNRY') },
      'f.example': 'CNRY',
      __proto__: { auth: btoa('ada:CNRY') },
    })
    assert.deepEqual(found(text), [])
    assert.deepEqual(dockerKeys('{}'), { keys: [], elsewhere: [] })
  })

  test('says which programs keep the passwords, and runs none', () => {
    const text = JSON.stringify({ credsStore: 'desktop', credHelpers: { 'gcr.io': 'gcloud' } })
    assert.deepEqual(dockerKeys(text)?.elsewhere, [
      'docker keeps its passwords with the program docker-credential-desktop, which is not run',
      'docker keeps the password of gcr.io with the program docker-credential-gcloud, which is not run',
    ])
  })

  for (const text of ['', 'CNRY', '[]', 'null', '{"auths":[]}', '{"credHelpers":"CNRY"}'])
    test(`is not understood as ${JSON.stringify(text)}`, () => assert.equal(dockerKeys(text), undefined))
})

function config(auths: object): string {
  return JSON.stringify({ auths })
}

function found(text: string): readonly string[] {
  return (dockerKeys(text)?.keys ?? []).map(({ owner, values }) =>
    [...Object.values(owner), values['username']?.reveal(), values['api_key']?.reveal()].join(' '),
  )
}
