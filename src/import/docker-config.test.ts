import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dockerKeys } from './docker-config.ts'
import { Broken } from './structured-text.ts'

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
    for (const none of ['{}', '']) assert.deepEqual(dockerKeys(none), { keys: [], elsewhere: [] })
  })

  test('says which programs keep the passwords, and runs none', () => {
    const text = JSON.stringify({ credsStore: 'desktop', credHelpers: { 'gcr.io': 'gcloud' } })
    assert.deepEqual(read(text).elsewhere, [
      'docker keeps its passwords with the program docker-credential-desktop, which is not run',
      'docker keeps the password of gcr.io with the program docker-credential-gcloud, which is not run',
    ])
  })

  test('names what docker’s login in the browser left there, and takes the password beside it', () => {
    const text = config({
      'https://index.docker.io/v1/': { auth: btoa('ada:dckr_pat_CNRY') },
      'https://index.docker.io/v1/access-token': { auth: btoa('ada:CNRY.access') },
      'https://index.docker.io/v1/refresh-token': { auth: btoa('ada:CNRY..refresh') },
      'acme.azurecr.example': { auth: btoa('ada:'), identitytoken: 'CNRY' },
    })
    assert.deepEqual(found(text), ['auth.docker.io ada dckr_pat_CNRY'])
    const [access, refresh, registry, ...more] = read(text).elsewhere
    assert.match(access ?? '', /^"https:\/\/index\.docker\.io\/v1\/access-token" was left: .*login in the browser/)
    assert.match(
      refresh ?? '',
      /^"https:\/\/index\.docker\.io\/v1\/refresh-token" was left: .*`broker login docker-hub`/,
    )
    assert.match(registry ?? '', /^"acme\.azurecr\.example" was left: .*identitytoken/)
    assert.deepEqual(more, [])
  })

  for (const [text, line] of [
    ['CNRY', 1],
    ['[]', 1],
    ['null', 1],
    ['{\n"auths" []}', 2],
    ['{"auths":[]}', undefined],
    ['{"credHelpers":"CNRY"}', undefined],
  ] as const)
    test(`is not understood as ${JSON.stringify(text)}`, () => assert.deepEqual(dockerKeys(text), new Broken(line)))
})

function config(auths: object): string {
  return JSON.stringify({ auths })
}

function found(text: string): readonly string[] {
  return read(text).keys.map(({ owner, values }) =>
    [...Object.values(owner), values['username']?.reveal(), values['api_key']?.reveal()].join(' '),
  )
}

function read(text: string) {
  const parsed = dockerKeys(text)
  assert.ok(!(parsed instanceof Broken))
  return parsed
}
