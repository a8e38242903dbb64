import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { scopeOfHost } from './aws-scope.ts'
import { authorization, sigV4Headers } from './sigv4.ts'

const KEY = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'),
}
const SCOPE = { region: 'us-east-1', service: 'service' }
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The test suite that AWS published for its signature, version 4. */
const PUBLISHED: readonly (readonly [name: string, method: string, target: string, signature: string])[] = [
  ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-unreserved',
    'GET',
    '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  ['get-utf8', 'GET', '/\u00e1\u0088\u00b4', '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
  ['get-relative', 'GET', '/example/..', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['get-slashes', 'GET', '//example//', '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84'],
  ['get-space', 'GET', '/example space/', '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741'],
  ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
]

function parts(target: string) {
  const [path = '', query = ''] = target.split('?')
  return { path, query }
}

describe('a signature', () => {
  for (const [name, method, target, signature] of PUBLISHED)
    it(`is the published one: ${name}`, () => {
      const headers = [
        { name: 'Host', value: 'example.amazonaws.com' },
        { name: 'X-Amz-Date', value: '20150830T123600Z' },
      ]
      assert.equal(
        authorization({ method, ...parts(target), headers, payload: EMPTY, scope: SCOPE }, KEY, '20150830T123600Z'),
        `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
      )
    })

  it('is the published one with values to be trimmed', () => {
    const headers = [
      { name: 'Host', value: 'example.amazonaws.com' },
      { name: 'My-Header1', value: ' value1' },
      { name: 'My-Header2', value: ' "a   b   c"' },
      { name: 'X-Amz-Date', value: '20150830T123600Z' },
    ]
    assert.match(
      authorization({ method: 'GET', ...parts('/'), headers, payload: EMPTY, scope: SCOPE }, KEY, '20150830T123600Z'),
      /SignedHeaders=host;my-header1;my-header2;x-amz-date, Signature=acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736$/,
    )
  })

  it('covers every byte of a value but the blanks around it: a letter may end like a no-break space', () => {
    const signed = (value: string) => {
      const headers = [{ name: 'x-amz-meta-name', value }]
      const request = { method: 'PUT', ...parts('/'), headers, payload: EMPTY, scope: SCOPE }
      return authorization(request, KEY, '20150830T123600Z')
    }
    const name = Buffer.from('voilà').toString('latin1')
    assert.equal(signed(` \t${name} `), signed(name))
    assert.notEqual(signed(name), signed(name.slice(0, -1)))
  })

  it('is made with headers of its own in the place of those of the request, and shows no key', () => {
    const request = {
      method: 'GET',
      host: 'sts.amazonaws.com',
      ...parts('/'),
      headers: [
        { name: 'host', value: 'other' },
        { name: 'x-amz-security-token', value: 'other' },
        { name: 'X-AMZ-DATE', value: 'other' },
      ],
      payload: EMPTY,
      scope: SCOPE,
    }
    const at = Date.parse('2026-11-21T09:30:00Z')
    const { Authorization, ...others } = sigV4Headers(request, { ...KEY, sessionToken: new Secret('CNRYtoken') }, at)
    assert.deepEqual(others, {
      'X-Amz-Date': '20261121T093000Z',
      'X-Amz-Content-Sha256': EMPTY,
      'X-Amz-Security-Token': 'CNRYtoken',
    })
    assert.match(Authorization ?? '', /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, /)
    assert.equal('X-Amz-Security-Token' in sigV4Headers(request, KEY, at), false)
  })
})

describe('region and service of a host', () => {
  for (const [host, scope] of [
    ['dynamodb.eu-west-1.amazonaws.com', 'eu-west-1 dynamodb'],
    ['streams.dynamodb.eu-west-1.amazonaws.com', 'eu-west-1 dynamodb'],
    ['sts.amazonaws.com', 'us-east-1 sts'],
    ['iam.amazonaws.com', 'us-east-1 iam'],
    ['s3.amazonaws.com', 'us-east-1 s3'],
    ['bucket.s3.amazonaws.com', 'us-east-1 s3'],
    ['my.bucket.s3.ap-southeast-2.amazonaws.com', 'ap-southeast-2 s3'],
    ['bucket.s3.dualstack.us-gov-west-1.amazonaws.com', 'us-gov-west-1 s3'],
    ['bucket.s3-accelerate.amazonaws.com', 'us-east-1 s3'],
    ['email.us-east-1.amazonaws.com', 'us-east-1 ses'],
    ['api.ecr.us-east-1.amazonaws.com', 'us-east-1 ecr'],
    ['runtime.sagemaker.us-east-1.amazonaws.com', 'us-east-1 sagemaker'],
    ['bedrock-runtime.us-west-2.amazonaws.com', 'us-west-2 bedrock'],
    ['sts-fips.us-east-1.amazonaws.com', 'us-east-1 sts'],
    ['bedrock-mantle.us-east-1.api.aws', 'us-east-1 bedrock-mantle'],
    ['storage.example.com', undefined],
    ['us-east-1.amazonaws.com', undefined],
  ] as const)
    it(`of ${host} are ${scope ?? 'unknown'}`, () => {
      const found = scopeOfHost(host)
      assert.equal(found && `${found.region} ${found.service}`, scope)
    })
})
