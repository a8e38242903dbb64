import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  type CredentialKind,
  definitionFolder,
  digestOf,
  earlierDestination,
  openProviders,
} from '../src/daemon/providers/index.ts'
import { generatedFiles } from './generated-files.ts'
import { hasHistory, movedDestinations, movedFiles } from './moved-definitions.ts'
import { root } from './source-files.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('what is made from the sources', () => {
  for (const { path, text } of generatedFiles(read))
    it(`is current: ${path} (else: npm run schema)`, () => {
      assert.equal(read(path), text)
    })
})

describe('what is made from the history of the definitions', {
  skip: !hasHistory() && 'there is none here: a shallow clone?',
}, () => {
  for (const { path, text } of hasHistory() ? movedFiles() : [])
    it(`is current: ${path} (else: npm run moved)`, () => {
      assert.equal(read(path), text)
    })

  it('knows each destination that a definition had by its digest, whole', () => {
    const moved = movedDestinations()
    assert.ok(moved.length > 300)
    for (const [key, text] of moved) {
      const [provider = '', kind] = key.split(' ')
      const known = earlierDestination(provider, kind as CredentialKind, { digest: digestOf(text), baseUrl: undefined })
      assert.equal(known, text, key)
    }
  })
})

describe('the page on providers', () => {
  it('begins with a definition that works', () => {
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(read('docs/providers.md')) ?? []
    const providers = openProviders({
      bundledDir: join(root, 'providers'),
      custom: definitionFolder(join(root, 'providers/none')),
    })
    assert.equal(providers.validate(JSON.parse(example)).name, 'weather')
  })
})
