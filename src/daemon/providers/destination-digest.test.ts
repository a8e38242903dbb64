import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { definitionOf } from './definition.fixture.ts'
import { destinationDigest } from './destination-digest.ts'

const OAUTH = { scopes: ['a'], authorization_url: 'https://prov.test/auth', token_url: 'https://prov.test/token' }
const base = {
  hosts: ['a.prov.test', 'b.prov.test'],
  api_key: { prefix: 'Bearer' },
  headers: { A: '1', B: '2' },
  oauth: OAUTH,
  injections: [
    { type: 'query', name: 'a' },
    { type: 'query', name: 'b' },
  ],
}
const digest = (overrides: Readonly<Record<string, unknown>>) =>
  destinationDigest(definitionOf({ ...base, ...overrides }), 'api_key')
const tokenDigest = (overrides: Readonly<Record<string, unknown>>) =>
  destinationDigest(definitionOf({ ...base, ...overrides }), 'oauth2')

describe('the destination of a credential', () => {
  it('is 64 hexadecimal digits', () => {
    assert.match(digest({}), /^[0-9a-f]{64}$/)
  })

  // Another one would ask for approval of every connection that is stored.
  it('is what earlier versions made of a definition that they knew', () => {
    assert.equal(digest({}), '24943392ec7b24c792ed06d7fef3d371e34ce8d5ebf3ee176cffbdd8e9616674')
    assert.equal(
      digest({ api_key: { encoding: 'basic', username: '{api_key}' } }),
      '3011ebe858aed1a3bae247abda19ebbd1d5ff9408cb190c4f279604435e23c2a',
    )
    assert.equal(tokenDigest({}), 'ff4bfe46945768dcd2cf185bbe1b9cd4037801ac3783b6c3e0a06897758c9fa0')
  })

  for (const [what, overrides] of [
    ['another order of hosts', { hosts: ['b.prov.test', 'a.prov.test'] }],
    ['another order of names', { headers: { B: '2', A: '1' } }],
    ['another order of places', { injections: base.injections.toReversed() }],
    ['defaults written out', { api_key: { prefix: 'Bearer', header_name: 'authorization', encoding: 'none' } }],
    [
      'other texts to show',
      { display_name: 'Other', description: 'Other', docs_url: 'https://other.test', category: 'x' },
    ],
    ['another day when it was verified', { last_verified: '2026-11-22', sources: ['https://prov.test/docs'] }],
    ['another pattern', { api_key: { prefix: 'Bearer', pattern: 'a', example: 'a' } }],
    ['other variables', { env: { OTHER: 'credential' }, placeholder: 'other' }],
    ['another section for tokens', { oauth: { ...OAUTH, token_url: 'https://evil.test/token' } }],
    ['no section for tokens', { oauth: undefined }],
    ['another flow by default', { auth_type: 'oauth2', flow: 'pkce' }],
  ] as const)
    it(`is the same with ${what}`, () => {
      assert.equal(digest(overrides), digest({}))
    })

  for (const [what, overrides, than = {}] of [
    ['host', { hosts: ['a.prov.test', 'evil.test'] }],
    ['host more', { hosts: [...base.hosts, 'c.prov.test'] }],
    ['base URL', { base_url: 'https://{tenant}.prov.test' }],
    ['header', { api_key: { prefix: 'Bearer', header_name: 'X-Key' } }],
    ['prefix', { api_key: { prefix: 'Token' } }],
    ['encoding', { api_key: { prefix: 'Bearer', encoding: 'basic' } }],
    [
      'password',
      { api_key: { prefix: 'Bearer', encoding: 'basic', username: '{api_key}', password: 'X' } },
      { api_key: { prefix: 'Bearer', encoding: 'basic', username: '{api_key}' } },
    ],
    ['query parameter', { api_key: { query_param: 'key' } }],
    ['fixed header', { headers: { A: '1', B: '3' } }],
    ['place', { injections: [{ type: 'query', name: 'c' }] }],
  ] as const)
    it(`is another with another ${what}`, () => {
      assert.notEqual(digest(overrides), digest(than))
    })

  it('is another with the base URL of another tenant', () => {
    const tenants = definitionOf({ base_url: 'https://{tenant}.prov.test' })
    const digests = [undefined, 'https://a.prov.test', 'https://b.prov.test'].map((url) =>
      destinationDigest(tenants, 'api_key', url),
    )
    assert.equal(new Set(digests).size, 3)
  })

  for (const [what, overrides] of [
    ['other scopes', { oauth: { ...OAUTH, scopes: ['b'], scope_separator: ',' } }],
    ['another page to send people to', { oauth: { ...OAUTH, authorization_url: 'https://prov.test/other' } }],
    ['defaults written out', { oauth: { ...OAUTH, header_name: 'authorization', prefix: 'Bearer' } }],
    ['another section for keys', { api_key: { header_name: 'X-Key' }, injections: undefined }],
    ['another flow by default', { auth_type: 'oauth2', flow: 'pkce' }],
  ] as const)
    it(`of a token is the same with ${what}`, () => {
      assert.equal(tokenDigest(overrides), tokenDigest({}))
    })

  for (const [what, oauth] of [
    ['token endpoint', { token_url: 'https://evil.test/token' }],
    ['address for refreshes', { refresh_url: 'https://evil.test/token' }],
    ['revocation endpoint', { revocation_url: 'https://evil.test/revoke' }],
    ['issuer', { issuer: 'https://evil.test' }],
    ['resource', { resource: 'https://evil.test' }],
    ['header', { header_name: 'X-Token' }],
    ['prefix', { prefix: 'Token' }],
    ['prefix: none', { prefix: '' }],
  ] as const)
    it(`of a token is another with another ${what}`, () => {
      assert.notEqual(tokenDigest({ oauth: { ...OAUTH, ...oauth } }), tokenDigest({}))
    })

  describe('with forms for some hosts', () => {
    const bound = (...injections: readonly object[]) => ({ injections: [...base.injections, ...injections] })
    const entry = (password: string, hosts: readonly string[]) => ({ type: 'basic', password, hosts })
    const forKey = bound(entry('{api_key}', base.hosts))
    const forToken = bound(entry('{access_token}', base.hosts))

    it('is another for credentials of that type alone', () => {
      const other = { api_key: { header_name: 'X-Key' } }
      assert.notEqual(digest({ ...other, ...forKey }), digest(other))
      assert.equal(digest({ ...other, ...forToken }), digest(other))
      assert.notEqual(tokenDigest({ ...other, ...forToken }), tokenDigest(other))
      assert.equal(tokenDigest({ ...other, ...forKey }), tokenDigest(other))
    })

    it('is another with other hosts of a form, whatever their order', () => {
      assert.equal(tokenDigest(bound(entry('{access_token}', base.hosts.toReversed()))), tokenDigest(forToken))
      assert.notEqual(tokenDigest(bound(entry('{access_token}', ['b.prov.test']))), tokenDigest(forToken))
    })
  })

  it('of a token is not that of a key', () => {
    assert.notEqual(tokenDigest({}), digest({}))
  })
})

describe('the destination of a key that signs', () => {
  const google = { type: 'google_service_account', token_url: 'https://prov.test/token', scopes: ['a', 'b'] }
  const signingDigest = (overrides: Readonly<Record<string, unknown>>) =>
    destinationDigest(definitionOf({ ...base, signing: google, ...overrides }), 'signing')

  for (const [what, overrides] of [
    ['another order of scopes', { signing: { ...google, scopes: ['b', 'a'] } }],
    ['another place for API keys', { api_key: { prefix: 'Token' } }],
    ['another endpoint of OAuth', { oauth: { ...OAUTH, token_url: 'https://other.test/token' } }],
  ] as const)
    it(`is the same with ${what}`, () => {
      assert.equal(signingDigest(overrides), signingDigest({}))
    })

  for (const [what, overrides] of [
    ['another host', { hosts: ['a.prov.test', 'evil.test'] }],
    ['another token endpoint', { signing: { ...google, token_url: 'https://evil.test/token' } }],
    ['more scopes', { signing: { ...google, scopes: ['a', 'b', 'c'] } }],
    ['another kind', { signing: { type: 'aws_sigv4' }, headers: undefined }],
    ['another header for tokens', { oauth: { ...OAUTH, header_name: 'X-Token' } }],
  ] as const)
    it(`is another with ${what}`, () => {
      assert.notEqual(signingDigest(overrides), signingDigest({}))
    })

  it('is never that of an API key, which has the same with such a section and without', () => {
    assert.notEqual(signingDigest({}), digest({ signing: google }))
    assert.equal(digest({ signing: google }), digest({}))
    assert.equal(tokenDigest({ signing: google }), tokenDigest({}))
  })
})
