import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { credentialFields, parseCredential } from './credential.ts'
import { definitionOf } from './definition.fixture.ts'
import { injectionFor } from './injection.ts'

const KEY = 'CNRYkey'
const field = (name: string, rest: object = {}) => ({ name, label: 'Account', secret: false, required: true, ...rest })
const withAccount = [field('account'), field('api_key', { secret: true })]

function injected(overrides: Readonly<Record<string, unknown>>, credential: Readonly<Record<string, string>> = {}) {
  const secrets = Object.entries({ api_key: KEY, ...credential }).map(([name, value]) => [name, new Secret(value)])
  const { headers, ifAbsent, query } = injectionFor(definitionOf(overrides), 'api_key', Object.fromEntries(secrets))
  const shown = (of: Readonly<Record<string, Secret>>) =>
    Object.entries(of).map(([name, value]) => `${name}: ${value.reveal()}`)
  return [...shown(headers), ...shown(query).map((text) => `?${text}`), ...ifAbsent.map((name) => `if absent: ${name}`)]
}

describe('injection', () => {
  for (const [what, overrides, credential, expected] of [
    ['a bearer', { api_key: { prefix: 'Bearer' } }, {}, ['Authorization: Bearer CNRYkey']],
    ['a bare key', { api_key: {} }, {}, ['Authorization: CNRYkey']],
    ['a header of its own', { api_key: { header_name: 'x-api-key' } }, {}, ['x-api-key: CNRYkey']],
    ['a prefix with "="', { api_key: { prefix: 'Token token=' } }, {}, ['Authorization: Token token=CNRYkey']],
    ['a prefix with ":"', { api_key: { prefix: 'key:' } }, {}, ['Authorization: key:CNRYkey']],
    ['a query parameter', { api_key: { query_param: 'key' } }, {}, ['?key: CNRYkey']],
    [
      'basic with a user name',
      { api_key: { encoding: 'basic', username: 'api' } },
      {},
      ['Authorization: Basic YXBpOkNOUllrZXk='],
    ],
    ['basic without user name', { api_key: { encoding: 'basic' } }, {}, ['Authorization: Basic OkNOUllrZXk=']],
    [
      'basic with the key as user name',
      { api_key: { encoding: 'basic', username: '{api_key}' } },
      {},
      ['Authorization: Basic Q05SWWtleTo='],
    ],
    [
      'basic with a field as user name',
      { api_key: { encoding: 'basic', username: '{account}', fields: withAccount } },
      { account: 'zoë' },
      ['Authorization: Basic em/DqzpDTlJZa2V5'],
    ],
    [
      'fixed headers',
      { headers: { 'Prov-Version': '2' } },
      {},
      ['Authorization: Bearer CNRYkey', 'Prov-Version: 2', 'if absent: Prov-Version'],
    ],
    [
      'further places',
      {
        api_key: { prefix: 'Bearer', fields: withAccount },
        injections: [
          { type: 'header', name: 'X-Account', value: 'id={account}' },
          { type: 'query', name: 'key' },
        ],
      },
      { account: 'acme' },
      ['Authorization: Bearer CNRYkey', 'X-Account: id=acme', '?key: CNRYkey'],
    ],
    [
      'a further basic place',
      {
        api_key: { header_name: 'X-Key', fields: withAccount },
        injections: [{ type: 'basic', username: '{account}', password: '{api_key}' }],
      },
      { account: 'acme' },
      ['X-Key: CNRYkey', 'Authorization: Basic YWNtZTpDTlJZa2V5'],
    ],
    [
      'no place for what was not given',
      {
        api_key: {
          prefix: 'Bearer',
          fields: [field('account', { required: false }), field('api_key', { secret: true })],
        },
        injections: [{ type: 'header', name: 'X-Account', value: '{account}' }],
      },
      {},
      ['Authorization: Bearer CNRYkey'],
    ],
    ['a key that looks like a template', {}, { api_key: '{api_key}$&' }, ['Authorization: Bearer {api_key}$&']],
  ] as const)
    it(`carries ${what}`, () => {
      assert.deepEqual(injected(overrides, credential), expected)
    })

  it('has nothing for a connection without a key', () => {
    assert.throws(() => injectionFor(definitionOf(), 'api_key', {}), { name: 'CredentialMissingError' })
    const account = definitionOf({ api_key: { encoding: 'basic', username: '{account}', fields: withAccount } })
    assert.throws(() => injectionFor(account, 'api_key', { api_key: new Secret(KEY) }), {
      name: 'CredentialMissingError',
    })
  })
})

describe('a credential that was typed', () => {
  const shaped = { api_key: { pattern: '^sk-[a-z]{4,}$', example: 'sk-aaaa' } }

  it('is asked for by one field unless the definition has more', () => {
    assert.deepEqual(credentialFields(definitionOf(shaped)), [
      { name: 'api_key', label: 'Prov API key', secret: true, required: true, pattern: '^sk-[a-z]{4,}$' },
    ])
    assert.deepEqual(credentialFields(definitionOf({ api_key: { fields: withAccount } })), withAccount)
  })

  it('becomes secrets by field name', () => {
    const credential = parseCredential(definitionOf({ api_key: { fields: withAccount } }), {
      account: 'a',
      api_key: KEY,
    })
    assert.deepEqual(
      Object.entries(credential).map(([name, value]) => [name, value.reveal()]),
      [
        ['account', 'a'],
        ['api_key', KEY],
      ],
    )
    assert.equal(JSON.stringify(credential).includes('CNRY'), false)
  })

  for (const [what, overrides, input, path] of [
    ['nothing', {}, {}, 'input.api_key'],
    ['an empty key', {}, { api_key: '' }, 'input.api_key'],
    ['a line break', {}, { api_key: 'CNRY\r\nX-Other: 1' }, 'input.api_key'],
    ['a NUL', {}, { api_key: 'CNRY\u0000' }, 'input.api_key'],
    ['white space at the end', {}, { api_key: 'CNRY ' }, 'input.api_key'],
    ['letters beyond ASCII', {}, { api_key: 'CNRYé' }, 'input.api_key'],
    ['another shape', shaped, { api_key: 'CNRYsk-aaaa' }, 'input.api_key'],
    ['an unknown field', {}, { api_key: KEY, token: 'CNRY' }, 'input.token'],
    ['a missing field', { api_key: { fields: withAccount } }, { api_key: KEY }, 'input.account'],
  ] as const)
    it(`is refused with ${what}, and never repeated`, () => {
      assert.throws(
        () => parseCredential(definitionOf(overrides), input),
        ({ name, message, options }) => {
          assert.equal(name, 'InvalidRequestError')
          assert.equal(options.details[0].path, path)
          return !JSON.stringify([message, options]).includes('CNRY')
        },
      )
    })
})
