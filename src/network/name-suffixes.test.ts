import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NameSuffixes } from './name-suffixes.ts'

describe('the suffixes of host patterns', () => {
  const suffixes = new NameSuffixes([
    'api.acme.test',
    '*.acme.test',
    'acme.test.evil.test',
    '*.s3.*.amazonaws.com',
    'api.other.test',
    'api.other.test',
  ])

  it('are as few as cover them', () => {
    assert.deepEqual(suffixes.names, ['acme.test', 'acme.test.evil.test', 'amazonaws.com', 'api.other.test'])
  })

  for (const [pattern, suffix] of [
    ['api.acme.test', 'acme.test'],
    ['a.b.acme.test', 'acme.test'],
    ['acme.test', 'acme.test'],
    ['*.acme.test', 'acme.test'],
    ['bedrock.*.amazonaws.com', 'amazonaws.com'],
    ['x.api.other.test', 'api.other.test'],
    ['*.other.test', undefined],
    ['other.test', undefined],
    ['notacme.test', undefined],
    ['test', undefined],
  ] as const)
    it(`${suffix === undefined ? 'do not cover' : 'cover'} ${pattern}`, () => {
      assert.equal(suffixes.of(pattern), suffix)
    })
})
