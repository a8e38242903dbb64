import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatPattern } from '../../network/index.ts'
import { compileHosts, credentialHosts, needsBaseUrl } from './base-url.ts'
import { definitionOf } from './definition.fixture.ts'
import { parseBaseUrl } from './own-server.ts'

const tenants = definitionOf({ hosts: ['*.prov.test'], base_url: 'https://{tenant}.prov.test/api' })
const mixed = definitionOf({ hosts: ['api.prov.test', 'auth.other.test'], base_url: 'https://{tenant}.prov.test:8443' })
const fixed = definitionOf({ hosts: ['eu.prov.test', 'us.prov.test'], base_url: 'https://us.prov.test' })

describe('the base URL of a tenant', () => {
  for (const [definition, given, kept] of [
    [tenants, 'https://acme.prov.test', 'https://acme.prov.test'],
    [tenants, 'https://ACME.prov.test:443/api/', 'https://acme.prov.test/api'],
    [mixed, 'https://acme.prov.test:8443', 'https://acme.prov.test:8443'],
    [fixed, 'https://eu.prov.test/v2', 'https://eu.prov.test/v2'],
  ] as const)
    it(`may be ${given}`, () => {
      assert.equal(parseBaseUrl(definition, given), kept)
    })

  for (const given of [
    'https://evil.test',
    'https://prov.test',
    'https://a.b.prov.test',
    'https://acme.prov.test.evil.test',
    'https://acme.prov.test:8443',
    'http://acme.prov.test',
    'https://user:CNRYpw@acme.prov.test',
    'https://acme.prov.test#x',
    'https://acme.prov.test?x',
    'https://*.prov.test',
    'acme.prov.test',
    '',
  ])
    it(`is not ${JSON.stringify(given)}`, () => {
      assert.throws(
        () => parseBaseUrl(tenants, given),
        ({ name, options, message }) =>
          name === 'InvalidRequestError' && options.details[0].path === 'base_url' && !message.includes('CNRY'),
      )
    })

  it('is nothing for a provider with one address', () => {
    assert.throws(() => parseBaseUrl(definitionOf(), 'https://api.prov.test'), /one address for everyone/)
  })

  it('is needed where every host is a tenant’s', () => {
    assert.deepEqual([tenants, mixed, fixed, definitionOf()].map(needsBaseUrl), [true, false, false, false])
  })
})

describe('the hosts of a credential', () => {
  for (const [what, definition, baseUrl, hosts] of [
    ['without tenants are the definition’s', fixed, undefined, ['eu.prov.test', 'us.prov.test']],
    ['with a base URL are that one', fixed, 'https://us.prov.test', ['us.prov.test']],
    ['of a tenant are the tenant’s', tenants, 'https://acme.prov.test', ['acme.prov.test']],
    ['of no tenant are nobody’s', tenants, undefined, []],
    ['of a tenant are no others', mixed, 'https://acme.prov.test:8443', ['acme.prov.test:8443']],
    ['of no tenant are those outside', mixed, undefined, ['api.prov.test', 'auth.other.test']],
  ] as const)
    it(what, () => {
      assert.deepEqual(credentialHosts(definition, baseUrl).map(formatPattern), hosts)
    })

  it('include the wildcard that the base URL stands for when requests are matched', () => {
    assert.deepEqual(compileHosts(mixed).map(formatPattern), ['api.prov.test', 'auth.other.test', '*.prov.test:8443'])
    assert.deepEqual(compileHosts(tenants).map(formatPattern), ['*.prov.test'])
  })
})
