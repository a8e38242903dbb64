import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, it } from 'node:test'
import { BrokerError, Secret, secretInput } from '../../protocol/index.ts'
import { clientParty, enteredOf, withEndpoints } from './client-party.ts'
import { credentialFields, keySection, loginOption, parseCredential } from './credential.ts'
import { definitionJson } from './definition.fixture.ts'
import { destinationDigest } from './destination-digest.ts'
import { injectionFor } from './injection.ts'
import { parseDefinition } from './parse-definition.ts'

const FIELDS = [
  { name: 'client_id', label: 'Id', secret: false, required: true },
  { name: 'client_secret', label: 'Secret', secret: true, required: true },
]
const TENANT = { name: 'tenant_id', label: 'Tenant', secret: false, required: true }
const OAUTH = { grant: 'client_credentials', token_url: 'https://prov.test/token', scopes: ['a'] }
const SECRETS = { client_id: 'id-1', client_secret: 'CNRYsecret' }
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const EC = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)

/** @param oauth in place of what is there; `more` in place of the rest */
function definitionOf(oauth: object = {}, more: Readonly<Record<string, unknown>> = {}) {
  return parseDefinition(
    definitionJson({
      auth_type: 'oauth2',
      flow: 'api_key',
      api_key: { fields: FIELDS },
      oauth: { ...OAUTH, ...oauth },
      ...more,
    }),
  )
}

const asOwnKey = { auth_type: 'api_key', api_key: { prefix: 'Key' } } as const
const secrets = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)]))
const named = (fields: readonly { readonly name: string }[]) => fields.map(({ name }) => name)

function partyOf(
  definition: ReturnType<typeof definitionOf>,
  values: Readonly<Record<string, string>> = SECRETS,
  baseUrl?: string,
) {
  return clientParty(definition, secrets(values), { baseUrl, now: 0 })
}

describe('a definition of the grant client_credentials', () => {
  it('asks for what its fields say', () => {
    const definition = definitionOf({}, { api_key: { fields: [...FIELDS, TENANT] } })
    assert.equal(keySection(definition), 'client_credentials')
    assert.deepEqual(named(credentialFields(definition)), ['client_id', 'client_secret', 'tenant_id'])
  })

  for (const [what, oauth, names] of [
    ['an id and a secret', {}, ['client_id', 'client_secret']],
    ['an id and a key', { token_auth_method: 'private_key_jwt' }, ['client_id', 'private_key', 'kid']],
  ] as const)
    it(`asks for ${what} where it does not say`, () => {
      for (const more of [{ api_key: undefined }, { api_key: {} }])
        assert.deepEqual(named(credentialFields(definitionOf(oauth, more))), names)
    })

  it('may have a key of its own beside, which is then what is asked for unless a login says so', () => {
    const definition = definitionOf({}, asOwnKey)
    assert.equal(keySection(definition), 'api_key')
    assert.deepEqual(named(credentialFields(definition)), ['api_key'])
    assert.deepEqual(named(credentialFields(definition, 'client_credentials')), ['client_id', 'client_secret'])
    assert.equal(loginOption(definition, 'client_credentials'), ' --client-credentials')
  })

  it('may be for people first: then the flow tells the login of a client', () => {
    const browser = { authorization_url: 'https://prov.test/auth', token_auth_method: 'none' }
    const definition = definitionOf(browser, { flow: 'pkce' })
    assert.equal(loginOption(definition, 'client_credentials'), ' --flow api_key')
    // What is public where people log in has a secret all the same.
    assert.equal(partyOf(definition)?.client.auth, 'client_secret_basic')
  })

  for (const [what, problem, oauth, more] of [
    [
      'no endpoint',
      'oauth.token_url is required by the grant, unless there is an issuer or a resource',
      { token_url: undefined },
      {},
    ],
    [
      'another auth_type',
      'auth_type must be "oauth2" where the flow is that of the grant "client_credentials"',
      {},
      { auth_type: 'api_key' },
    ],
    [
      'no proof',
      'oauth.token_auth_method must be a way in which a client proves itself',
      { token_auth_method: 'none' },
      {},
    ],
    [
      'no id',
      'api_key.fields must include the required "client_id", which is no secret',
      {},
      { api_key: { fields: [FIELDS[1]] } },
    ],
    [
      'no secret',
      'api_key.fields must include the required secret "client_secret"',
      {},
      { api_key: { fields: [FIELDS[0]] } },
    ],
    [
      'no key',
      'api_key.fields must include the required secret "private_key"',
      { token_auth_method: 'private_key_jwt' },
      {},
    ],
    [
      'a form of keys',
      'api_key.prefix has no place where tokens are sent: "oauth" says how',
      {},
      { api_key: { fields: FIELDS, prefix: 'Bearer' } },
    ],
    [
      'a name that is taken',
      'api_key.fields must not be named "token_url", which means something else',
      {},
      { api_key: { fields: [...FIELDS, { ...TENANT, name: 'token_url' }] } },
    ],
    [
      'an open host',
      'oauth.token_url must be a host name in lower-case ASCII letters, digits, "-" and "."; a wildcard is "*" for one whole label',
      { token_url: 'https://{client_id}.prov.test/token' },
      {},
    ],
    [
      'an open name',
      'oauth.token_url must have each "{field}" for one segment of its path',
      { token_url: 'https://prov.test/a{client_id}/token' },
      {},
    ],
    [
      'an open query',
      'oauth.token_url must have each "{field}" for one segment of its path',
      { token_url: 'https://prov.test/token?t={client_id}' },
      {},
    ],
    [
      'a secret in its path',
      'oauth.token_url must name required fields that are no secrets',
      { token_url: 'https://prov.test/{client_secret}/token' },
      {},
    ],
    [
      'a field that is not there',
      'oauth.token_params.x names a field that is not there, or a secret',
      { token_params: { x: '{y}' } },
      {},
    ],
    [
      'a secret as a parameter',
      'oauth.token_params.x names a field that is not there, or a secret',
      { token_params: { x: '{client_secret}' } },
      {},
    ],
    ['a tenant that is nowhere', 'oauth.token_url needs a base_url', { token_url: '{base_url}/token' }, {}],
    [
      'plain http',
      'oauth.client_token_url must be https, or http on loopback',
      { client_token_url: 'http://prov.test/' },
      {},
    ],
  ] as const)
    it(`is refused with ${what}`, () => {
      assert.throws(
        () => definitionOf(oauth, more),
        (error: Error) => {
          assert.ok(error instanceof BrokerError)
          const [first] = error.options.details ?? []
          assert.equal(`${first?.path} ${first?.message}`, problem)
          return true
        },
      )
    })

  for (const name of ['client_token_url', 'client_scopes', 'client_auth_method', 'token_auth_method'] as const)
    it(`is the only one with ${name} for clients`, () => {
      const value = {
        client_token_url: 'https://prov.test/t',
        client_scopes: ['a'],
        client_auth_method: 'client_secret_post',
        token_auth_method: 'private_key_jwt',
      }[name]
      const browser = { grant: undefined, authorization_url: 'https://prov.test/auth', [name]: value }
      assert.throws(
        () => definitionOf(browser, { flow: 'pkce', api_key: undefined }),
        /needs the grant "client_credentials"/,
      )
    })
})

describe('the client of a login', () => {
  const tenant = { api_key: { fields: [...FIELDS, TENANT] } }
  const url = { token_url: 'https://login.prov.test/{tenant_id}/oauth2/token' }

  it('is shown at the endpoint of its tenant, with what the tenant is asked about', () => {
    const definition = definitionOf({ ...url, token_params: { account: '{tenant_id}', fixed: 'x' } }, tenant)
    const party = partyOf(definition, { ...SECRETS, tenant_id: 'acme.test' })
    assert.equal(party?.server.tokenUrl, 'https://login.prov.test/acme.test/oauth2/token')
    assert.equal(party?.definition.oauth?.token_url, party?.server.tokenUrl)
    assert.deepEqual(party?.parameters, { account: 'acme.test', fixed: 'x' })
  })

  for (const value of ['..', '.', 'a/b', 'a%2fb', 'a?b', 'a b', 'a#b', '{client_id}'])
    it(`is of no tenant called ${value}`, () => {
      assert.throws(() => parseCredential(definitionOf(url, tenant), secretInput({ ...SECRETS, tenant_id: value })), {
        name: 'InvalidRequestError',
      })
    })

  it('is shown at the own host of its tenant, for the API there', () => {
    const definition = definitionOf(
      { token_url: '{base_url}/oauth/token', token_params: { audience: '{base_url}/api/v2/' } },
      { hosts: ['*.prov.test'], base_url: 'https://{tenant}.prov.test' },
    )
    const party = partyOf(definition, SECRETS, 'https://acme.prov.test')
    assert.equal(party?.server.tokenUrl, 'https://acme.prov.test/oauth/token')
    assert.deepEqual(party?.parameters, { audience: 'https://acme.prov.test/api/v2/' })
  })

  it('leaves a parameter out whose optional field has no value', () => {
    const optional = { ...TENANT, required: false }
    const definition = definitionOf(
      { token_params: { x: '{tenant_id}' } },
      { api_key: { fields: [...FIELDS, optional] } },
    )
    assert.deepEqual(partyOf(definition)?.parameters, {})
  })

  it('is shown where its login found the endpoint, which is no part of what was entered', () => {
    const definition = definitionOf({ token_url: undefined, issuer: 'https://prov.test' })
    assert.equal(partyOf(definition), undefined)
    const found = { issuer: 'https://prov.test', tokenUrl: 'https://prov.test/found', isPrivate: true }
    const credential = withEndpoints(secrets(SECRETS), found)
    assert.equal(clientParty(definition, credential, { baseUrl: undefined, now: 0 })?.server.tokenUrl, found.tokenUrl)
    assert.deepEqual(Object.keys(enteredOf(definition, credential)), ['client_id', 'client_secret'])
  })

  for (const [what, oauth, stored, audience] of [
    ['the endpoint that is named', { token_url: 'https://prov.test/token' }, {}, 'https://prov.test/token'],
    [
      'the server that was found',
      { token_url: undefined, issuer: 'https://prov.test' },
      { token_url: 'https://prov.test/found' },
      'https://prov.test',
    ],
  ] as const)
    it(`signs for ${what}`, () => {
      const definition = definitionOf({ ...oauth, token_auth_method: 'private_key_jwt' }, { api_key: undefined })
      const { client } = partyOf(definition, { client_id: 'id-1', private_key: EC, kid: 'k1', ...stored }) ?? {}
      assert.ok(client?.auth === 'private_key_jwt')
      const [header, claims] = client.assertion
        .reveal()
        .split('.')
        .slice(0, 2)
        .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
      assert.deepEqual(header, { alg: 'ES256', typ: 'JWT', kid: 'k1' })
      const { jti, ...rest } = claims
      assert.match(jti, /^[0-9a-f-]{36}$/)
      assert.deepEqual(rest, { iss: 'id-1', sub: 'id-1', aud: audience, iat: -60, exp: 120 })
    })

  for (const [what, key] of [
    ['no key', 'CNRYnothing'],
    ['a short RSA key', pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey)],
    ['a key of another curve', pem(generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey)],
    ['a key for nothing but agreement', pem(generateKeyPairSync('x25519').privateKey)],
  ] as const)
    it(`signs with ${what}: refused, and not repeated`, () => {
      const definition = definitionOf({ token_auth_method: 'private_key_jwt' }, { api_key: undefined })
      assert.throws(
        () => parseCredential(definition, secretInput({ client_id: 'id-1', private_key: key })),
        (error: Error) => {
          assert.ok(error instanceof BrokerError)
          assert.match(error.options.hint ?? '', /^private_key must be a private key as PEM/)
          assert.doesNotMatch(`${error.message}${error.options.hint}`, /CNRY|BEGIN/)
          return true
        },
      )
    })

  it('sends nothing of itself to the hosts', () => {
    const definition = definitionOf()
    const host = { hostPattern: 'api.prov.test', port: 443 }
    assert.throws(() => injectionFor(definition, 'api_key', secrets({ ...SECRETS, api_key: 'CNRY' }), host), {
      name: 'CredentialMissingError',
    })
    const [place] = injectionFor(definition, 'oauth2', secrets({ access_token: 'CNRYtoken' }), host)
    assert.deepEqual([place?.name, place?.value?.reveal()], ['Authorization', 'Bearer CNRYtoken'])
  })
})

describe('where the id and secret of a client may go', () => {
  const digest = (oauth: object, more: Readonly<Record<string, unknown>> = {}) =>
    destinationDigest(definitionOf(oauth, more), 'client_credentials')

  for (const [what, oauth, more] of [
    ['other fields', {}, { api_key: { fields: [...FIELDS, TENANT] } }],
    ['other scopes', { scopes: ['b'] }, {}],
    ['its endpoint under its other name', { client_token_url: OAUTH.token_url, token_url: 'https://prov.test/x' }, {}],
  ] as const)
    it(`is the same with ${what}`, () => assert.equal(digest(oauth, more), digest({})))

  for (const [what, oauth, more] of [
    ['endpoint', { token_url: 'https://evil.test/token' }, {}],
    ['issuer', { issuer: 'https://evil.test' }, {}],
    ['endpoint for its tokens', { revocation_url: 'https://evil.test/revoke' }, {}],
    ['header', { header_name: 'X-Token' }, {}],
    ['host', {}, { hosts: ['evil.test'] }],
  ] as const)
    it(`is not the same with another ${what}`, () => assert.notEqual(digest(oauth, more), digest({})))

  it('changes nothing for people who log in by a browser', () => {
    const browser = { authorization_url: 'https://prov.test/auth' }
    const flow = { flow: 'pkce', api_key: undefined }
    const before = destinationDigest(definitionOf({ ...browser, grant: undefined }, flow), 'oauth2')
    const clientOnly = {
      client_token_url: 'https://prov.test/c',
      client_scopes: ['z'],
      client_auth_method: 'private_key_jwt',
    }
    assert.equal(destinationDigest(definitionOf({ ...browser, ...clientOnly }, flow), 'oauth2'), before)
  })

  it('changes nothing for a key of the same provider', () => {
    const without = parseDefinition(
      definitionJson({ api_key: { prefix: 'Key' }, oauth: { ...OAUTH, grant: undefined } }),
    )
    assert.equal(destinationDigest(definitionOf({}, asOwnKey), 'api_key'), destinationDigest(without, 'api_key'))
  })
})
