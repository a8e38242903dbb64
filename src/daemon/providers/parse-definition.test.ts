import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BrokerError } from '../../protocol/index.ts'
import { definitionJson } from './definition.fixture.ts'
import { parseDefinition, tryDefinition } from './parse-definition.ts'

function pathsRefused(overrides: Readonly<Record<string, unknown>>): readonly string[] {
  return refusal(definitionJson(overrides)).options.details?.map(({ path }) => path) ?? []
}

function refusal(value: unknown): BrokerError {
  try {
    parseDefinition(value)
  } catch (error) {
    assert.ok(error instanceof BrokerError)
    assert.equal(error.name, 'InvalidRequestError')
    return error
  }
  assert.fail('the definition was accepted')
}

const OAUTH = { scopes: [], authorization_url: 'https://prov.test/auth', token_url: 'https://prov.test/token' }
const oauth = (section: object) => ({ auth_type: 'oauth2', flow: 'pkce', oauth: { ...OAUTH, ...section } })
const bound = (rest: object) => ({
  injections: [{ type: 'basic', password: '{api_key}', hosts: ['api.prov.test'], ...rest }],
})
const header = (name: string) => ({ api_key: { header_name: name } })
const field = (name: string, rest: object = {}) => ({ name, label: 'Label', secret: true, required: true, ...rest })
/** Two forms for one place, each where these fields were given. */
const forms = (...conditions: readonly (readonly string[])[]) => ({
  api_key: { fields: [field('account', { required: false }), field('api_key')] },
  injections: conditions.map(([name]) => ({
    ...{ type: 'basic', password: '{api_key}', hosts: ['api.prov.test'] },
    ...(name !== undefined && { if_field: name }),
  })),
})
const FIXED = { Authorization: 'fixed' }

const SIGNED = { api_key: undefined, signing: { type: 'aws_sigv4' } }
const serviceAccount = (more: object) => ({
  api_key: undefined,
  signing: { type: 'google_service_account', token_url: 'https://prov.test/token', scopes: ['a'], ...more },
})
const app = (more: object) => ({
  signing: { type: 'github_app', token_url: 'https://prov.test/a/{installation_id}/tokens', ...more },
})

describe('a provider definition', () => {
  for (const [what, overrides] of [
    ['of the smallest size', {}],
    ['with the day when it was verified', { last_verified: '2024-02-29', sources: ['https://prov.test/docs#keys'] }],
    [
      'with every form of host',
      { hosts: ['a.prov.test', '*.b.prov.test', 'c.prov.test:8443', 'd.prov.test/api/v1/*'] },
    ],
    ['for a wildcard over regions', { hosts: ['bedrock.*.amazonaws.com'] }],
    ['for a port on loopback', { hosts: ['localhost:8443', '127.0.0.1:8443', '[::1]:8443'] }],
    ['for names that vary in two places', { hosts: ['*.svc.*.prov.test'] }],
    ['for tenants in several places', { base_url: ['https://{a}.prov.test', 'https://{a}.{b}.prov.test'] }],
    [
      'with further hosts of a tenant',
      { base_url: 'https://{a}.prov.test', tenant_hosts: ['{a}-dsn.prov.test', 'x{a}.eu.prov.test'] },
    ],
    [
      'for servers of people’s own',
      { self_hosted: [{ like: 'api.prov.test', path: '/api/v1/*' }, { path: '/x/*' }, { like: 'api.prov.test' }] },
    ],
    ['for servers of people’s own alone', { hosts: [], self_hosted: [{}] }],
    ['for tenants', { base_url: 'https://{tenant}.prov.test' }],
    [
      'for tenants below a shared suffix',
      { hosts: ['*.myshopify.com'], base_url: 'https://{shop}.myshopify.com/admin' },
    ],
    ['with both sections', { oauth: OAUTH }],
    [
      'with a form of its own for each type of credential on one host',
      {
        hosts: ['api.prov.test', 'git.prov.test'],
        oauth: OAUTH,
        injections: ['{api_key}', '{access_token}'].map((password) => ({
          type: 'basic',
          username: 'x-access-token',
          password,
          hosts: ['git.prov.test'],
        })),
      },
    ],
    ['for OAuth', oauth({ issuer: 'https://prov.test/', resource: 'https://prov.test/mcp', prefix: 'token' })],
    ['with one form where an optional field was given, and another where not', forms(['account'], [])],
    ['with the key in the path', { injections: [{ type: 'path', prefix: '/bot', hosts: ['api.prov.test'] }] }],
    [
      'with the key for a whole segment',
      { injections: [{ type: 'path', prefix: '/nft/v3/', hosts: ['api.prov.test'] }] },
    ],
    [
      'with variables for its fields and its tenant',
      {
        base_url: 'https://{tenant}.prov.test',
        env: {
          PROV_KEY: 'credential',
          PROV_USER: 'user',
          PROV_URL: 'base_url',
          PROV_TENANT: 'tenant',
          TF_TOKEN_x: 'user',
        },
        api_key: { value: '{user}:{api_key}', fields: [field('user'), field('api_key')] },
      },
    ],
    [
      'with further places for tokens',
      { oauth: OAUTH, injections: [{ type: 'header', name: 'Client-Id', value: '{oauth_client_id}' }] },
    ],
    ['for OAuth with the bare token', oauth({ header_name: 'X-Token', prefix: '' })],
    ['for OAuth on loopback', oauth({ token_url: 'http://127.0.0.1:9000/token' })],
    ['with a query parameter', { api_key: { query_param: 'key' } }],
    ['whose requests are signed', SIGNED],
    [
      'whose requests are signed, also on hosts of strangers',
      { ...SIGNED, hosts: ['*.s3.*.amazonaws.com', '*.s3.amazonaws.com', '*.r2.cloudflarestorage.com'] },
    ],
    ['with a service account', serviceAccount({})],
    ['with an app beside a key', app({})],
    ['with variables for fields of a key that signs', { ...SIGNED, env: { PROV_KEY_ID: 'access_key_id' } }],
    [
      'with all in it',
      {
        description: 'An API',
        category: 'data',
        docs_url: 'https://prov.test/docs',
        env: { PROV_API_KEY: 'credential', PROV_URL: 'base_url' },
        placeholder: 'sk-broker-proxy-managed',
        headers: { 'X-Api-Version': '2026-01-01' },
        api_key: {
          encoding: 'basic',
          username: '{account}',
          password: '{api_key}:v2',
          pattern: '^[a-z]{4,}$',
          example: 'aaaaaaaa',
          fields: [field('account', { secret: false }), field('api_key')],
        },
        injections: [
          { type: 'header', name: 'X-Account', value: 'id={account}' },
          { type: 'query', name: 'account', value: '{account}' },
        ],
      },
    ],
  ] as const)
    it(`may be one ${what}`, () => {
      assert.deepEqual(parseDefinition(definitionJson(overrides)), definitionJson(overrides))
    })

  for (const host of ['*', '*.com', '*.co.uk', '*.*.com', '*.*.*.amazonaws.com', 'a*.prov.test', 'prov', '10.0.0.1'])
    it(`does not name the host ${host}, though its requests are signed`, () => {
      assert.deepEqual(pathsRefused({ ...SIGNED, hosts: ['ok.prov.test', host] }), ['hosts.1'])
    })

  for (const host of [
    '*',
    '*.com',
    '*.co.uk',
    '*.github.io',
    '*.vercel.app',
    '*.amazonaws.com',
    '*.googleapis.com',
    '*.s3.amazonaws.com',
    '*.execute-api.eu-west-1.amazonaws.com',
    'api.*.eu-west-1.amazonaws.com',
    '*.s3.*.amazonaws.com',
    '*.azure.com',
    '*.test',
    'api.*',
    'api.*.com',
    'a*.prov.test',
    '*.*.prov.test',
    '*.x.*.azure.com',
    '*.x.*.com',
    '*.x.*.y.*.prov.test',
    '.*',
    'api.prov.test|evil.test',
    '^api\\.prov\\.test$',
    'API.prov.test',
    'api.prov.test.',
    'api..prov.test',
    '-api.prov.test',
    'prov',
    'café.test',
    'api.prov.test@evil.test',
    'https://api.prov.test',
    'api.prov.test:0',
    'api.prov.test:65536',
    'api.prov.test:443abc',
    'api.prov.test:',
    'api.prov.test/api',
    'api.prov.test/api*',
    'api.prov.test/../*',
    'api.prov.test/a%2fb/*',
    'api.prov.test/*?x',
    '10.0.0.0/8',
    '10.0.0.1',
    '169.254.169.254',
    '0x7f.1',
    '[fd00::1]:443',
    'localhost',
    '127.0.0.1',
    '127.0.0.2:8443',
    'localhost:7998',
    '[::1]:7998',
  ])
    it(`does not name the host ${host}`, () => {
      assert.deepEqual(pathsRefused({ hosts: ['ok.prov.test', host] }), ['hosts.1'])
    })

  for (const name of [
    'Host',
    'Content-Length',
    'transfer-encoding',
    'Connection',
    'TE',
    'Upgrade',
    'Proxy-Authorization',
    'Sec-Fetch-Site',
    'X-Broker-Connection',
    'X-Forwarded-Host',
    ':authority',
    'X-Key\r\nX-Other',
    'X Key',
    'X-Key:',
    '',
  ])
    it(`does not inject into the header ${JSON.stringify(name)}`, () => {
      assert.deepEqual(pathsRefused(header(name)), ['api_key.header_name'])
      assert.deepEqual(pathsRefused({ injections: [{ type: 'header', name }] }), ['injections.0.name'])
    })

  for (const [what, overrides, paths] of [
    ['unknown field', { pattern: 'x' }, ['pattern']],
    ['unknown field inside', { api_key: { header: 'x' } }, ['api_key.header']],
    ['client secret', oauth({ client_secret: 'CNRYsecret' }), ['oauth.client_secret']],
    ['wrong type', { hosts: 'api.prov.test' }, ['hosts']],
    ['other version', { schema_version: 2 }, ['schema_version']],
    ['path as name', { name: '../x' }, ['name']],
    ['name of an inherited property', { name: 'constructor' }, ['name']],
    ['name in capitals', { name: 'GitHub' }, ['name']],
    ['long name', { name: 'a'.repeat(65) }, ['name']],
    ['control character to show', { display_name: 'Prov\u001b[2J' }, ['display_name']],
    ['reordering character to show', { description: 'a\u202Eb' }, ['description']],
    [
      'control character in a label',
      { api_key: { fields: [field('api_key', { label: 'a\u0007' })] } },
      ['api_key.fields.0.label'],
    ],
    ['host twice', { hosts: ['a.prov.test', 'a.prov.test'] }, ['hosts.1']],
    ['no host', { hosts: [] }, ['hosts']],
    ['script as documentation', { docs_url: 'javascript:alert(1)' }, ['docs_url']],
    ['documentation in plain http', { docs_url: 'http://prov.test/docs' }, ['docs_url']],
    ['documentation that clears the screen', { docs_url: 'https://prov.test/\u001b[2J' }, ['docs_url']],
    ['documentation on two lines', { docs_url: 'https://prov.test/\nhttps://evil.test' }, ['docs_url']],
    ['documentation that reads backwards', { docs_url: 'https://prov.test/\u202Ea' }, ['docs_url']],
    ['a day that no calendar has', { last_verified: '2026-02-30' }, ['last_verified']],
    ['a moment in place of a day', { last_verified: '2026-11-22T10:00:00Z' }, ['last_verified']],
    ['no source at all', { sources: [] }, ['sources']],
    ['a source in plain http', { sources: ['https://prov.test/docs', 'http://prov.test/docs'] }, ['sources.1']],
    ['documentation of somebody else', { docs_url: 'https://prov.test@evil.test/' }, ['docs_url']],
    ['line break in the prefix', { api_key: { prefix: 'Bearer\r\nX-Other: 1' } }, ['api_key.prefix']],
    ['white space as prefix', oauth({ prefix: ' ' }), ['oauth.prefix']],
    ['empty prefix of a key', { api_key: { prefix: '' } }, ['api_key.prefix']],
    ['line break in a fixed header', { headers: { 'X-Version': '1\n2' } }, ['headers.X-Version']],
    ['fixed header that steers', { headers: { Host: 'evil.test' } }, ['headers.Host']],
    ['fixed header where the key goes', { headers: { authorization: 'x' } }, ['headers.authorization']],
    ['flow without its section', { auth_type: 'oauth2', flow: 'pkce' }, ['oauth']],
    ['flow of another type', { flow: 'pkce' }, ['flow']],
    ['key flow without key section', { api_key: undefined }, ['api_key']],
    ['flow without its endpoint', oauth({ token_url: undefined }), ['oauth.token_url']],
    ['endpoint in plain http', oauth({ token_url: 'http://prov.test/token' }), ['oauth.token_url']],
    ['endpoint that is no URL', oauth({ token_url: '/token' }), ['oauth.token_url']],
    ['endpoint with a user', oauth({ token_url: 'https://u:CNRYp@prov.test/' }), ['oauth.token_url']],
    ['endpoint with a fragment', oauth({ issuer: 'https://prov.test/#' }), ['oauth.issuer']],
    ['endpoint at a private address', oauth({ token_url: 'https://10.0.0.1/' }), ['oauth.token_url']],
    ['endpoint at metadata', oauth({ token_url: 'https://[fd00:ec2::254]/' }), ['oauth.token_url']],
    ['endpoint at an address in disguise', oauth({ token_url: 'https://2851995648/' }), ['oauth.token_url']],
    ['endpoint at the daemon', oauth({ token_url: 'http://localhost:7998/' }), ['oauth.token_url']],
    ['parameter of the flow', oauth({ authorize_params: { state: 'x' } }), ['oauth.authorize_params.state']],
    ['variable of the broker', { env: { BROKER_HOME: 'credential' } }, ['env.BROKER_HOME']],
    ['variable that steers programs', { env: { LD_PRELOAD: 'credential' } }, ['env.LD_PRELOAD']],
    ['variable of the proxy', { env: { HTTPS_PROXY: 'base_url' } }, ['env.HTTPS_PROXY']],
    ['variable that is no name', { env: { 'a b': 'credential' } }, ['env.a b']],
    ['variable of the proxy in lower case', { env: { https_proxy: 'credential' } }, ['env.https_proxy']],
    ['variable for an unknown field', { env: { PROV_ACCOUNT: 'account' } }, ['env.PROV_ACCOUNT']],
    ['variable for the key by its field', { env: { PROV_KEY: 'api_key' } }, ['env.PROV_KEY']],
    ['placeholder with spaces', { placeholder: 'a b' }, ['placeholder']],
    ['base URL of anyone', { base_url: 'https://{host}' }, ['base_url']],
    ['base URL of a whole registry', { base_url: 'https://{tenant}.co.uk' }, ['base_url']],
    ['base URL with half a label', { base_url: 'https://x-{tenant}.prov.test' }, ['base_url']],
    ['base URL with a name twice', { base_url: 'https://{a}.{a}.prov.test' }, ['base_url']],
    ['base URL of five labels', { base_url: 'https://{a}.{b}.{c}.{d}.{e}.prov.test' }, ['base_url']],
    ['base URL twice', { base_url: ['https://{a}.prov.test', 'https://{a}.prov.test'] }, ['base_url']],
    ['base URL of two registries', { base_url: ['https://{a}.prov.test', 'https://{a}.{b}.co.uk'] }, ['base_url']],
    ['tenant host without a tenant', { tenant_hosts: ['{tenant}-x.prov.test'] }, ['tenant_hosts.0']],
    [
      'tenant hosts that could be anyone’s',
      {
        base_url: 'https://{tenant}.prov.test',
        tenant_hosts: [
          '{tenant}-x.prov.test',
          '{tenant}-x.com',
          '{other}.prov.test',
          'all.prov.test',
          '{tenant}.prov.test/x',
        ],
      },
      ['tenant_hosts.1', 'tenant_hosts.2', 'tenant_hosts.3', 'tenant_hosts.4'],
    ],
    ['server like a host that is not there', { self_hosted: [{ like: 'api.evil.test' }] }, ['self_hosted.0.like']],
    [
      'server with a path that leads elsewhere',
      { self_hosted: [{ path: '/../*' }, { path: '/api' }, { path: ':8443/*' }, { path: '/*' }] },
      ['self_hosted.0.path', 'self_hosted.1.path', 'self_hosted.2.path', 'self_hosted.3.path'],
    ],
    ['server with a path twice', { self_hosted: [{ path: '/a/*' }, { path: '/a/*' }] }, ['self_hosted.1.path']],
    ['no host at all', { hosts: [] }, ['hosts']],
    ['base URL elsewhere', { base_url: 'https://evil.test' }, ['base_url']],
    ['place of an unknown type', { injections: [{ type: 'fragment' }] }, ['injections.0.type']],
    ['segment without a slash', { injections: [{ type: 'path', prefix: 'bot' }] }, ['injections.0.prefix']],
    ['segment of two', { injections: [{ type: 'path', prefix: '/bot/x' }] }, ['injections.0.prefix']],
    ['segment behind nothing', { injections: [{ type: 'path', prefix: '/' }] }, ['injections.0.prefix']],
    ['segment behind an empty one', { injections: [{ type: 'path', prefix: '/v2//' }] }, ['injections.0.prefix']],
    ['segment behind a dot', { injections: [{ type: 'path', prefix: '/v2/../' }] }, ['injections.0.prefix']],
    ['two segments', { injections: ['/a', '/b'].map((prefix) => ({ type: 'path', prefix })) }, ['injections.1']],
    [
      'unknown field of the credential',
      { injections: [{ type: 'query', name: 'a', value: '{b}' }] },
      ['injections.0.value'],
    ],
    ['place taken already', { injections: [{ type: 'basic', password: '{api_key}' }] }, ['injections.0']],
    ['form for a host of others', bound({ hosts: ['b.test'] }), ['injections.0.hosts.0']],
    ['condition of a field that is always there', bound({ if_field: 'api_key' }), ['injections.0.if_field']],
    ['condition of no field', bound({ if_field: 'account' }), ['injections.0.if_field']],
    ['form that another leaves no room for', forms([], ['account']), ['injections.1']],
    [
      'form that a fixed header leaves no room for',
      { ...forms(['account'], []), headers: FIXED },
      ['headers.Authorization'],
    ],
    ['form for a host twice', bound({ hosts: ['api.prov.test', 'api.prov.test'] }), ['injections.0.hosts.1']],
    ['form for no host', bound({ hosts: [] }), ['injections.0.hosts']],
    [
      'form for a host that ties with another',
      { ...bound({ hosts: ['api.prov.test'] }), hosts: ['api.prov.test', 'api.prov.test:443'] },
      ['injections.0.hosts.0'],
    ],
    ['two forms in one place', { injections: [...bound({}).injections, ...bound({}).injections] }, ['injections.1']],
    ['form for tokens without their section', bound({ password: '{access_token}' }), ['injections.0']],
    [
      'form for tokens with a field of a key',
      { oauth: OAUTH, ...bound({ username: '{api_key}', password: '{access_token}' }) },
      ['injections.0.username'],
    ],
    [
      'form for tokens on every host in the place of the main one',
      { oauth: OAUTH, injections: [{ type: 'header', name: 'authorization', value: '{access_token}' }] },
      ['injections.0.name'],
    ],
    ['form for a key without its section', { ...oauth({}), api_key: undefined, ...bound({}) }, ['injections.0']],
    ['user name with a colon', { api_key: { encoding: 'basic', username: 'a:b' } }, ['api_key.username']],
    ['user name without basic', { api_key: { username: 'a' } }, ['api_key.username']],
    ['password without basic', { api_key: { password: '{api_key}' } }, ['api_key.password']],
    [
      'password and user name without the key',
      { api_key: { encoding: 'basic', username: 'a', password: 'b' } },
      ['api_key.password'],
    ],
    [
      'unknown field in the password',
      { api_key: { encoding: 'basic', username: '{api_key}', password: '{b}' } },
      ['api_key.password'],
    ],
    ['kind of signing that is unknown', { signing: { type: 'hmac' } }, ['signing.type']],
    ['secret beside what is signed', { signing: { ...SIGNED.signing, secret: 'CNRY' } }, ['signing.secret']],
    ['fixed header in what is signed', { ...SIGNED, headers: { 'X-A': '1' } }, ['headers']],
    ['token endpoint in plain http', serviceAccount({ token_url: 'http://prov.test/' }), ['signing.token_url']],
    ['token endpoint of each account', serviceAccount({ token_url: 'https://prov.test/{a}' }), ['signing.token_url']],
    ['token endpoint without an installation', app({ token_url: 'https://prov.test/a' }), ['signing.token_url']],
    [
      'installation for a host',
      app({ token_url: 'https://{installation_id}.test/{installation_id}' }),
      ['signing.token_url'],
    ],
    ['installation for half a segment', app({ token_url: 'https://a.test/x{installation_id}' }), ['signing.token_url']],
    ['service account without scopes', serviceAccount({ scopes: [] }), ['signing.scopes']],
    ['value beside a prefix', { api_key: { prefix: 'Bearer', value: '{api_key}' } }, ['api_key.value']],
    ['value beside basic', { api_key: { encoding: 'basic', value: '{api_key}' } }, ['api_key.value']],
    ['value without the key', { api_key: { value: 'x' } }, ['api_key.value']],
    ['unknown field in the value', { api_key: { value: '{b}:{api_key}' } }, ['api_key.value']],
    [
      'field with the name of something else',
      { api_key: { fields: [field('api_key'), field('access_token')] } },
      ['api_key.fields.1.name'],
    ],
    ['prefix in a query', { api_key: { query_param: 'key', prefix: 'Bearer' } }, ['api_key.prefix']],
    ['fields without the key', { api_key: { fields: [field('token')] } }, ['api_key.fields']],
    ['field twice', { api_key: { fields: [field('api_key'), field('api_key')] } }, ['api_key.fields.1.name']],
    ['pattern that goes back', { api_key: { pattern: '(a)\\1' } }, ['api_key.pattern']],
    [
      'pattern of a field that looks around',
      { api_key: { fields: [field('api_key', { pattern: '(?=a)' })] } },
      ['api_key.fields.0.pattern'],
    ],
    ['example that does not fit', { api_key: { pattern: '^a$', example: 'b' } }, ['api_key.example']],
  ] as const)
    it(`has no ${what}`, () => {
      assert.deepEqual(pathsRefused(overrides), paths)
    })

  for (const value of [null, undefined, 1, 'text', [], [definitionJson()], true])
    it(`is not ${JSON.stringify(value)}`, () => {
      assert.equal(refusal(value).options.details?.[0]?.path, '')
    })

  it('may say by `in` of a place what its type is', () => {
    const injections = [
      { in: 'body', pointer: '/auth/key' },
      { in: 'websocket', pointer: '/d/token', frames: 3 },
    ]
    assert.deepEqual(parseDefinition(definitionJson({ injections })).injections, [
      { type: 'body', pointer: '/auth/key' },
      { type: 'websocket', pointer: '/d/token', frames: 3 },
    ])
  })

  for (const [what, entry] of [
    ['without a pointer and a field', { type: 'body' }],
    ['with both', { type: 'body', pointer: '/a', field: 'a' }],
    ['with the whole document', { type: 'body', pointer: '' }],
    ['in no message', { type: 'websocket', pointer: '/a', frames: 0 }],
  ] as const) {
    it(`has no place in what is sent ${what}`, () => {
      assert.throws(() => parseDefinition(definitionJson({ injections: [entry] })), BrokerError)
    })
  }

  it('cannot reach the prototype of objects', () => {
    const hostile: unknown = JSON.parse(JSON.stringify(definitionJson()).replace('{', '{"__proto__":{"polluted":1},'))
    assert.match(refusal(hostile).message, /__proto__ is not a known field/)
    assert.equal('polluted' in {}, false)
  })

  it('is refused with all that is wrong and nothing that was in it', () => {
    const error = refusal(definitionJson({ name: 'CNRY/name', hosts: ['*.com'], api_key: { prefix: 'CNRY\r\n' } }))
    assert.deepEqual(
      error.options.details?.map(({ path }) => path),
      ['name', 'api_key.prefix'],
    )
    assert.doesNotMatch(JSON.stringify([error.message, error.options]), /CNRY/)
  })

  it('is refused with paths that begin where it stands in the request', () => {
    assert.throws(() => parseDefinition(definitionJson({ hosts: ['*'] }), 'definition'), /definition\.hosts\.0 must/)
  })

  it('says how a host is written that was written in another way', () => {
    const said = (host: string) => refusal(definitionJson({ hosts: [host] })).options.details?.[0]?.message
    const cases = [
      ['https://api.prov.test/v1', 'must be a host, not a URL: write "api.prov.test/v1/*"'],
      ['https://api.prov.test', 'must be a host, not a URL: write "api.prov.test"'],
      [
        'https://ada:CNRY@api.prov.test:8443/a/?key=CNRY#x',
        'must be a host, not a URL: write "api.prov.test:8443/a/*"',
      ],
      ['https://api.prov.test:443/', 'must be a host, not a URL: write "api.prov.test"'],
      ['API.Prov.test', 'must be a host in lower case, without a "." or "/" at its end: write "api.prov.test"'],
      ['api.prov.test.', 'must be a host in lower case, without a "." or "/" at its end: write "api.prov.test"'],
      ['api.prov.test/', 'must be a host in lower case, without a "." or "/" at its end: write "api.prov.test"'],
      ['api.prov.test/v1', 'must be a host, or one with a path that ends in "/*": write "api.prov.test/v1/*"'],
    ] as const
    for (const [host, message] of cases) assert.equal(said(host), message)
    for (const host of ['ftp://api.prov.test', 'https://', 'https://*.com/', 'https://1.2.3.4/x']) {
      assert.doesNotMatch(said(host) ?? '', /write/)
    }
  })

  it('says of a wrong shape what it must be, in plain words', () => {
    const wrong = {
      schema_version: 2,
      auth_type: 'apikey',
      hosts: 'api.prov.test',
      display_name: undefined,
      api_key: 'x',
    }
    const said = refusal(definitionJson(wrong)).options.details?.map(({ path, message }) => `${path} ${message}`)

    assert.deepEqual(said, [
      'schema_version must be 1',
      'display_name is required',
      'auth_type must be "oauth2" or "api_key"',
      'hosts must be a list',
      'api_key must be an object',
    ])
  })

  it('says of a wrong shape all that is wrong, too', () => {
    const { colour: _, ...wrong } = definitionJson({ hosts: ['*.com'], colour: 'red', display_name: undefined })
    const outcome = tryDefinition({ ...wrong, color: 'red', docs_url: 'http://prov.test', env: { PATH: 'credential' } })

    assert.ok('details' in outcome)
    assert.deepEqual(outcome.details.map(({ path }) => path).toSorted(), [
      'color',
      'display_name',
      'docs_url',
      'env.PATH',
      'hosts.0',
    ])
  })
})
