import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authority } from './authority.ts'
import { formatPattern, matchesAuthority, matchesHost, readPattern } from './host-pattern.ts'

const HOSTS = [
  ['api.prov.test', 'api.prov.test', true],
  ['*.prov.test', 'a.prov.test', true],
  ['*.prov.test', 'prov.test', false],
  ['*.prov.test', 'a.b.prov.test', false],
  ['eu.*.deep.test', 'eu.x.deep.test', true],
  ['bedrock-runtime.*.amazonaws.com', 'bedrock-runtime.us-east-1.amazonaws.com', true],
  ['bedrock-runtime.*.amazonaws.com', 'bedrock-runtime.s3.amazonaws.com', false],
  ['*.s3.*.amazonaws.com', 'bucket.s3.eu-west-1.amazonaws.com', true],
  ['*.s3.*.amazonaws.com', 'bucket.s3.stranger.amazonaws.com', false],
] as const

describe('a host pattern', () => {
  for (const [pattern, host, isMeant] of HOSTS)
    it(`${pattern} ${isMeant ? 'means' : 'does not mean'} ${host}`, () => {
      assert.equal(matchesHost(pattern, host), isMeant)
    })

  for (const text of ['api.prov.test', '*.prov.test:8443', 'prov.test/api/*', '[::1]:8000', '127.0.0.1:8000/v1/*'])
    it(`is read and written as ${text}`, () => {
      assert.equal(formatPattern(readPattern(text)), text)
    })

  it('means one port', () => {
    const pattern = readPattern('*.prov.test:8443')
    assert.equal(matchesAuthority(pattern, authority('A.prov.test', 8443)), true)
    assert.equal(matchesAuthority(pattern, authority('a.prov.test', 443)), false)
  })
})
