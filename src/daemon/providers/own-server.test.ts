import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authority, formatPattern } from '../../network/index.ts'
import { credentialHosts, needsBaseUrl } from './base-url.ts'
import { definitionOf } from './definition.fixture.ts'
import { destinationDigest, destinationText } from './destination-digest.ts'
import { hostsOfDestination } from './destination-hosts.ts'
import { ownPlaceFor, ownPlaces } from './own-places.ts'
import { definitionAt, parseBaseUrl, withoutOwnLogin } from './own-server.ts'

const API = {
  hosts: ['prov.test/api/*', 'prov.test', 'api.prov.test'],
  self_hosted: [{ like: 'prov.test/api/*', path: '/api/*' }, { like: 'prov.test' }],
}
const oauth = {
  authorization_url: 'https://prov.test/oauth/authorize?x=1',
  token_url: 'https://prov.test/oauth/token',
  userinfo_url: 'https://api.prov.test/me',
  client_id: 'public',
  scopes: [],
}
const definition = definitionOf({ ...API, oauth })
const elsewhere = definitionOf({ ...API, oauth: { ...oauth, token_url: 'https://login.prov.test/token' } })
const local = definitionOf({ hosts: [], self_hosted: [{ path: '/v1/*' }] })

describe('a server of the user’s own', () => {
  for (const [given, kept] of [
    ['https://GIT.acme.test/', 'https://git.acme.test'],
    ['https://acme.test:8443/prov', 'https://acme.test:8443/prov'],
    ['https://localhost:8443', 'https://localhost:8443'],
    ['http://localhost:8080/v1', 'http://localhost:8080/v1'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ] as const)
    it(`may be ${given}`, () => {
      assert.equal(parseBaseUrl(definition, given), kept)
    })

  for (const given of [
    'git.acme.test',
    'https://git',
    'https://git.acme.test/%61',
    'https://git.acme.test/a//b',
    'https://git.acme.test#x',
    'https://git.acme.test?x',
    'https://ada:CNRY@git.acme.test',
    'http://git.acme.test',
    'http://localhost',
    'https://127.0.0.1:8443',
    'https://0x7f.1:8443',
    'https://[2001:db8::1]',
    'http://2130706433:8080.acme.test',
    'ftp://git.acme.test',
  ])
    it(`is not ${given}`, () => {
      assert.throws(
        () => parseBaseUrl(definition, given),
        ({ name, options, message }) =>
          name === 'InvalidRequestError' && options.details[0].path === 'base_url' && !message.includes('CNRY'),
      )
    })

  it('gets the credential below its own path, in the form of the host it stands for', () => {
    const places = ownPlaces(definition, 'https://acme.test/prov')
    const shown = places.map(({ pattern, like }) => [formatPattern(pattern), formatPattern(like)])
    assert.deepEqual(shown, [
      ['acme.test/prov/api/*', 'prov.test/api/*'],
      ['acme.test/prov/*', 'prov.test'],
    ])
    const like = (path: string) => {
      const place = ownPlaceFor(places, { ...authority('ACME.test', 443), path })
      return place && formatPattern(place.like)
    }
    assert.equal(like('/prov/api/v4'), 'prov.test/api/*')
    assert.equal(like('/prov/tools.git'), 'prov.test')
    for (const path of ['/', '/provx', '/prov/../x', '/prov/%2e%2e/x']) assert.equal(like(path), undefined)
  })

  it('is needed where the service is nowhere else', () => {
    assert.equal(needsBaseUrl(local), true)
    assert.equal(needsBaseUrl(definition), false)
    assert.deepEqual(credentialHosts(local, 'http://localhost:8000').map(formatPattern), ['localhost:8000/v1/*'])
  })

  it('is logged in to at its own endpoints, by an app of its own', () => {
    const at = definitionAt(definition, 'https://acme.test/prov').oauth
    assert.equal(at?.authorization_url, 'https://acme.test/prov/oauth/authorize?x=1')
    assert.equal(at?.token_url, 'https://acme.test/prov/oauth/token')
    assert.equal(at?.userinfo_url, undefined)
    assert.equal(at?.client_id, undefined)
    assert.equal(withoutOwnLogin(definition, 'https://acme.test', 'oauth'), undefined)
    assert.deepEqual(
      definitionAt(definitionAt(definition, 'https://acme.test'), 'https://acme.test').oauth?.token_url,
      'https://acme.test/oauth/token',
    )
  })

  it('offers no login where the definition has its endpoints elsewhere', () => {
    assert.equal(definitionAt(elsewhere, 'https://acme.test').oauth, undefined)
    assert.match(withoutOwnLogin(elsewhere, 'https://acme.test', 'oauth')?.message ?? '', /at a server of your own/)
    assert.equal(definitionAt(elsewhere, undefined), elsewhere)
  })

  it('binds its credential to what the definition says of such servers, and the public service’s to nothing of it', () => {
    const other = definitionOf({ ...API, self_hosted: [{ like: 'prov.test' }], oauth })
    const without = definitionOf({ hosts: API.hosts, oauth })
    const digest = (one: typeof definition, url?: string) => destinationDigest(one, 'api_key', url)
    assert.notEqual(digest(definition, 'https://acme.test'), digest(other, 'https://acme.test'))
    assert.equal(digest(definition), digest(without))
    const text = destinationText(definition, 'api_key', 'https://acme.test/prov')
    assert.deepEqual(hostsOfDestination(text).map(formatPattern), ['acme.test/prov/*', 'acme.test/prov/api/*'])
  })
})

describe('the hosts of one tenant', () => {
  const tenants = definitionOf({
    hosts: ['*.prov.test'],
    base_url: ['https://{app}.prov.test', 'https://{app}.{region}.prov-cloud.test'],
    tenant_hosts: ['{app}-dsn.prov.test', '{app}-1.prov-mirror.test', 'x.{region}.prov-mirror.test'],
  })
  const hosts = (url?: string) => credentialHosts(tenants, url).map(formatPattern)

  it('are those of its address, with its own name filled in', () => {
    assert.deepEqual(hosts('https://acme.prov.test'), [
      'acme.prov.test',
      'acme-dsn.prov.test',
      'acme-1.prov-mirror.test',
    ])
    assert.deepEqual(hosts('https://acme.eu.prov-cloud.test'), [
      'acme.eu.prov-cloud.test',
      'acme-dsn.prov.test',
      'acme-1.prov-mirror.test',
      'x.eu.prov-mirror.test',
    ])
    assert.deepEqual(hosts(), [])
  })

  it('begin at any of its addresses, and at no other', () => {
    assert.equal(parseBaseUrl(tenants, 'https://acme.eu.prov-cloud.test'), 'https://acme.eu.prov-cloud.test')
    for (const url of ['https://acme-1.prov-mirror.test', 'https://a.b.c.prov-cloud.test', 'https://evil.test'])
      assert.throws(() => parseBaseUrl(tenants, url), /must look like/)
  })

  it('are part of what its credential is bound to', () => {
    const text = destinationText(tenants, 'api_key', 'https://acme.prov.test')
    assert.deepEqual(hostsOfDestination(text).map(formatPattern).toSorted(), hosts('https://acme.prov.test').toSorted())
  })
})
