import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ScriptedAnswer } from '../../../test/scripted-oauth-server.ts'
import {
  ACCESS_TOKEN,
  assertFails,
  exchangedAt,
  flowsFor,
  partyOf,
  REFRESH_TOKEN,
  TOKENS,
  testFlows,
  tokenServer,
} from './flows.fixture.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const FORM = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
const JSON_TYPE = { 'content-type': 'application/json' }

const TAKEN: readonly (readonly [string, ScriptedAnswer])[] = [
  ['JSON', { body: TOKENS }],
  [
    'JSON by another name',
    { headers: { 'content-type': 'application/vnd.acme+json; charset=utf-8' }, body: JSON.stringify(TOKENS) },
  ],
  [
    'a form',
    {
      headers: FORM,
      body: `access_token=${ACCESS_TOKEN}&token_type=bearer&expires_in=3600&refresh_token=${REFRESH_TOKEN}`,
    },
  ],
  ['no token type', { body: { ...TOKENS, token_type: undefined } }],
  ['an empty token type', { body: { ...TOKENS, token_type: '' } }],
  ['a number as text', { body: { ...TOKENS, expires_in: '3600' } }],
  ['empty members', { body: { ...TOKENS, scope: null, id_token: '', error: null, error_description: '' } }],
  ['status 201', { status: 201, body: TOKENS }],
  ['an ID token that nobody asked for', { body: { ...TOKENS, id_token: 'nonsense' } }],
  ['JSON without a type', { body: JSON.stringify(TOKENS) }],
  ['JSON called plain text', { headers: { 'content-type': 'text/plain' }, body: JSON.stringify(TOKENS) }],
]

const REFUSED: readonly (readonly [string, ScriptedAnswer, RegExp])[] = [
  ['HTML with status 200', { headers: { 'content-type': 'text/html' }, body: '<html>CNRY</html>' }, /not JSON/],
  ['JSON called HTML', { headers: { 'content-type': 'text/html' }, body: JSON.stringify(TOKENS) }, /not JSON/],
  ['plain text', { headers: { 'content-type': 'text/plain' }, body: 'access_token=CNRY' }, /not JSON/],
  ['no answer', { status: 204 }, /not JSON/],
  ['broken JSON', { headers: JSON_TYPE, body: '{"access_token":"CNRY' }, /cannot be read/],
  [
    'a member twice',
    { headers: JSON_TYPE, body: '{"access_token":"at-CNRY1","access_token":"at-CNRY2"}' },
    /cannot be read/,
  ],
  [
    'JSON 10,000 deep',
    { headers: JSON_TYPE, body: `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}` },
    /cannot be read/,
  ],
  ['JSON that is a list', { headers: JSON_TYPE, body: '["CNRY"]' }, /no object/],
  ['a form with a field twice', { headers: FORM, body: 'access_token=CNRY1&access_token=CNRY2' }, /twice/],
  [
    'an error with status 200',
    { body: { error: 'bad_verification_code', error_description: 'The code is wrong' } },
    /\(bad_verification_code: The code is wrong\)$/,
  ],
  ['an error in a form', { headers: FORM, body: 'error=incorrect_client_credentials' }, /incorrect_client_credentials/],
  ['ok: false', { body: { ok: false, error: 'invalid_code' } }, /invalid_code/],
  ['ok: false and nothing more', { body: { ok: false } }, /unknown_error/],
  [
    'an error that is an object',
    { status: 400, body: { error: { message: 'Expired', type: 'OAuthException', code: 190 } } },
    /\(190: Expired\)/,
  ],
  [
    'an error that has our token',
    { status: 400, body: { error: ACCESS_TOKEN, error_description: `bad ${ACCESS_TOKEN}` } },
    /\(unknown_error: bad \.\.\.\)/,
  ],
  ['a long error', { status: 400, body: { error: 'e'.repeat(100_000) } }, /unknown_error/],
  [
    'invalid_client with a challenge',
    { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: { error: 'invalid_client' } },
    /does not take our client \(invalid_client\)/,
  ],
  ['a type that is not ours', { body: { ...TOKENS, token_type: 'mac' } }, /token_type/],
  ['a type that binds it to a key', { body: { ...TOKENS, token_type: 'DPoP' } }, /no bearer token/],
  ['a type that is no text', { body: { ...TOKENS, token_type: 7 } }, /token_type/],
  ['no access token', { body: { ...TOKENS, access_token: undefined } }, /no access token/],
  ['an empty access token', { body: { ...TOKENS, access_token: '' } }, /no access token/],
  ['an access token that is a number', { body: { ...TOKENS, access_token: 7 } }, /no access token/],
  ['an access token with a line end', { body: { ...TOKENS, access_token: 'at-CNRY\r\nX-Evil: 1' } }, /no access token/],
  ['an access token with a space', { body: { ...TOKENS, access_token: 'at CNRY' } }, /no access token/],
  ['an access token with an emoji', { body: { ...TOKENS, access_token: 'at-CNRY😀' } }, /no access token/],
  [
    'an access token of 17 KiB',
    { body: { ...TOKENS, access_token: `at-CNRY${'x'.repeat(17_000)}` } },
    /no access token/,
  ],
  [
    'a refresh token with a line end',
    { body: { ...TOKENS, refresh_token: 'rt-CNRY\nx' } },
    /refresh token that cannot/,
  ],
]

const UNREACHABLE: readonly (readonly [string, ScriptedAnswer, RegExp])[] = [
  ['a token of a megabyte', { body: { ...TOKENS, access_token: 'CNRY'.repeat(262_144) } }, /answered with too much/],
  [
    'a gzip bomb',
    { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(20_000_000, ' ')) },
    /encoding/,
  ],
  [
    'a slow drip',
    { raw: (response) => void response.writeHead(200, JSON_TYPE).write('{"access_token":"at-CNRY') },
    /in time/,
  ],
  ['trouble of its own', { status: 503, headers: { 'content-type': 'text/html' }, body: '<html>CNRY' }, /status 503/],
  ['trouble in its own words', { status: 500, body: { error: 'server_error' } }, /server_error/],
  ['too many requests', { status: 429, body: { error: 'rate_limited' } }, /rate_limited/],
]

describe('a token answer', () => {
  for (const [what, answer] of TAKEN)
    it(`is understood: ${what}`, async (t) => {
      const server = await tokenServer(t, answer)
      const tokens = await exchangedAt(partyOf(server), testFlows({ now: () => NOW }))
      assert.equal(tokens.accessToken.reveal(), ACCESS_TOKEN)
      assert.equal(tokens.refreshToken?.reveal(), REFRESH_TOKEN)
      assert.equal(tokens.expiresAt, NOW + 3_600_000)
      assert.deepEqual(tokens.scopes, ['a'])
    })

  for (const [what, answer, message] of REFUSED)
    it(`is refused: ${what}`, async (t) => {
      const server = await tokenServer(t, answer)
      await assertFails(exchangedAt(partyOf(server)), 'AuthenticationFailedError', message)
    })

  for (const [what, answer, message] of UNREACHABLE)
    it(`is not waited for, or not now: ${what}`, async (t) => {
      const server = await tokenServer(t, answer)
      const work = exchangedAt(partyOf(server), flowsFor(answer))
      await assertFails(work, 'EndpointUnreachableError', message)
    })
})

describe('the end of a token', () => {
  for (const [said, seconds] of [
    [{ expires_in: 60 }, 60],
    [{ expires_in: '60' }, 60],
    [{ expires_in: 59.9 }, 59],
    [{ expires_in: 0 }, undefined],
    [{ expires_in: -1 }, undefined],
    [{ expires_in: 1e99 }, undefined],
    [{ expires_in: 'x' }, undefined],
    [{ expires_in: 'NaN' }, undefined],
    [{ expires_in: [60] }, undefined],
    [{ expires_in: true }, undefined],
    [{}, undefined],
    [{ expires_at: '2026-11-21T12:01:00Z' }, 60],
    [{ expires_at: '2026-11-21T11:00:00Z' }, undefined],
    [{ expires_at: NOW / 1000 + 60 }, 60],
    [{ expires_at: String(NOW / 1000 + 60) }, 60],
    [{ expires_at: NOW + 60_000 }, 60],
    [{ expires_at: 'tomorrow' }, undefined],
    [{ expires: 60 }, 60],
    [{ expires: '86400' }, 86_400],
    [{ expires: NOW / 1000 + 60 }, 60],
    [{ expires_in: 60, expires_at: NOW / 1000 + 90 }, 60],
  ] as const)
    it(`of ${JSON.stringify(said)} is ${seconds === undefined ? 'not known' : `in ${seconds} s`}`, async (t) => {
      const server = await tokenServer(t, { body: { ...TOKENS, expires_in: undefined, ...said } })
      const { expiresAt } = await exchangedAt(partyOf(server), testFlows({ now: () => NOW }))
      assert.equal(expiresAt, seconds === undefined ? undefined : NOW + seconds * 1000)
    })
})

describe('the scopes of a token', () => {
  for (const [scope, scopes] of [
    ['repo gist', ['repo', 'gist']],
    ['repo,gist', ['repo', 'gist']],
    [
      ['repo', 'gist'],
      ['repo', 'gist'],
    ],
    ['a b and more than was asked for', ['a', 'b', 'and', 'more', 'than', 'was', 'asked', 'for']],
    ['', ['asked']],
    [undefined, ['asked']],
    [{ a: 'b' }, ['asked']],
    [[], ['asked']],
    [['ok', 7, 'has space', '\n', 'x'.repeat(201)], ['ok']],
  ] as const)
    it(`of ${JSON.stringify(scope)} are ${scopes.join(', ')}`, async (t) => {
      const server = await tokenServer(t, { body: { ...TOKENS, scope } })
      assert.deepEqual((await exchangedAt(partyOf(server), testFlows(), ['asked'])).scopes, scopes)
    })
})
