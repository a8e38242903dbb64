import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Place, toPlainWire } from '../../injection/index.ts'
import { Secret, secretInput } from '../../protocol/index.ts'
import { credentialFields, oddShapes, parseCredential } from './credential.ts'
import { definitionOf } from './definition.fixture.ts'
import { injectionFor } from './injection.ts'

const KEY = 'CNRYkey'
const field = (name: string, rest: object = {}) => ({ name, label: 'Account', secret: false, required: true, ...rest })
const withAccount = [field('account'), field('api_key', { secret: true })]

const MAIN = { hostPattern: 'api.prov.test', port: 443 }
const GIT = { hostPattern: 'git.prov.test', port: 443 }

function injected(
  overrides: Readonly<Record<string, unknown>>,
  credential: Readonly<Record<string, string>> = {},
  host = MAIN,
) {
  const secrets = Object.entries({ api_key: KEY, ...credential }).map(([name, value]) => [name, new Secret(value)])
  return shown(injectionFor(definitionOf(overrides), 'api_key', Object.fromEntries(secrets), host))
}

/** By kind, as a request has it. */
function shown(places: readonly Place[]) {
  const { headers, query = {} } = toPlainWire({ provider: 'prov', connection: 'default', places })
  const texts = (named: Readonly<Record<string, string>>) =>
    Object.entries(named).map(([name, value]) => `${name}: ${value}`)
  return [
    ...texts(headers),
    ...texts(query).map((text) => `?${text}`),
    ...places.flatMap(({ name, onlyIfAbsent }) => (onlyIfAbsent ? [`if absent: ${name}`] : [])),
    ...places.flatMap(({ in: kind, name, value }) => (kind === 'cookie' ? [`cookie ${name}: ${value?.reveal()}`] : [])),
    ...places.flatMap(({ in: kind, name, value, frames = 1 }) =>
      kind === 'body' || kind === 'websocket' ? [`${kind} ${name}: ${value?.reveal()} in ${frames}`] : [],
    ),
    ...places.flatMap(({ in: kind, name, value }) => (kind === 'path' ? [`${name}: ${name}${value?.reveal()}`] : [])),
  ]
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
      'basic with the key as user name and a fixed password',
      { api_key: { encoding: 'basic', username: '{api_key}', password: 'X' } },
      {},
      ['Authorization: Basic Q05SWWtleTpY'],
    ],
    [
      'basic with a password made of the key',
      { api_key: { encoding: 'basic', username: 'u', password: 'v1:{api_key}' } },
      {},
      ['Authorization: Basic dTp2MTpDTlJZa2V5'],
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
      'a segment of the path in place of a header',
      { injections: [{ type: 'path', prefix: '/bot', hosts: [MAIN.hostPattern] }] },
      {},
      ['/bot: /botCNRYkey'],
    ],
    [
      'the segment behind a prefix',
      { injections: [{ type: 'path', prefix: '/v2/', hosts: [MAIN.hostPattern] }] },
      {},
      ['/v2/: /v2/CNRYkey'],
    ],
    [
      'a cookie in place of a header',
      { injections: [{ type: 'cookie', name: 'session', hosts: [MAIN.hostPattern] }] },
      {},
      ['cookie session: CNRYkey'],
    ],
    [
      'a string of a JSON body in place of a header',
      { injections: [{ type: 'body', pointer: '/auth/key', hosts: [MAIN.hostPattern] }] },
      {},
      ['body /auth/key: CNRYkey in 1'],
    ],
    [
      'a field of a form beside a header',
      { api_key: {}, injections: [{ type: 'body', field: 'key', value: 'k:{api_key}' }] },
      {},
      ['Authorization: CNRYkey', 'body key: k:CNRYkey in 1'],
    ],
    [
      'the first messages of a WebSocket',
      { injections: [{ type: 'websocket', pointer: '/d/token', frames: 3, hosts: [MAIN.hostPattern] }] },
      {},
      ['websocket /d/token: CNRYkey in 3'],
    ],
    [
      'a value of more than the key',
      { api_key: { value: 'sso-key {account}:{api_key}', fields: withAccount } },
      { account: 'acme' },
      ['Authorization: sso-key acme:CNRYkey'],
    ],
    [
      'such a value in a parameter',
      { api_key: { query_param: 'auth', value: '{account}:{api_key}', fields: withAccount } },
      { account: 'acme' },
      ['?auth: acme:CNRYkey'],
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

  describe('with a form of its own on some hosts', () => {
    const bound = {
      hosts: [MAIN.hostPattern, 'git.prov.test:443'],
      api_key: { header_name: 'X-Key' },
      oauth: { scopes: [] },
      headers: { 'Prov-Version': '2' },
      injections: [
        { type: 'basic', username: 'git', password: '{api_key}', hosts: ['git.prov.test:443'] },
        { type: 'basic', username: 'oauth2', password: '{access_token}', hosts: ['git.prov.test:443'] },
        { type: 'query', name: 'v' },
      ],
    }
    const token = (host: typeof MAIN, overrides = {}) =>
      shown(
        injectionFor(
          definitionOf({ ...bound, ...overrides }),
          'oauth2',
          { access_token: new Secret('CNRYtoken') },
          host,
        ),
      )
    const version = ['Prov-Version: 2', 'if absent: Prov-Version']

    it('sends a key there in place of the other form, and only there', () => {
      assert.deepEqual(injected(bound), ['X-Key: CNRYkey', 'Prov-Version: 2', '?v: CNRYkey', 'if absent: Prov-Version'])
      assert.deepEqual(injected(bound, {}, GIT), [
        'Authorization: Basic Z2l0OkNOUllrZXk=',
        'Prov-Version: 2',
        '?v: CNRYkey',
        'if absent: Prov-Version',
      ])
    })

    it('sends a token there in place of the other form, and only there', () => {
      assert.deepEqual(token(MAIN), ['Authorization: Bearer CNRYtoken', ...version])
      assert.deepEqual(token(GIT), ['Authorization: Basic b2F1dGgyOkNOUll0b2tlbg==', ...version])
    })

    it('sends one form where an optional field was given, and another where it was not', () => {
      const definition = {
        api_key: { fields: [field('account', { required: false }), field('api_key', { secret: true })] },
        injections: [
          {
            type: 'basic',
            username: '{account}',
            password: '{api_key}',
            hosts: [MAIN.hostPattern],
            if_field: 'account',
          },
          { type: 'header', name: 'authorization', value: 'Bearer {api_key}', hosts: [MAIN.hostPattern] },
        ],
      }
      assert.deepEqual(injected(definition, { account: 'acme' }), ['Authorization: Basic YWNtZTpDTlJZa2V5'])
      assert.deepEqual(injected(definition), ['authorization: Bearer CNRYkey'])
      const usual = { ...definition, injections: definition.injections.slice(0, 1) }
      assert.deepEqual(injected(usual, { account: 'acme' }), ['Authorization: Basic YWNtZTpDTlJZa2V5'])
      assert.deepEqual(injected(usual), ['Authorization: CNRYkey'])
    })

    it('sends further places for tokens beside the main one and beside that of a host, with the id of the client', () => {
      const client = { type: 'header', name: 'Client-Id', value: '{oauth_client_id}' }
      const credential = { access_token: new Secret('CNRYtoken'), client_id: new Secret('CNRYclient') }
      const definition = definitionOf({ ...bound, injections: [...bound.injections, client] })
      assert.deepEqual(shown(injectionFor(definition, 'oauth2', credential, MAIN)).slice(0, 2), [
        'Authorization: Bearer CNRYtoken',
        'Client-Id: CNRYclient',
      ])
      assert.deepEqual(shown(injectionFor(definition, 'oauth2', credential, GIT)).slice(0, 2), [
        'Authorization: Basic b2F1dGgyOkNOUll0b2tlbg==',
        'Client-Id: CNRYclient',
      ])
      assert.doesNotMatch(injected({ ...bound, injections: [client] }).join(), /Client-Id/)
    })

    it('sends a token in its only form where none is meant for tokens', () => {
      assert.deepEqual(token(GIT, { injections: bound.injections.slice(0, 1) }), [
        'Authorization: Bearer CNRYtoken',
        ...version,
      ])
    })

    it('has nothing where a field of that form has no value, rather than the other form', () => {
      const fields = [field('account', { required: false }), field('api_key', { secret: true })]
      const overrides = {
        ...bound,
        api_key: { fields },
        injections: [{ type: 'basic', username: '{account}', password: '{api_key}', hosts: ['git.prov.test:443'] }],
      }
      assert.throws(() => injected(overrides, {}, GIT), { name: 'CredentialMissingError' })
    })
  })

  it('has nothing for a connection without a key', () => {
    assert.throws(() => injectionFor(definitionOf(), 'api_key', {}, MAIN), { name: 'CredentialMissingError' })
    const account = definitionOf({ api_key: { encoding: 'basic', username: '{account}', fields: withAccount } })
    assert.throws(() => injectionFor(account, 'api_key', { api_key: new Secret(KEY) }, MAIN), {
      name: 'CredentialMissingError',
    })
  })
})

describe('a credential that was typed', () => {
  const shaped = { api_key: { pattern: '^sk-[a-z]{4,}$', example: 'sk-aaaa' } }

  const inPath = { injections: [{ type: 'path', prefix: '/bot' }] }
  const inCookie = { injections: [{ type: 'cookie', name: 'session' }] }

  it('is asked for by one field unless the definition has more', () => {
    assert.deepEqual(credentialFields(definitionOf(shaped)), [
      { name: 'api_key', label: 'Prov API key', secret: true, required: true, pattern: '^sk-[a-z]{4,}$' },
    ])
    assert.deepEqual(credentialFields(definitionOf({ api_key: { fields: withAccount } })), withAccount)
  })

  it('becomes secrets by field name', () => {
    const credential = parseCredential(
      definitionOf({ api_key: { fields: withAccount } }),
      secretInput({
        account: 'a',
        api_key: KEY,
      }),
    )
    assert.deepEqual(
      Object.entries(credential).map(([name, value]) => [name, value.reveal()]),
      [
        ['account', 'a'],
        ['api_key', KEY],
      ],
    )
    assert.equal(JSON.stringify(credential).includes('CNRY'), false)
  })

  it('is taken in another shape than the usual one, and that is said without it', () => {
    const definition = definitionOf(shaped)
    assert.deepEqual(Object.keys(parseCredential(definition, secretInput({ api_key: 'CNRYsk-aaaa' }))), ['api_key'])
    assert.deepEqual(oddShapes(definition, secretInput({ api_key: 'CNRYsk-aaaa' })), [
      'The Prov API key does not look like one: it should look like sk-aaaa; it is stored all the same.',
    ])
    assert.deepEqual(oddShapes(definition, secretInput({ api_key: 'sk-aaaa' })), [])
  })

  for (const [what, overrides, input, path] of [
    ['nothing', {}, {}, 'input.api_key'],
    ['an empty key', {}, { api_key: '' }, 'input.api_key'],
    ['a line break', {}, { api_key: 'CNRY\r\nX-Other: 1' }, 'input.api_key'],
    ['a NUL', {}, { api_key: 'CNRY\u0000' }, 'input.api_key'],
    ['white space at the end', {}, { api_key: 'CNRY ' }, 'input.api_key'],
    ['letters beyond ASCII', {}, { api_key: 'CNRYé' }, 'input.api_key'],
    ['white space in one of a known shape', shaped, { api_key: 'sk-aaaa sk-CNRY' }, 'input.api_key'],
    ['a slash in a segment', inPath, { api_key: 'CNRY/../x' }, 'input.api_key'],
    ['a dot for a segment', inPath, { api_key: '..' }, 'input.api_key'],
    ['a query in a segment', inPath, { api_key: 'CNRY?x' }, 'input.api_key'],
    ['a semicolon in a cookie', inCookie, { api_key: 'CNRY; other=1' }, 'input.api_key'],
    ['a quote in a cookie', inCookie, { api_key: 'CNRY"x' }, 'input.api_key'],
    ['an unknown field', {}, { api_key: KEY, token: 'CNRY' }, 'input.token'],
    ['a missing field', { api_key: { fields: withAccount } }, { api_key: KEY }, 'input.account'],
  ] as const)
    it(`is refused with ${what}, and never repeated`, () => {
      assert.throws(
        () => parseCredential(definitionOf(overrides), secretInput(input)),
        ({ name, message, options }) => {
          assert.equal(name, 'InvalidRequestError')
          assert.equal(options.details[0].path, path)
          return !JSON.stringify([message, options]).includes('CNRY')
        },
      )
    })
})
